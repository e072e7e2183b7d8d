"""Laws of evaluating cases: what is tried again, what is not run any more, and what a lost process costs."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.core.cases import Case, CaseScore
from beaker.core.evaluations import CaseError, Evaluation
from beaker.core.limits import Limits
from beaker.core.problems import Problem
from beaker.engine.evaluator import Evaluator, Places
from beaker.engine.guard import guard
from beaker.engine.in_flight import InFlight
from beaker.engine.memory import ShortMemory
from beaker.runtime.case_views import CaseViews
from beaker.runtime.workers import RolloutResult, WorkerFailed

TREE = "0" * 64
CASES = {f"c{number}": Case(f"c{number}", number) for number in range(8)}

Outcomes = Callable[[str, int], RolloutResult | None]


class Process:
    """What the evaluator asks of a process, told what to answer; `None` from `outcomes` is its end."""

    def __init__(self, lab: "Lab") -> None:
        self.alive = True
        self._lab = lab

    async def run(self, case: Case, *, attempt: int) -> RolloutResult:
        self._lab.runs.append((case.id, attempt))
        self._lab.running.append(case.id)
        await asyncio.sleep(0)  # the others of this process begin
        found = self._lab.outcomes(case.id, attempt) if self.alive else None
        self._lab.running.remove(case.id)
        self.alive = self.alive and found is not None
        return found or RolloutResult(error=CaseError("crashed", "it ended"))

    async def score(self, case: Case, result: RolloutResult, **_: Any) -> CaseScore | CaseError:
        self._lab.scored.append(case.id)
        return self._lab.scores.pop(0) if self._lab.scores else CaseScore(1.0, {})

    async def close(self) -> None:
        self.alive = False

    async def kill(self) -> None:
        self.alive = False


class Lab:
    """An evaluator over processes that do as they are told."""

    def __init__(self, root: Path, outcomes: Outcomes, **places: Any) -> None:
        self.root = root
        self.outcomes = outcomes
        self.places = Places(**{"max_concurrency": 1, "cases_per_process": 1, "case_retry_limit": 2, **places})
        self.runs: list[tuple[str, int]] = []
        self.running: list[str] = []
        self.scored: list[str] = []
        self.scores: list[CaseScore | CaseError] = []
        self.starts: list[Exception] = []
        self.started = 0
        self.retried = 0
        self.memory = ShortMemory({})

    async def _start(self, _: str) -> Any:
        self.started += 1
        if self.starts:
            raise self.starts.pop(0)
        return Process(self)

    def evaluate(self, *case_ids: str, held_out: bool = False) -> dict[str, Evaluation]:
        """The evaluations of these cases, by an evaluator of its own."""

        async def work() -> dict[str, Evaluation]:
            def retry() -> None:
                self.retried += 1

            async def start_scorer(_: str) -> Any:
                return Process(self)

            note = InFlight(self.root / "note")
            evaluator = Evaluator(
                cases=CASES,
                views=CaseViews(self.root),
                journal=self.memory,
                places=self.places,
                in_flight=note,
                start_rollout=self._start,
                start_scorer=start_scorer,
                guard=await guard(self.root / "code"),
                clean=lambda text: text,
                stored=lambda _: None,
                retried=retry,
                remark=lambda _: None,
            )
            try:
                return await evaluator.evaluate(TREE, case_ids, held_out=held_out)
            finally:
                await evaluator.close()
                note.close()

        return asyncio.run(asyncio.wait_for(work(), 60))


@pytest.fixture
def lab(tmp_path: Path) -> Callable[..., Lab]:
    (tmp_path / "code").mkdir()
    return lambda outcomes, **places: Lab(tmp_path, outcomes, **places)


def failing(kind: str, times: int) -> Outcomes:
    """Fails the first attempts of every case, and then answers."""

    def outcome(case_id: str, attempt: int) -> RolloutResult:
        return RolloutResult(error=CaseError(kind, "no")) if attempt <= times else RolloutResult(output=1)

    return outcome


@pytest.mark.parametrize(
    ("kind", "attempts", "error"),
    [("infrastructure", 2, None), ("retryable", 2, None), ("raised", 1, "raised"), ("timed_out", 1, "timed_out")],
)
def test_evaluate__failure__is_tried_again_when_it_may_pass(
    lab: Callable[..., Lab], kind: str, attempts: int, error: str | None
) -> None:
    """A case that asked for it and a process killed from outside; nothing that would fail the same way."""
    one = lab(failing(kind, 1))
    found = one.evaluate("c0")["c0"]
    assert (found.attempts, found.error and found.error.kind) == (attempts, error)
    assert one.runs == [("c0", attempt) for attempt in range(1, attempts + 1)]
    assert one.retried == attempts - 1


def test_evaluate__infrastructure_that_stays__is_told_after_the_last_attempt(lab: Callable[..., Lab]) -> None:
    """As often as is set, no more, and the error says that it was the machine."""
    one = lab(failing("infrastructure", 99), case_retry_limit=1)
    found = one.evaluate("c0")["c0"]
    assert (found.attempts, found.error) == (2, CaseError("infrastructure", "no"))


def test_evaluate__process_that_could_not_start__is_tried_again_when_that_may_pass(lab: Callable[..., Lab]) -> None:
    """No descriptors left is the machine's lack; code that cannot be imported is the candidate's fault."""
    one = lab(lambda case_id, attempt: RolloutResult(output=1))
    one.starts = [WorkerFailed("crashed", Problem("BK551", "cannot start"), passing=True)]
    assert one.evaluate("c0")["c0"].attempts == 2
    one.starts = [WorkerFailed("raised", Problem("BK302", "cannot import"))]
    found = one.evaluate("c1")["c1"]
    assert (found.attempts, found.error) == (1, CaseError("import", "cannot import"))


def test_evaluate__scorer_killed_from_outside__scores_again_without_running_again(lab: Callable[..., Lab]) -> None:
    """What was run is paid for; only the scoring is repeated, and what stays is an error of the scorer."""
    one = lab(lambda case_id, attempt: RolloutResult(output=1))
    killed = CaseError("infrastructure", "killed")
    one.scores = [killed]
    assert one.evaluate("c0")["c0"].attempts == 2
    assert (one.runs, one.scored) == ([("c0", 1)], ["c0", "c0"])
    one.scores = [killed] * 3
    found = one.evaluate("c1")["c1"]
    assert (found.attempts, found.error) == (3, CaseError("scorer", "killed"))


def test_evaluate__process_that_dies__costs_only_the_cases_that_ran_in_it(lab: Callable[..., Lab]) -> None:
    """Those in flight run once more, alone; those before it keep what they gave, and it is no further attempt."""
    alone: list[str] = []

    def outcome(case_id: str, attempt: int) -> RolloutResult | None:
        if case_id != "c4":
            return RolloutResult(output=case_id)
        alone.append(",".join(one.running))
        return None

    one = lab(outcome, max_concurrency=2, cases_per_process=2)
    found = one.evaluate(*CASES)
    assert {case_id for case_id, made in found.items() if made.error} == {"c4"}
    assert {made.attempts for made in found.values()} == {1}
    assert one.runs.count(("c4", 1)) == 2
    assert alone[-1] == "c4"  # the second time nobody else ran
    assert all(one.runs.count((f"c{number}", 1)) == 1 for number in range(3))
    assert len(one.runs) <= len(CASES) + 2  # itself, and the one beside it
    assert one.retried == 0


def test_evaluate__candidate_beyond_its_time__fails_what_has_not_begun(lab: Callable[..., Lab]) -> None:
    """TRAIN and TEST count each for themselves, and so does what an earlier attempt stored."""
    limits = Limits(candidate_seconds=1.0)
    one = lab(lambda case_id, attempt: RolloutResult(output=1, duration_ms=600.0), limits=limits)
    found = one.evaluate("c0", "c1", "c2", "c3")
    assert [made.error and made.error.kind for made in found.values()] == [None, None, "timed_out", "timed_out"]
    assert "took 1.2 s together, and those of one candidate may take 1 s" in str(found["c2"].error)
    assert [case_id for case_id, _ in one.runs] == ["c0", "c1"]
    again = one.evaluate("c0", "c1", "c4")
    assert again["c4"].error is not None
    assert one.evaluate("c5", held_out=True)["c5"].error is None
