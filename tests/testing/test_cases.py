"""Running one case and scoring one result, under the rules of a run."""

import asyncio
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from beaker import Case, CaseFile, CaseResult, Integration, RetryableCaseError, TargetDocument
from beaker.testing import IntegrationFault, recorded_trace, rollout_runtime, run_case_once, score_once

pytestmark = pytest.mark.processes

Hooks = Callable[..., Integration]
CASE = Case("c1", {"q": [1]}, expected={"q": [1]})


def test_once__plain_case__runs_and_scores(hooks: Hooks) -> None:
    """The result and the score are values of their own, equal to what the hooks returned."""
    integration = hooks()
    result = run_case_once(integration, CASE)
    assert result == CaseResult({"q": [1]})
    assert score_once(integration, CASE, result).objective == 1.0


def test_run_case__gets_what_a_rollout_gets(hooks: Hooks) -> None:
    """The id, the first attempt, an empty folder of files, no documents and no model."""
    integration = hooks("""
        async def run_case(*, case_input, runtime):
            files = [path.name for path in runtime.case_files_dir.iterdir()]
            return CaseResult([runtime.case_id, runtime.attempt, files, runtime.targets_dir, runtime.model])
        """)
    assert run_case_once(integration, CASE).output == ["c1", 1, [], None, None]


def test_hooks__changing_what_they_got__changes_it_for_nobody(hooks: Hooks) -> None:
    """Each call has its own copies, as it has in a process of its own."""
    integration = hooks("""
        kept = CaseResult({"list": []})
        async def run_case(*, case_input, runtime):
            case_input["q"].append(2)
            return kept
        async def score_case(*, case, result, case_files_dir):
            case.input["q"].append(3); case.expected["q"].append(4); result.output["list"].append(5)
            return CaseScore(1, {})
        """)
    result = run_case_once(integration, CASE)
    score_once(integration, CASE, result)
    assert (CASE.input, CASE.expected, result.output) == ({"q": [1]}, {"q": [1]}, {"list": []})


def test_run_case__raising__raises_the_same_with_a_note(hooks: Hooks) -> None:
    """A test can expect the customer's own exceptions, also those that end a process or a task."""
    integration = hooks("""
        async def run_case(*, case_input, runtime):
            if case_input == "retry":
                raise RetryableCaseError("later")
            if case_input == "cancel":
                raise asyncio.CancelledError
            raise SystemExit(3)
        """)
    with pytest.raises(RetryableCaseError, match="later") as raised:
        run_case_once(integration, Case("c", "retry"))
    assert raised.value.__notes__ == ["raised by run_case"]
    with pytest.raises(SystemExit):
        run_case_once(integration, Case("c", "exit"))
    with pytest.raises(asyncio.CancelledError):
        run_case_once(integration, Case("c", "cancel"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("async def run_case(*, case_input, runtime): return {'a': 1}", "must return a CaseResult, not dict"),
        (
            "async def run_case(*, case_input, runtime):\n"
            "    made = CaseResult({'a': 1}); made.output['a'] = {1}; return made",
            "the result of run_case is no JSON any more",
        ),
        ("async def run_case(*, case_input, runtime): return CaseResult('x' * (1 << 26))", "run_case is too large"),
        ("def open_candidate(*, targets_dir, scratch_dir): return 1", "must return an asynchronous context manager"),
        (
            "@asynccontextmanager\nasync def open_candidate(*, targets_dir, scratch_dir):\n    yield 1\n    1 / 0",
            "leaving open_candidate: ZeroDivisionError",
        ),
    ],
)
def test_run_case__rules_of_a_run__hold(hooks: Hooks, text: str, says: str) -> None:
    """What a run would count as an error of the case is a fault here, in the same words."""
    with pytest.raises(IntegrationFault, match=says):
        run_case_once(_loaded(hooks, text), CASE)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("async def score_case(*, case, result, case_files_dir): return 0.5", "must return a CaseScore, not float"),
        (
            "async def score_case(*, case, result, case_files_dir):\n"
            "    check = Check('c', 'pass', expected=[1]); check.expected.append({1})\n"
            "    return CaseScore(1, {}, checks=[check])",
            "the score was changed after it was made and is none any more",
        ),
        (
            "async def score_case(*, case, result, case_files_dir):\n"
            "    return CaseScore(1, {}, checks=[Check('c', 'pass', message='x' * (1 << 26))])",
            "the score is too large",
        ),
    ],
)
def test_score_case__rules_of_a_run__hold(hooks: Hooks, text: str, says: str) -> None:
    """A score is judged as on its way out of the scorer process."""
    with pytest.raises(IntegrationFault, match=says):
        score_once(_loaded(hooks, text), CASE, CaseResult(1))


def test_score_case__raising__raises_the_same(hooks: Hooks) -> None:
    """What a scorer raises is raised."""
    integration = hooks("async def score_case(*, case, result, case_files_dir): return 1 / 0")
    with pytest.raises(ZeroDivisionError):
        score_once(integration, CASE, CaseResult(1))


def test_open_candidate__is_entered_and_left_around_the_case(hooks: Hooks) -> None:
    """What it yields is the candidate; it sees the documents and an empty folder to work in, and is always left."""
    integration = hooks("""
        TARGETS = documents(groups=["rules", "empty"])
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                yield {}
        told = []
        @asynccontextmanager
        async def open_candidate(*, targets_dir, scratch_dir):
            told.append([list(scratch_dir.iterdir()), sorted(path.name for path in targets_dir.iterdir())])
            try:
                yield (targets_dir / "rules" / "a.md").read_text()
            finally:
                told.append("left")
        async def run_case(*, case_input, runtime):
            if case_input == "told":
                return CaseResult(told)
            raise ValueError(runtime.candidate)
        """)
    documents: Any = {"rules": {"a.md": "text"}}
    with pytest.raises(ValueError, match="text"):
        run_case_once(integration, CASE, documents=documents)
    seeds = [TargetDocument(source_id="1", group="rules", name="a.md", content="seed")]
    with pytest.raises(ValueError, match="seed"):
        run_case_once(integration, CASE, documents=seeds)
    ready = rollout_runtime(candidate="mine")
    assert run_case_once(integration, Case("c", "told"), runtime=ready).output == [[[], ["empty", "rules"]], "left"] * 2


def test_open_candidate__raising__raises_the_same(hooks: Hooks) -> None:
    """The note tells that it was not the case."""
    integration = hooks("def open_candidate(*, targets_dir, scratch_dir): raise KeyError('index')")
    with pytest.raises(KeyError) as raised:
        run_case_once(integration, CASE)
    assert raised.value.__notes__ == ["raised by open_candidate"]


def test_documents__of_another_group_or_beside_a_runtime__are_refused(hooks: Hooks) -> None:
    """A candidate that a run could not have is none here."""
    integration = hooks()
    with pytest.raises(IntegrationFault, match="BK6"):
        run_case_once(integration, CASE, documents={"undeclared": {"a.md": ""}})
    with pytest.raises(ValueError, match="group"):
        rollout_runtime(documents={"../up": {"a.md": ""}})
    with pytest.raises(TypeError, match="not both"):
        run_case_once(integration, CASE, documents={}, runtime=rollout_runtime())


def test_files__of_a_test__are_captured_for_both_hooks(hooks: Hooks, tmp_path: Path) -> None:
    """Files may lie anywhere and are handed on read-only under their declared names; folders become archives."""
    integration = hooks("""
        async def run_case(*, case_input, runtime):
            names = sorted(path.name for path in runtime.case_files_dir.iterdir())
            return CaseResult([names, (runtime.case_files_dir / "a.txt").stat().st_mode & 0o777])
        async def score_case(*, case, result, case_files_dir):
            return CaseScore(float((case_files_dir / "a.txt").read_text() == "A"), {})
        """)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x").write_text("A")
    case = Case("c", 1, files=[CaseFile("a.txt", tmp_path / "data" / "x"), CaseFile("all.zip", tmp_path / "data")])
    assert run_case_once(integration, case).output == [["a.txt", "all.zip"], 0o444]
    assert score_once(integration, case, CaseResult(1)).objective == 1.0


@pytest.mark.parametrize("path", ["missing", "link"])
def test_files__that_a_run_refuses__are_refused(hooks: Hooks, tmp_path: Path, path: str) -> None:
    """Missing files and links are faults of the case, as is content that is not what was declared."""
    (tmp_path / "real").write_text("A")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(IntegrationFault, match="BK339"):
        run_case_once(hooks(), Case("c", 1, files=[CaseFile("a", tmp_path / path)]))
    wrong = CaseFile("a", tmp_path / "real", expected_sha256=sha256(b"B").hexdigest())
    with pytest.raises(IntegrationFault, match="SHA-256"):
        score_once(hooks(), Case("c", 1, files=[wrong]), CaseResult(1))


def test_trace__of_a_case__can_be_looked_at(hooks: Hooks) -> None:
    """The runtime's trace records as in a run; code that is handed no runtime finds it, too."""
    integration = hooks("""
        from beaker.tracing import current_trace
        async def run_case(*, case_input, runtime):
            with current_trace().model_call(operation="chat", provider="p", model="m", input_messages=[]) as call:
                call.usage(input_tokens=7, output_tokens=2)
            return CaseResult(1)
        """)
    runtime = rollout_runtime(case=CASE, timeout=60, model="p:m")
    assert runtime.deadline is not None
    assert recorded_trace(rollout_runtime()) is None
    run_case_once(integration, CASE, runtime=runtime)
    runtime.trace.handoff("late", 1)
    trace: Any = recorded_trace(runtime)
    assert trace["usage"] == [{"model": "p:m", "input_tokens": 7, "output_tokens": 2, "calls": 1}]
    assert trace["handoffs"] == []


def test_trace__of_its_own__is_not_looked_into() -> None:
    """Only what the helpers made can be asked."""
    from beaker.sdk.trace import NOOP_TRACE

    with pytest.raises(TypeError, match="NoopTrace"):
        recorded_trace(rollout_runtime(trace=NOOP_TRACE))


def test_event_loop__that_runs__is_told_how_to_call(hooks: Hooks) -> None:
    """Inside an event loop the helpers name the way, and it works; the loop of the thread is left alone."""
    integration = hooks()

    async def inside() -> Any:
        with pytest.raises(RuntimeError, match=r"await asyncio\.to_thread\(run_case_once, \.\.\.\)"):
            run_case_once(integration, CASE)
        return await asyncio.to_thread(run_case_once, integration, CASE)

    assert asyncio.run(inside()).output == CASE.input
    mine = asyncio.new_event_loop()
    asyncio.set_event_loop(mine)
    try:
        run_case_once(integration, CASE)
        assert asyncio.get_event_loop() is mine
    finally:
        asyncio.set_event_loop(None)
        mine.close()


def _loaded(hooks: Hooks, text: str) -> Integration:
    return hooks(f"{text}\n")
