"""Every value of the contract behaves as one: frozen, compared and copied by its fields, hashed where it can be."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import beaker
from beaker import (
    Case,
    CaseFile,
    CaseResult,
    CaseScore,
    Check,
    CreateDocumentChange,
    DatasetSchema,
    DeleteDocumentChange,
    DocumentChangeSet,
    DocumentRunSetupResult,
    DocumentTargets,
    FieldDiff,
    InferenceTarget,
    Integration,
    PinnedDatasetInfo,
    RepositoryRunSetupResult,
    RepositoryTargets,
    RolloutRuntime,
    RunSetup,
    SetupRuntime,
    TargetDocument,
    UpdateDocumentChange,
)
from beaker.sdk.trace import NOOP_TRACE

H = "ab" * 32


class Setup(RunSetup[dict[str, Any]]):
    row_model = dict

    async def load_cases(self, row: dict[str, Any], *, runtime: SetupRuntime) -> AsyncIterator[Case]:
        yield Case(row["id"], None)


async def run_case(*, case_input: Any, runtime: Any) -> CaseResult:
    return CaseResult(case_input)


async def score_case(*, case: Case, result: CaseResult, case_files_dir: Path) -> CaseScore:
    return CaseScore(1.0, {})


texts = st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda text: bool(text.strip()))
spaced = st.builds("{}{}{}".format, st.sampled_from(["", " ", "\n\t"]), texts, st.sampled_from(["", " "]))
names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,5}", fullmatch=True)
parts = st.text("abcÄ .~*", min_size=1, max_size=4).filter(lambda part: part.strip() == part and part.strip(". ") != "")
paths = st.lists(parts, min_size=1, max_size=3).map("/".join)
hashes = st.text("0123456789abcdefABCDEF", min_size=64, max_size=64)
contents = st.text(st.characters(codec="utf-8"))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | contents,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(contents, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(contents, json_values, max_size=2)
documents = st.builds(
    TargetDocument, source_id=spaced, group=names, name=paths, content=contents, version=st.none() | spaced,
    editable=st.booleans(),
)  # fmt: skip
creates = st.builds(CreateDocumentChange, group=names, name=paths, content=contents)
updates = st.builds(
    UpdateDocumentChange, source_id=spaced, group=names, name=paths, content=contents, base_sha256=hashes,
    base_version=st.none() | spaced,
)  # fmt: skip
deletes = st.builds(DeleteDocumentChange, source_id=spaced, group=names, name=paths, base_sha256=hashes)
dataset_infos = st.builds(
    PinnedDatasetInfo,
    spaced,
    spaced,
    st.dictionaries(st.sampled_from(["train", " test ", "TRAIN"]), st.integers(0, 10**9)),
    objects,
)
STRATEGIES: dict[type[Any], st.SearchStrategy[Any]] = {
    Case: st.builds(Case, id=spaced, input=json_values, expected=json_values, metadata=objects),
    CaseFile: st.builds(CaseFile, paths, st.sampled_from(["", "a", Path("b/c")]), st.none() | hashes),
    CaseResult: st.builds(CaseResult, json_values, st.sampled_from([None, "record", "none"]), objects),
    CaseScore: st.builds(CaseScore, st.floats(0, 1) | st.integers(0, 1), st.dictionaries(names, st.floats(0, 1))),
    Check: st.builds(Check, spaced, st.sampled_from(["pass", "fail", 1, 0.5]), json_values, json_values),
    FieldDiff: st.builds(FieldDiff, spaced, json_values, json_values),
    RepositoryTargets: st.builds(RepositoryTargets, st.none() | st.lists(paths, min_size=1, unique=True, max_size=3)),
    DocumentTargets: st.builds(DocumentTargets, st.lists(names, min_size=1, max_size=3, unique_by=str.casefold)),
    TargetDocument: documents,
    CreateDocumentChange: creates,
    UpdateDocumentChange: updates,
    DeleteDocumentChange: deletes,
    DocumentChangeSet: st.builds(
        DocumentChangeSet, spaced, hashes, hashes, st.lists(creates | updates | deletes, max_size=3),
        st.lists(names, max_size=2),
    ),
    RepositoryRunSetupResult: st.builds(RepositoryRunSetupResult, metadata=objects),
    DocumentRunSetupResult: st.builds(
        DocumentRunSetupResult, target_documents=st.lists(documents, min_size=1, max_size=3), metadata=objects
    ),
    PinnedDatasetInfo: dataset_infos,
    SetupRuntime: st.builds(SetupRuntime, spaced, objects, dataset_infos, st.just(Path)),
    RolloutRuntime: st.builds(
        RolloutRuntime, case_files_dir=st.just(Path("x")), trace=st.just(NOOP_TRACE), model=st.none() | texts
    ),
    DatasetSchema: st.builds(DatasetSchema, objects | contents, contents, contents),
    InferenceTarget: st.builds(InferenceTarget, contents, contents, contents),
    Integration: st.just(
        Integration(targets=RepositoryTargets(None), run_setup=Setup, run_case=run_case, score_case=score_case)
    ),
}  # fmt: skip
ALWAYS_UNHASHABLE = {
    Case, CaseResult, CaseScore, PinnedDatasetInfo, SetupRuntime, RepositoryRunSetupResult, DocumentRunSetupResult,
}  # fmt: skip
SOMETIMES_HASHABLE = {DatasetSchema, Check, FieldDiff}

every_value = pytest.mark.parametrize("cls", STRATEGIES, ids=lambda cls: cls.__name__)
some = settings(max_examples=max(10, settings.default.max_examples // 5))
"""A fifth of the profile's examples, since each law is tried for every class."""


def test_table__holds_every_class_of_the_surface() -> None:
    """No value of the contract is left out here."""
    classes = {getattr(beaker, name) for name in beaker.__all__ if inspect.isclass(getattr(beaker, name))}
    apart = {beaker.BeakerClient, beaker.BeakerClientError, beaker.RetryableCaseError, RunSetup}
    protocols = {beaker.RunCase, beaker.ScoreCase, beaker.OpenCandidate}
    assert classes - apart - protocols == set(STRATEGIES)


@every_value
@some
@given(st.data())
def test_value__stored_form__is_kept_when_it_is_given_again(cls: type[Any], data: Any) -> None:
    """Every rule of every field is idempotent, and `replace` checks again."""
    made = data.draw(STRATEGIES[cls])
    fields = {field.alias: getattr(made, field.name) for field in attrs.fields(cls) if field.init}
    assert cls(**fields) == made
    if cls is not SetupRuntime:  # its provider has another name as an argument
        assert dataclasses.replace(made) == made


@every_value
@some
@given(st.data())
def test_value__copies__are_equal(cls: type[Any], data: Any) -> None:
    """Copies and pickles are equal values of the same class, and read-only mappings stay so."""
    made = data.draw(STRATEGIES[cls])
    pickled = [] if cls is InferenceTarget else [pickle.loads(pickle.dumps(made))]
    for same in (copy.copy(made), copy.deepcopy(made), *pickled):
        assert type(same) is cls
        assert same == made
        for field in attrs.fields(cls):
            mapping = getattr(same, field.name)
            if isinstance(getattr(made, field.name), beaker.core.values.ReadOnlyDict):
                with pytest.raises(TypeError, match="read-only"):
                    mapping["x"] = 1


@every_value
@some
@given(st.data())
def test_value__is_frozen_and_unordered(cls: type[Any], data: Any) -> None:
    """No field is assigned or deleted, none added; values are equal or not, never smaller."""
    made = data.draw(STRATEGIES[cls])
    name = attrs.fields(cls)[0].name
    for change in (lambda: setattr(made, name, 1), lambda: delattr(made, name), lambda: setattr(made, "unknown", 1)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    with pytest.raises(TypeError):
        made < made  # noqa: B015  # the point of the test
    with pytest.raises(TypeError, match="unknown"):
        cls(**{field.alias: getattr(made, field.name) for field in attrs.fields(cls) if field.init}, unknown=1)


@every_value
@some
@given(st.data())
def test_value__hash__is_there_unless_a_mapping_or_list_is_inside(cls: type[Any], data: Any) -> None:
    """As the contract lists: some never, some by what they hold, the others always."""
    made = data.draw(STRATEGIES[cls])
    contents = [getattr(made, field.name) for field in attrs.fields(cls)]
    if cls in ALWAYS_UNHASHABLE or (
        cls in SOMETIMES_HASHABLE and any(isinstance(one, list | dict) for one in contents)
    ):
        with pytest.raises(TypeError, match="unhashable"):
            hash(made)
    else:
        assert hash(made) == hash(copy.deepcopy(made))


@pytest.mark.parametrize(
    "cls, fields",
    [
        (Case, "id input expected files metadata"),
        (CaseFile, "name path expected_sha256 expected_size_bytes"),
        (CaseResult, "output output_kind context"),
        (CaseScore, "objective field_scores field_diffs checks"),
        (Check, "name verdict expected predicted message group informational description"),
        (FieldDiff, "field predicted expected"),
        (RepositoryTargets, "paths"),
        (DocumentTargets, "groups"),
        (DocumentChangeSet, "run_id seed_hash candidate_hash changes groups"),
        (PinnedDatasetInfo, "name revision split_row_counts metadata"),
        (SetupRuntime, "run_id config dataset _case_files_provider"),
        (DatasetSchema, "json_schema format schema_version"),
        (InferenceTarget, "base_url api_key model"),
    ],
)
def test_value__positional_arguments__are_the_contracts(cls: type[Any], fields: str) -> None:
    """Order of arguments, which is that of matching by position."""
    assert list(inspect.signature(cls).parameters) == fields.split()
    assert cls.__match_args__ == tuple(fields.split())


@pytest.mark.parametrize(
    "cls",
    [TargetDocument, CreateDocumentChange, UpdateDocumentChange, DeleteDocumentChange, RepositoryRunSetupResult,
     DocumentRunSetupResult, RolloutRuntime, Integration],
)  # fmt: skip
def test_value__keyword_only_ones__take_no_positional_argument(cls: type[Any]) -> None:
    """What the contract makes keyword-only is so."""
    kinds = {parameter.kind for parameter in inspect.signature(cls).parameters.values()}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}


def test_value__matching__by_position_and_keyword() -> None:
    """Values can be taken apart with `match`."""
    match Case("c", {"q": 1}, expected=2):
        case Case(case_id, {"q": asked}, expected=expected):
            assert (case_id, asked, expected) == ("c", 1, 2)
    match CreateDocumentChange(group="g", name="n", content="x"):
        case CreateDocumentChange(op="create", group=group):
            assert group == "g"


def test_value__repr__shows_fields_and_no_secret() -> None:
    """A provider of folders and a key are nobody's business."""
    runtime = SetupRuntime("r", {}, PinnedDatasetInfo("d", "v", {}), Path)
    assert "provider" not in repr(runtime)
    assert runtime == SetupRuntime("r", {}, PinnedDatasetInfo("d", "v", {}), str)  # type: ignore[arg-type]  # any callable
    assert repr(FieldDiff("f", 1, [2])) == "FieldDiff(field='f', predicted=1, expected=[2])"
    assert "sk-1" not in repr(InferenceTarget("http://x", "sk-1", "p:m"))
    with pytest.raises(TypeError) as caught:
        InferenceTarget("http://x", "sk-1")  # type: ignore[call-arg]  # the point of the test
    assert "sk-1" not in str(caught.value)


def test_change__op__is_fixed() -> None:
    """The kind of a change is no argument, and stands last in its dict."""
    change = DeleteDocumentChange(source_id="s", group="g", name="n", base_sha256=H.upper())
    assert list(dataclasses.asdict(change)) == ["source_id", "group", "name", "base_sha256", "base_version", "op"]
    assert (change.op, change.base_sha256) == ("delete", H)
    with pytest.raises(TypeError):
        DeleteDocumentChange(source_id="s", group="g", name="n", base_sha256=H, op="x")  # type: ignore[call-arg]
