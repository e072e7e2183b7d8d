"""The worked edge cases of the authoring contract, as a table; numbers are the contract's own.

Where Beaker is stricter than the contract the entry says so.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import beaker
from beaker import (
    Case,
    CaseFile,
    CaseResult,
    CaseScore,
    Check,
    DocumentChangeSet,
    DocumentRunSetupResult,
    FieldDiff,
    Integration,
    PinnedDatasetInfo,
    RolloutRuntime,
    RunSetup,
    TargetDocument,
    documents,
    load_integration,
    repository,
)
from beaker.sdk.trace import NOOP_TRACE

H = "ab" * 32


@dataclass
class Row:
    id: str


class Setup(RunSetup[Row]):
    row_model = Row

    async def load_cases(self, row: Row, *, runtime: Any) -> AsyncIterator[Case]:
        yield Case(row.id, None)


class SetupWithoutModel(RunSetup[Row]):
    row_model: type[Row]

    async def load_cases(self, row: Row, *, runtime: Any) -> AsyncIterator[Case]:
        yield Case(row.id, None)


class SetupOfNothing(SetupWithoutModel):
    row_model = None  # type: ignore[assignment]  # the point of the case


class SetupOfInt(SetupWithoutModel):
    row_model = int  # type: ignore[assignment]  # the point of the case


class SetupReturningList(RunSetup[Row]):
    row_model = Row

    async def load_cases(self, row: Row, *, runtime: Any) -> Any:
        return []


async def run_case(*, case_input: Any, runtime: Any) -> CaseResult:
    return CaseResult(case_input)


def run_case_returning_coroutine(*, case_input: Any, runtime: Any) -> Any:
    return run_case(case_input=case_input, runtime=runtime)


async def run_case_by_position(case_input: Any, runtime: Any) -> CaseResult:
    return CaseResult(case_input)


async def run_case_by_position_only(case_input: Any, runtime: Any, /) -> CaseResult:
    return CaseResult(case_input)


async def score_case(*, case: Case, result: CaseResult, case_files_dir: Path) -> CaseScore:
    return CaseScore(1.0, {})


async def open_candidate(*, targets_dir: Path | None, scratch_dir: Path) -> None:
    return None


def integration(**changes: Any) -> Integration:
    declared: dict[str, Any] = {
        "targets": repository(),
        "run_setup": Setup,
        "run_case": run_case,
        "score_case": score_case,
    }
    return Integration(**(declared | changes))


def document(**changes: Any) -> TargetDocument:
    return TargetDocument(**({"source_id": "s", "group": "kb", "name": "a.md", "content": ""} | changes))


def rollout(cls: Any) -> Any:
    return cls(case_files_dir=Path("x"), trace=NOOP_TRACE, candidate=3)


ACCEPTED: list[tuple[int, Callable[[], Any], Any]] = [
    (1, lambda: repository().paths, None),
    (4, lambda: repository((" src ",)).paths, ("src",)),
    (5, lambda: repository(("a\\b",)).paths, ("a/b",)),
    (7, lambda: repository(("src", "SRC")).paths, ("src", "SRC")),
    (12, lambda: documents(groups=("kb\n",)).groups, ("kb",)),
    (14, lambda: integration(targets=[repository()]).targets, (repository(),)),
    (26, lambda: integration(run_case=run_case_by_position).run_case, run_case_by_position),
    (30, lambda: Case(id=" c1 ", input=None).id, "c1"),
    (35, lambda: Case("c", 1) == Case("c", True), True),
    (36, lambda: Case(id="c", input=1, metadata=[("k", 1)]).metadata, {"k": 1}),
    (38, lambda: CaseFile("a", "x", "A" * 64).expected_sha256, "a" * 64),
    (42, lambda: CaseResult({"x": 1}, output_kind="none").output_kind, "none"),
    (49, lambda: repr(Check("c", 1).verdict), "1.0"),
    (51, lambda: FieldDiff("f", 1, 1).field, "f"),
    (56, lambda: DocumentChangeSet("r", H.upper(), H, []).seed_hash, H),  # type: ignore[arg-type]  # any iterable
    (60, lambda: rollout(RolloutRuntime).candidate, 3),
    # Subscripted, the contract's own class fails on one Python version; ours is the same on all.
    (60, lambda: rollout(RolloutRuntime[int]).candidate, 3),
]

REFUSED: list[tuple[int, Callable[[], Any], type[Exception]]] = [
    (2, lambda: repository("src"), TypeError),
    (3, lambda: repository(()), ValueError),
    (6, lambda: repository(("src/",)), ValueError),
    (6, lambda: repository(("./src",)), ValueError),
    (6, lambda: repository(("a//b",)), ValueError),
    (6, lambda: repository((".",)), ValueError),
    (8, lambda: repository(("C:x",)), ValueError),
    (9, lambda: repository((Path("src"),)), ValueError),  # type: ignore[arg-type]  # the point of the case
    (9, lambda: repository((1,)), ValueError),  # type: ignore[arg-type]  # the point of the case
    (10, lambda: documents(groups="kb"), TypeError),
    (11, lambda: documents(groups=("kb", "KB")), ValueError),
    (13, lambda: documents(groups=("_x",)), ValueError),
    (13, lambda: documents(groups=("é",)), ValueError),
    (13, lambda: documents(groups=("a b",)), ValueError),
    (15, lambda: integration(targets={repository()}), TypeError),
    (16, lambda: integration(targets=[repository(), repository()]), ValueError),
    (17, lambda: documents(("kb",)), TypeError),  # type: ignore[misc]  # the point of the case
    (18, lambda: integration(targets=[documents(groups=("kb",)), documents(groups=("KB",))]), ValueError),
    (19, lambda: integration(targets=documents(groups=("kb",))), TypeError),
    (20, lambda: integration(run_setup=Setup()), TypeError),
    (21, lambda: integration(run_setup=RunSetup[Row]), TypeError),
    (22, lambda: integration(run_setup=SetupOfNothing), TypeError),
    (22, lambda: integration(run_setup=SetupWithoutModel), TypeError),
    # Stricter: a model that no row matches, and a load_cases that yields nothing, are refused at import.
    (23, lambda: integration(run_setup=SetupOfInt), TypeError),
    (24, lambda: integration(run_setup=SetupReturningList), TypeError),
    (25, lambda: integration(run_case=run_case_returning_coroutine), TypeError),
    (27, lambda: integration(run_case=run_case_by_position_only), TypeError),
    (28, lambda: integration(open_candidate=open_candidate), TypeError),
    (29, lambda: integration(open_candidate=0), TypeError),
    (31, lambda: Case(id=7, input=1), ValueError),  # type: ignore[arg-type]  # the point of the case
    (32, lambda: Case(id="c", input=(1, 2)), TypeError),
    (33, lambda: Case(id="c", input={1: 2}), TypeError),
    (34, lambda: Case(id="c", input=[float("nan")]), ValueError),
    (37, lambda: Case(id="c", input=1, files=None), TypeError),  # type: ignore[arg-type]  # the point of the case
    (39, lambda: CaseFile("a", "x", None, True), ValueError),
    (40, lambda: CaseFile("../a", "x"), ValueError),
    (41, lambda: CaseResult("x", "Record"), ValueError),  # type: ignore[arg-type]  # the point of the case
    (43, lambda: CaseResult(1, context=None), TypeError),  # type: ignore[arg-type]  # the point of the case
    (43, lambda: CaseResult(1, context=[("k", 1)]), TypeError),  # type: ignore[arg-type]  # the point of the case
    (44, lambda: CaseScore(True, {}), TypeError),
    (45, lambda: CaseScore(1.0000001, {}), ValueError),
    (46, lambda: CaseScore(0.5, {" a ": 1, "a": 0}), ValueError),
    (47, lambda: CaseScore(0.5, None), AttributeError),  # type: ignore[arg-type]  # the point of the case
    (48, lambda: Check("c", "PASS"), TypeError),  # type: ignore[arg-type]  # the point of the case
    (48, lambda: Check("c", True), TypeError),
    (50, lambda: Check(5, "pass"), TypeError),  # type: ignore[arg-type]  # the point of the case
    (50, lambda: Check(" ", "pass"), ValueError),
    (52, lambda: document(name="a:b.md"), ValueError),
    (53, lambda: document(version=3), ValueError),
    (54, lambda: document(editable=1), TypeError),
    (55, lambda: DocumentRunSetupResult(target_documents=()), ValueError),
    (57, lambda: PinnedDatasetInfo("d", "r", {"train": True}), ValueError),
    (58, lambda: load_integration("m:a.b"), ValueError),
    (58, lambda: load_integration("m"), ValueError),
    (58, lambda: load_integration("m:a:b"), ValueError),
    (59, lambda: load_integration("beaker:Integration"), TypeError),
]


@pytest.mark.parametrize("number,make,expected", ACCEPTED, ids=[str(number) for number, *_ in ACCEPTED])
def test_edge_case__accepted(number: int, make: Callable[[], Any], expected: Any) -> None:
    """What the contract accepts is stored as it says."""
    assert make() == expected


@pytest.mark.parametrize("number,make,error", REFUSED, ids=[str(number) for number, *_ in REFUSED])
def test_edge_case__refused(number: int, make: Callable[[], Any], error: type[Exception]) -> None:
    """What the contract refuses is refused with its class of error."""
    with pytest.raises(error) as caught:
        make()
    assert isinstance(caught.value, error)
    assert str(caught.value)


def test_edge_cases__every_number_is_here() -> None:
    """No worked case of the contract is left out."""
    assert {number for number, *_ in [*ACCEPTED, *REFUSED]} == set(range(1, 61))
    assert beaker.__version__
