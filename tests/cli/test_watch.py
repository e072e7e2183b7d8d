"""Watching a run: changes with times, JSON lines, patience with a place in trouble."""

import io
import json
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from returns.result import Failure, Result, Success

from beaker.cli.run_view import details, progress_text
from beaker.cli.shell import Io
from beaker.cli.signals import ending_signals, heard_out
from beaker.cli.watch import watch_run
from beaker.core.api import ApiProblem
from beaker.core.problems import Problem
from beaker.core.retry import WATCH_LONGEST_WAIT

Answer = dict[str, Any] | Problem


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.time = 1_700_000_000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds


def run_at(status: str, done: int = 0, made: int = 0, **more: Any) -> dict[str, Any]:
    """A run's answer."""
    progress = {"rollouts": {"done": done, "limit": 100}, "proposals": {"made": made, "accepted": made}, "best": None}
    return {"id": "r1", "status": status, "progress": progress, **more}


def watched(
    answers: Iterable[Answer],
    *,
    timeout: float = 0,
    interval: float = 2,
    json_lines: bool = False,
    stands_still: Callable[[], bool] = lambda: False,
) -> tuple[int, str, str, Clock]:
    """Watch a run that answers like this; the last answer repeats."""
    given = list(answers)

    def fetch() -> Result[dict[str, Any], Problem]:
        answer = given.pop(0) if len(given) > 1 else given[0]
        return Failure(answer) if isinstance(answer, Problem) else Success(answer)

    clock = Clock()
    view = Io(
        stdout=io.StringIO(),
        stderr=io.StringIO(),
        stdin=io.StringIO(),
        environ={},
        cwd=Path(),
        json=json_lines,
        now=clock.now,
        sleep=clock.sleep,
    )
    code = watch_run(
        fetch, view, "r1", interval=interval, timeout=timeout, stands_still=stands_still, draw=lambda: 0.75
    )
    assert isinstance(view.stdout, io.StringIO)
    assert isinstance(view.stderr, io.StringIO)
    return code, view.stdout.getvalue(), view.stderr.getvalue(), clock


def test_watch__changes__are_printed_once_with_the_time() -> None:
    """A line for every change, none for an answer that says nothing new."""
    code, out, _, _ = watched(
        [run_at("QUEUED"), run_at("RUNNING"), run_at("RUNNING"), run_at("RUNNING", 3, 1), run_at("COMPLETED", 9, 1)]
    )
    lines = out.splitlines()
    assert code == 0
    assert [line.split("r1: ")[1].split()[0] for line in lines] == ["QUEUED", "RUNNING", "RUNNING", "COMPLETED"]
    assert all(line[2] == line[5] == ":" for line in lines)


def test_watch__only_rollouts__are_told_now_and_then() -> None:
    """Many rollouts between two proposals make a line every five seconds, not one each."""
    answers = [run_at("RUNNING", done) for done in range(30)]
    _, out, _, clock = watched([*answers, run_at("COMPLETED", 30)], interval=1)
    assert len(clock.slept) == 30
    assert 6 <= len(out.splitlines()) <= 9


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (run_at("COMPLETED"), 0),
        (run_at("failed", error_message=" no \n case "), 1),
        (run_at("HELDOUT_FAILED"), 1),
        (run_at("CANCELLED"), 1),
        (run_at("RUNNING", baseline_review={"participants": {"m": {"paused": True}}}), 3),
        (ApiProblem("BK807", "not found", status=404), 2),
        (Problem("BK802", "no agent key is given"), 2),
    ],
)
def test_watch__end__has_the_exit_code_of_run_status(answer: Answer, code: int) -> None:
    """0 completed, 1 ended otherwise, 2 not answered, 3 waiting for a person; each without sleeping."""
    found, _, err, clock = watched([answer])
    assert found == code
    assert clock.slept == []
    assert ("error:" in err) == (code == 2)


def test_watch__phases__are_named_at_once() -> None:
    """Until the first proposal a watch says what goes on: setting up, then scoring the baseline."""
    answers = [run_at("RUNNING"), run_at("RUNNING"), run_at("RUNNING", 1), run_at("RUNNING", 2, 1), run_at("COMPLETED")]
    _, out, _, _ = watched(answers, interval=1)
    first, second, third, _ = out.splitlines()
    assert "setting up" in first
    assert "scoring the baseline" in second
    assert "2 of 100 rollouts, 1 proposal (1 accepted)" in third


def test_watch__proposals_that_fail__are_told_with_their_reason() -> None:
    """Each failure is shown once with its message, the last one again at the end, with counts by outcome."""

    def tried(status: str, made: int) -> dict[str, Any]:
        proposals = {
            "made": made,
            "rejected": 1,
            "failed": made - 1,
            "limit": 50,
            "outcomes": {"no_change": 1, "crashed": made - 1},
            "last_failed": {"n": made, "outcome": "crashed", "message": f"cannot start: {made}\nsecond line"},
        }
        return {"id": "r1", "status": status, "progress": {"rollouts": {"done": 1}, "proposals": proposals}}

    _, out, _, _ = watched([tried("RUNNING", 2), tried("RUNNING", 2), tried("RUNNING", 3), tried("COMPLETED", 3)])
    assert out.count("proposal 2 crashed: cannot start: 2\n") == 1
    assert out.count("proposal 3 crashed: cannot start: 3\n") == 2
    assert "second line" in out
    assert "1 rollout, 3 of 50 proposals (1 without a change, 2 crashed)" in out
    assert "rejected" not in out


def test_watch__nobody_works__is_said_instead_of_a_false_comfort() -> None:
    """A run without a worker is said to stand still, once, and not to go on when the watch ends."""
    code, _, err, _ = watched([run_at("RUNNING")], timeout=5, stands_still=lambda: True)
    assert code == 3
    assert err.count("stands still") == 1
    assert "beaker run status r1 --watch" in err
    assert "goes on without" not in err


def test_watch__timeout__says_so_and_exits_3() -> None:
    """A run that goes on longer than the watch is not finished."""
    code, _, err, clock = watched([run_at("RUNNING")], timeout=5)
    assert code == 3
    assert sum(clock.slept) == 6
    assert "has not ended after 5 seconds; it goes on without this watch" in err
    assert "after 1 second;" in watched([run_at("RUNNING")], timeout=1)[2]


@pytest.mark.parametrize(
    "trouble",
    [
        ApiProblem("BK805", "slow down", status=429),
        ApiProblem("BK808", "bad gateway", status=502),
        ApiProblem("BK803", "connection reset"),
    ],
)
def test_watch__passing_trouble__is_survived_with_growing_waits(trouble: Problem) -> None:
    """429, 5xx and dropped connections end no watch; it waits longer and longer and says so once."""
    code, out, err, clock = watched([run_at("RUNNING"), *[trouble] * 8, run_at("COMPLETED")])
    assert code == 0
    assert "COMPLETED" in out
    assert err.count("trying again") == 1
    waits = clock.slept[1:]
    assert max(waits) <= WATCH_LONGEST_WAIT
    assert waits == sorted(waits)
    assert waits[-1] > waits[0]


def test_watch__time_to_come_back__is_kept() -> None:
    """A place that says when it will answer again is asked then, not before."""
    busy = ApiProblem("BK805", "slow down", status=429, retry_after="100")
    code, _, _, clock = watched([run_at("RUNNING"), busy, run_at("COMPLETED")])
    assert code == 0
    assert clock.slept[1] >= 100


def test_watch__trouble_without_end__is_given_up() -> None:
    """A place that answers no more is left in the end, with its last problem."""
    code, _, err, clock = watched([run_at("RUNNING"), ApiProblem("BK808", "down", status=503)])
    assert code == 2
    assert "down" in err
    assert sum(clock.slept) > 600


def test_watch__never_an_answer__is_given_up_soon() -> None:
    """A place that never answered is not waited for as long."""
    code, _, _, clock = watched([ApiProblem("BK803", "refused")])
    assert code == 2
    assert sum(clock.slept) < 120


def test_watch__json__is_one_line_per_change() -> None:
    """Under --json every change is one whole answer on its own line, and remarks are left out."""
    answers = [run_at("RUNNING"), ApiProblem("BK808", "down", status=503), run_at("COMPLETED", note="ü")]
    code, out, err, _ = watched(answers, json_lines=True)
    assert code == 0
    assert [json.loads(line)["status"] for line in out.splitlines()] == ["RUNNING", "COMPLETED"]
    assert "\\u00fc" in out
    assert err == ""


def test_details__mismatch__shows_both_declarations() -> None:
    """A run that failed on its targets shows the pinned and the imported ones."""
    run = run_at(
        "FAILED",
        error_message="the targets differ",
        targets={"kind": "documents", "groups": ["a"]},
        targets_imported={"kind": "documents", "groups": ["b"]},
    )
    text = "\n".join(details(run))
    assert 'declared   {"kind":"documents","groups":["a"]}' in text
    assert 'imported   {"kind":"documents","groups":["b"]}' in text
    assert "error      the targets differ" in text


def test_details__warnings__are_shown_with_their_place() -> None:
    """What the service warns of at the launch stays visible with the run."""
    warnings = [{"code": "BK478", "message": "is a submodule", "where": "vendor/x", "hint": ""}, "plain"]
    text = "\n".join(details(run_at("RUNNING", warnings=warnings)))
    assert "warning    vendor/x: is a submodule" in text
    assert "warning    plain" in text


def test_details__result__shows_both_scores_and_the_interval() -> None:
    """A completed run shows baseline, winner, difference and interval; missing numbers are dashes."""
    test = {"baseline": 0.4, "winner": 0.85, "difference": 0.45, "low": 0.3, "high": 0.6, "n": 40}
    text = "\n".join(details(run_at("COMPLETED", result={"winner_id": "r1.3", "test": test}, finish_reason="budget")))
    assert "0.400 on TEST" in text
    assert "0.850 on TEST (r1.3)" in text
    assert "+0.450, 95 % interval +0.300 to +0.600, n 40" in text
    assert "ended by   budget" in text
    assert "doubtful" not in text
    result = {"winner_id": "r1.3", "baseline_id": "r1.0", "test": test | {"n": 1}}
    assert "  doubtful   1 pair is too few to tell" in "\n".join(details(run_at("COMPLETED", result=result)))
    result |= {"winner_id": "r1.0"}
    assert "doubtful" not in "\n".join(details(run_at("COMPLETED", result=result)))
    lone = {"baseline": None, "winner": 0.8, "difference": None, "low": None, "high": None, "n": 40}
    assert "baseline   - on TEST" in "\n".join(details(run_at("COMPLETED", result={"test": lone})))


@pytest.mark.parametrize("run", [{}, {"progress": None}, {"progress": {"rollouts": 3, "best": []}}, {"result": 1}])
def test_details__odd_answer__is_shown_as_far_as_it_goes(run: dict[str, Any]) -> None:
    """What a newer or broken service says never breaks the display."""
    assert progress_text(run) == ""
    assert list(details(run)) == []


@pytest.mark.parametrize(
    ("progress", "settings", "line"),
    [
        ({"tokens": None, "spend_usd": None}, {"spend_budget_usd": 5}, None),
        ({"tokens": 1, "spend_usd": None}, {}, "  spent      -, 1 token"),
        ({"tokens": 5_000, "spend_usd": 1.254}, {"spend_budget_usd": 5.0}, "  spent      $1.25 of $5.00, 5000 tokens"),
        ({"tokens": 70, "spend_usd": 0.00234}, {}, "  spent      $0.0023, 70 tokens"),
        ({"tokens": 70, "spend_usd": 0.0}, {}, "  spent      $0.00, 70 tokens"),
        ({"tokens": 70, "spend_usd": 1e-9}, {}, "  spent      under $0.0001, 70 tokens"),
    ],
)
def test_details__money__is_told_where_calls_were_recorded(
    progress: dict[str, Any], settings: dict[str, Any], line: str | None
) -> None:
    """An unknown cost is a dash; without a recorded call nothing is claimed."""
    told = [one for one in details({"status": "RUNNING", "progress": progress, "settings": settings}) if "spent" in one]
    assert told == ([] if line is None else [line])


class Struck(io.StringIO):
    """A stream during whose first write somebody presses Ctrl-C."""

    struck = False

    def write(self, text: str) -> int:
        if not self.struck:
            self.struck = True
            signal.raise_signal(signal.SIGINT)
        return super().write(text)


@pytest.mark.parametrize("on", [True, False])
def test_watch__interrupt_while_it_prints__still_pauses(on: bool) -> None:
    """An interrupt that comes between seeing a change and telling of it waits: the change is told, once, and then the
    watch pauses."""
    clock, answers, asked = Clock(), [run_at("QUEUED"), run_at("COMPLETED")], []
    out = Struck()
    view = Io(
        stdout=out, stderr=io.StringIO(), stdin=io.StringIO(), environ={}, cwd=Path(), now=clock.now, sleep=clock.sleep
    )

    def pause() -> bool:
        heard_out()
        asked.append(out.getvalue())
        return on

    def watch() -> int:
        with ending_signals():
            return watch_run(lambda: Success(answers.pop(0)), view, "r1", interval=1, timeout=0, pause=pause)

    if on:
        assert watch() == 0
    else:
        with pytest.raises(KeyboardInterrupt):
            watch()
    assert [text.count("QUEUED") for text in asked] == [1]
    assert out.getvalue().count("QUEUED") == 1


def test_watch__interrupt_while_the_end_is_printed__still_ends_as_one() -> None:
    """The last change is told, and the exit code is that of an interrupt."""
    out = Struck()
    view = Io(stdout=out, stderr=io.StringIO(), stdin=io.StringIO(), environ={}, cwd=Path())
    with pytest.raises(KeyboardInterrupt), ending_signals():
        watch_run(lambda: Success(run_at("COMPLETED")), view, "r1", interval=1, timeout=0)
    assert "COMPLETED" in out.getvalue()
