"""A process that writes anything to Beaker's pipe: its host gives an error or a result that can be stored, and no more.

Customer code shares the process of a worker, so what comes from there may be anything.
"""

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beaker.core.cases import Case, CaseScore
from beaker.core.evaluations import CaseError
from beaker.core.optimizer import Timeouts
from beaker.core.strict_json import dumps
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.supervisor import Supervisor
from beaker.runtime.workers import RolloutResult, RolloutWorker, ScorerWorker

pytestmark = [pytest.mark.soak, pytest.mark.processes]

APP = """
import gc
from beaker import *
from beaker.runtime.channel import Channel

CHANNEL = next(one for one in gc.get_objects() if isinstance(one, Channel))

class Setup(RunSetup[dict]):
    row_model = dict
    async def load_cases(self, row, *, runtime):
        yield Case(id=row["id"], input=1)

def forge(told):
    # The first request is `start`, and nothing else is asked at the same time.
    CHANNEL._write(bytes.fromhex(told["bytes"]).replace(b"NUMBER", str(told["number"]).encode()))

async def run_case(*, case_input, runtime):
    forge(case_input)
    return CaseResult("true", context={"a": 1})

async def score_case(*, case, result, case_files_dir):
    forge(case.input)
    return CaseScore(0.5, {})

integration = Integration(targets=repository(), run_setup=Setup, run_case=run_case, score_case=score_case)
"""

KINDS = {"raised", "retryable", "crashed", "infrastructure", "timed_out", "scorer", "invalid_result", "import"}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
OK = {"output": 1, "output_kind": None, "context": {}, "duration_ms": 1.5, "error": None, "damaged": False,
      "score": {"objective": 1.0, "field_scores": {}, "field_diffs": [], "checks": []}}  # fmt: skip
ERROR = {"kind": "raised", "message": "no", "traceback": "", "problems": [], "code": "BK1", "where": "", "hint": ""}
TRACE = {"entries": [["model_calls", 0, {"n": 1}]], "counts": {"model_calls": 1}, "usage": [], "cut": False}


def changed(whole: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """An object with some fields left out or replaced by anything."""
    return st.dictionaries(st.sampled_from([*whole, "x"]), JSON, max_size=2).flatmap(
        lambda other: st.sets(st.sampled_from([*whole]), max_size=2).map(
            lambda gone: {key: item for key, item in {**whole, **other}.items() if key not in gone}
        )
    )


def line(message: dict[str, Any]) -> bytes:
    """A message as it is sent, `"id"` as the number of the request where it says so."""
    return json.dumps(message).replace('"NUMBER"', "NUMBER").encode("utf-8", "backslashreplace") + b"\n"


NUMBERS = st.just("NUMBER") | JSON
MESSAGES = st.one_of(
    st.tuples(NUMBERS, changed(OK) | JSON).map(lambda one: {"id": one[0], "ok": one[1]}),
    st.tuples(NUMBERS, changed(ERROR) | JSON).map(lambda one: {"id": one[0], "error": one[1]}),
    st.tuples(NUMBERS, st.sampled_from(["trace", "stage", "cases", "x"]), changed(TRACE)).map(
        lambda one: {"id": one[0], "event": one[1], **one[2]}
    ),
    changed({"event": "last_words", "problems": [ERROR]}),
    changed({"event": "deprecated", "found": [{"message": "old", "where": "a.py:1"}]}),
)
BYTES = st.lists(MESSAGES.map(line) | st.binary(max_size=40), min_size=1, max_size=3).map(b"".join)


class Host:
    """An event loop with its supervisor, and a worker that is started again when it is lost."""

    def __init__(self, root: Path, start: Callable[[Supervisor, Path], Any]) -> None:
        (root / "app.py").write_text(APP)
        self._root, self._start = root, start
        self._runner = asyncio.Runner()
        self._supervisor: Any = None
        self._worker: Any = None
        self._number = 0

    def ask(self, data: bytes, ask: Callable[[Any, Any], Any]) -> Any:
        """What comes of a request during which the process writes `data` first."""

        async def work() -> Any:
            self._supervisor = self._supervisor or Supervisor()
            if self._worker is None or not self._worker.alive:
                if self._worker is not None:
                    await self._worker.kill()
                self._worker, self._number = await self._start(self._supervisor, self._root), 1
            self._number += 1
            return await asyncio.wait_for(ask(self._worker, {"bytes": data.hex(), "number": self._number}), 60)

        return self._runner.run(work())

    def close(self) -> None:
        """End everything."""
        if self._supervisor is not None:
            self._runner.run(self._supervisor.close())
        self._runner.close()


def code(root: Path) -> dict[str, Any]:
    """What every worker is started with."""
    return {"env": {"PATH": os.environ["PATH"]}, "timeouts": Timeouts(run_case=20, score_case=20),
            "case_files_dir": root}  # fmt: skip


@pytest.fixture
def rollouts(tmp_path: Path) -> Iterator[Host]:
    """A host of a process that runs cases."""

    async def start(supervisor: Supervisor, root: Path) -> RolloutWorker:
        return await RolloutWorker.start(
            supervisor, CodeRoot(root, "app:integration"), targets_dir=None, scratch_dir=root / "scratch", **code(root)
        )

    host = Host(tmp_path, start)
    yield host
    host.close()


@pytest.fixture
def scorers(tmp_path: Path) -> Iterator[Host]:
    """A host of a process that scores."""

    async def start(supervisor: Supervisor, root: Path) -> ScorerWorker:
        return await ScorerWorker.start(supervisor, CodeRoot(root, "app:integration"), **code(root))

    host = Host(tmp_path, start)
    yield host
    host.close()


RELAXED = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def test_run__truth_alone__is_what_comes(rollouts: Host, scorers: Host) -> None:
    """So the forged bytes of the others are what makes the difference, and a good forgery is taken at its word."""
    ask = lambda worker, told: worker.run("c", told, attempt=1)  # noqa: E731
    assert rollouts.ask(b"", ask).output == "true"
    assert rollouts.ask(line({"id": "NUMBER", "ok": OK}), ask).output == 1
    assert rollouts.ask(b"nonsense\n", ask).error.kind == "crashed"
    assert scorers.ask(b"", scored).objective == 0.5
    assert scorers.ask(line({"id": "NUMBER", "ok": OK}), scored).objective == 1.0


def scored(worker: ScorerWorker, told: Any) -> Any:
    """Score a result of a case whose input says what is written."""
    return worker.score(Case("c", told), RolloutResult(output=1))


@pytest.mark.timeout(600)
@RELAXED
@given(BYTES)
def test_run__anything_in_the_pipe__is_a_result_or_an_error(rollouts: Host, data: bytes) -> None:
    """Whatever comes can be stored: strict JSON, a known kind of error, a time; the host lives on."""
    found = rollouts.ask(data, lambda worker, told: worker.run("c", told, attempt=1))
    assert isinstance(found, RolloutResult)
    assert found.error is None or isinstance(found.error.message, str)
    dumps([found.output, dict(found.context), found.trace, found.duration_ms])


@pytest.mark.timeout(600)
@RELAXED
@given(BYTES)
def test_score__anything_in_the_pipe__is_a_score_or_an_error(scorers: Host, data: bytes) -> None:
    """A score obeys the rules of scores, wherever it was made."""
    found = scorers.ask(data, scored)
    assert isinstance(found, CaseScore | CaseError)
    if isinstance(found, CaseScore):
        assert 0.0 <= found.objective <= 1.0
        dumps(dict(found.field_scores))
