"""The values of cases, results, scores and documents."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, assert_never, assert_type

import beaker
from beaker import (
    BeakerClientError,
    Case,
    CaseFile,
    CaseResult,
    CaseScore,
    Check,
    CreateDocumentChange,
    DeleteDocumentChange,
    DocumentChange,
    DocumentChangeSet,
    FieldDiff,
    JsonValue,
    OutputKind,
    PinnedDatasetInfo,
    RepositoryTargets,
    TargetDocument,
    UpdateDocumentChange,
    extract_field_from_object,
    objective_score,
    repository,
)

case = Case("c1", {"a": [1, None]}, expected="yes", files=(CaseFile(name="a", path="a.txt"),), metadata={"k": 1})
assert_type(case.id, str)
assert_type(case.files, tuple[CaseFile, ...])
assert_type(case.metadata, Mapping[str, Any])
assert_type(case.files[0].path, Path)
assert_type(case.files[0].expected_sha256, str | None)

result = CaseResult({"a": 1}, context={"log": "text"})
assert_type(result.output_kind, OutputKind | None)

score = CaseScore(
    objective_score({"a": 1.0}, {"a": 2}),
    {"a": 1},
    field_diffs=[FieldDiff("a", 1, 2)],
    checks=[Check("right", "pass"), Check("near", 0.5, informational=True, message="close")],
)
assert_type(score.objective, float)
assert_type(score.checks, tuple[Check, ...])
assert_type(repository("all"), RepositoryTargets)
assert_type(extract_field_from_object({"a": 1}, "a"), Any)
assert_type(beaker.__version__, str)

change_set = DocumentChangeSet("run", "0" * 64, "0" * 64, [CreateDocumentChange(group="g", name="n", content="")])


def applied(change: DocumentChange) -> str:
    match change:
        case CreateDocumentChange() | UpdateDocumentChange():
            return change.content
        case DeleteDocumentChange():
            return change.base_sha256
        case _:
            assert_never(change)


def json_values(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict):
        return [*value.values()]
    return value if isinstance(value, list) else [value]


try:
    pass
except BeakerClientError as error:
    assert_type(str(error), str)


def faulty() -> None:
    Case(1, None)  # E arg-type | reportArgumentType
    Case("c", None, files=CaseFile("a", "b"))  # E arg-type | reportArgumentType
    Case("c", None, expects=1)  # E call-arg | reportCallIssue
    CaseScore("high", {})  # E arg-type | reportArgumentType
    CaseScore(1.0, {"a": "high"})  # E dict-item | reportArgumentType
    CaseScore(1.0, {}, checks=["pass"])  # E list-item | reportArgumentType
    FieldDiff("a", 1)  # E call-arg | reportCallIssue
    TargetDocument("id", "g", "n", "")  # E call-arg | reportCallIssue
    PinnedDatasetInfo("d", "r", {"train": "many"})  # E dict-item |
    json_values({1, 2})  # E arg-type | reportArgumentType
    case.id = "other"  # E misc | reportAttributeAccessIssue
    from beaker import Cases  # E attr-defined | reportAttributeAccessIssue

    print(Cases)
