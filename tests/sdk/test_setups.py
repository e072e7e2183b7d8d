"""The setup class, what its `prepare_run` yields, and the values around it."""

import ast
import asyncio
import copy
import dataclasses
import pickle
import re
from collections.abc import AsyncIterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from beaker import (
    Case,
    DocumentRunSetupResult,
    PinnedDatasetInfo,
    RepositoryRunSetupResult,
    RolloutRuntime,
    RunSetup,
    SetupRuntime,
    TargetDocument,
    documents,
    repository,
)
from beaker.sdk.setups import check_setup_results
from beaker.sdk.trace import NOOP_TRACE

DATASET = PinnedDatasetInfo("d", "r1", {"train": 2, "test": 1})
REPOSITORY = RepositoryRunSetupResult(metadata={"k": 1})
SEED = TargetDocument(source_id="s", group="kb", name="a.md", content="x")
DOCUMENTS = DocumentRunSetupResult(target_documents=[SEED])


class Setup(RunSetup[dict[str, Any]]):
    row_model = dict

    async def load_cases(self, row: dict[str, Any], *, runtime: SetupRuntime) -> AsyncIterator[Case]:
        yield Case(row["id"], None)


def runtime(**changes: Any) -> SetupRuntime:
    return SetupRuntime(**({"run_id": "r", "config": {}, "dataset": DATASET, "_case_files_provider": Path} | changes))


def test_prepare_run__default__yields_a_repository_result() -> None:
    """Without an override, entering gives exactly a plain repository result."""

    async def entered() -> Any:
        async with Setup().prepare_run(runtime=runtime()) as results:
            return results

    assert asyncio.run(entered()) == {"repository": RepositoryRunSetupResult()}


def test_check_results__declared_kinds__gives_both_results() -> None:
    """Each declared kind is answered; a kind that is not declared is `None`; any mapping will do."""
    both = [repository(), documents(groups=("kb",))]
    assert check_setup_results({"repository": REPOSITORY, "documents": DOCUMENTS}, both) == (REPOSITORY, DOCUMENTS)
    assert check_setup_results(MappingProxyType({"repository": REPOSITORY}), both[:1]) == (REPOSITORY, None)
    assert check_setup_results({"documents": DOCUMENTS}, both[1:]) == (None, DOCUMENTS)


class Subclass(RepositoryRunSetupResult):
    pass


@pytest.mark.parametrize(
    "results,words",
    [
        (None, "not NoneType"),
        (REPOSITORY, "not RepositoryRunSetupResult"),
        ({}, "no key"),
        ({"documents": DOCUMENTS}, "yielded 'documents'"),
        ({"repository": REPOSITORY, "documents": DOCUMENTS}, "'documents', 'repository'"),
        ({"repository": Subclass()}, "not Subclass"),
        ({"repository": DOCUMENTS}, "not DocumentRunSetupResult"),
    ],
)
def test_check_results__other_keys_or_types__are_refused(results: Any, words: str) -> None:
    """The error names what is expected and what was yielded."""
    with pytest.raises(TypeError, match=r"'repository'.*") as caught:
        check_setup_results(results, [repository()])
    assert words in str(caught.value)


def test_check_results__both_kinds_expected__are_told_as_a_dict_that_can_be_written() -> None:
    """What the message shows is the Python that would have been right."""
    with pytest.raises(TypeError) as caught:
        check_setup_results({}, [repository(), documents(groups=("kb",))])
    shown = re.search(r"\{.*\}", str(caught.value))
    assert shown is not None
    made = ast.parse(shown[0], mode="eval").body
    assert isinstance(made, ast.Dict)
    assert [ast.unparse(key) for key in made.keys if key is not None] == ["'repository'", "'documents'"]


def test_check_results__seed_in_undeclared_group__is_refused() -> None:
    """Groups are compared in their exact case."""
    with pytest.raises(ValueError, match="group 'kb', which no target declares"):
        check_setup_results({"documents": DOCUMENTS}, [documents(groups=("KB",))])


def test_results__need_documents_of_the_right_type() -> None:
    """A documents result has at least one document, and nothing else; metadata is read-only JSON."""
    assert DOCUMENTS.target_documents == (SEED,)
    with pytest.raises(TypeError, match=r"target_documents\[0\] must be a TargetDocument"):
        DocumentRunSetupResult(target_documents=["x"])  # type: ignore[list-item]  # the point of the test
    with pytest.raises(TypeError):
        DocumentRunSetupResult(target_documents=SEED)  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(TypeError):
        RepositoryRunSetupResult({})  # type: ignore[call-arg]  # keyword-only
    with pytest.raises(TypeError):
        REPOSITORY.metadata["k"] = 2  # type: ignore[index]  # the point of the test


def test_dataset_info__rules() -> None:
    """Split names are trimmed and unique, counts whole numbers; the counts are read-only."""
    info = PinnedDatasetInfo(" d ", "r", {" train ": 0, "TRAIN": 3})
    assert (info.name, dict(info.split_row_counts)) == ("d", {"train": 0, "TRAIN": 3})
    for counts, error in (
        ({"a": -1}, ValueError),
        ({"a": 1.0}, ValueError),
        ({" ": 1}, ValueError),
        ({"a": 1, " a": 1}, ValueError),
        ({1: 1}, TypeError),
        (None, AttributeError),
    ):
        with pytest.raises(error):
            PinnedDatasetInfo("d", "r", counts)  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(TypeError):
        info.split_row_counts["x"] = 1  # type: ignore[index]  # the point of the test


def test_setup_runtime__provider__is_asked_with_the_trimmed_id() -> None:
    """The provider is required, hidden from the repr, ignored by equality, and asked by `case_files_dir`."""
    made = runtime(config={"limit": 3})
    assert made == SetupRuntime("r", {"limit": 3}, DATASET, lambda case_id: Path("other"))
    assert "provider" not in repr(made)
    assert made.case_files_dir(" c1 ") == Path("c1")
    with pytest.raises(ValueError, match="case_id"):
        made.case_files_dir("")
    with pytest.raises(TypeError):
        SetupRuntime("r", {}, DATASET)  # type: ignore[call-arg]  # the point of the test
    assert dataclasses.replace(made, run_id="q").run_id == "q"
    for unhashable in (made, DATASET, REPOSITORY, DOCUMENTS):
        with pytest.raises(TypeError):
            hash(unhashable)


def test_rollout_runtime__is_a_plain_keyword_value() -> None:
    """Nothing is converted; subscripted or not it is the same class, and it can be hashed and copied."""
    made = RolloutRuntime(case_files_dir=Path("f"), trace=NOOP_TRACE)
    assert made == RolloutRuntime[int](case_files_dir=Path("f"), trace=NOOP_TRACE)
    assert (made.model, made.targets_dir, made.candidate, made.case_id, made.attempt, made.deadline) == (
        None,
        None,
        None,
        None,
        1,
        None,
    )
    assert hash(made) == hash(copy.copy(made))
    assert pickle.loads(pickle.dumps(DOCUMENTS)) == DOCUMENTS
    with pytest.raises(TypeError):
        RolloutRuntime(Path("f"), NOOP_TRACE)  # type: ignore[misc]  # keyword-only
