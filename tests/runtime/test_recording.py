"""Traces of child processes: what arrives at the host, whatever becomes of the case."""

import asyncio
import json

import pytest

from beaker.core.cases import Case
from beaker.core.traces import LIMITS
from beaker.core.usage import ModelUsage, usage_of
from beaker.runtime.workers import RolloutResult, WorkerFailed

pytestmark = pytest.mark.processes

CALLS = """
    async def run_case(*, case_input, runtime):
        hello = [{"role": "user", "content": "hello"}]
        call = dict(operation="chat", provider="openai", model="m", input_messages=hello)
        with runtime.trace.stage("outer"):
            with runtime.trace.model_call(**call) as first:
                first.output({"usage": {"prompt_tokens": 10, "completion_tokens": 3}})
            with runtime.trace.model_call(**call):
                if case_input == "crash":
                    os._exit(3)
                if case_input == "late":
                    await asyncio.sleep(60)
                if case_input == "blocks":
                    time.sleep(60)
                if case_input == "raise":
                    raise ValueError("no")
        return CaseResult(case_input)
"""


def traced(project, hosted, case_input, **timeouts):
    async def work(supervisor):
        worker = await project.rollout(supervisor)
        result = await worker.run("c1", case_input, attempt=1)
        await worker.close()
        return result

    for name, seconds in timeouts.items():
        project.timeouts = project.timeouts.__class__(**{name: seconds, "teardown": 5.0})
    return hosted(work)


@pytest.mark.parametrize(
    ("case_input", "kind"),
    [("fine", None), ("crash", "crashed"), ("late", "timed_out"), ("blocks", "timed_out"), ("raise", "raised")],
)
def test_trace__whatever_becomes_of_the_case__comes_as_far_as_it_did(project, hosted, case_input, kind):
    """The call that a case was in when its process ended, was late or raised is known, and what was used before."""
    result = traced(project.hooks(CALLS), hosted, case_input, run_case=1.5)
    assert (result.error and result.error.kind) == kind
    first, second = result.trace["model_calls"]
    assert (first["usage"]["input_tokens"], second["input"]) == (
        10,
        {"same_as": "/model_calls/0/input", "first": 1, "then": []},
    )
    assert ("duration_ms" in second) == (kind in (None, "raised"))
    assert second.get("error") == ("ValueError: no" if kind == "raised" else None)
    counted = usage_of(result.trace)[0]
    assert (counted.input_tokens, counted.calls) == (10, 1 if kind in ("crashed", "timed_out") else 2)


def test_trace__nothing_recorded__is_none(project, hosted):
    """A case that does not use its trace has none."""
    assert traced(project, hosted, "x").trace is None


def test_trace__current_trace__is_the_one_of_the_case(project, hosted):
    """Code that is not handed the runtime finds the trace of its own case, also beside others in the process."""
    project.hooks("""
        from beaker.tracing import current_trace
        async def run_case(*, case_input, runtime):
            for _ in range(3):
                with current_trace().stage(f"of {case_input}"):
                    await asyncio.sleep(0.01)
            return CaseResult(current_trace() is runtime.trace)
    """)

    async def work(supervisor):
        worker = await project.rollout(supervisor)
        return await asyncio.gather(*(worker.run(f"c{number}", number, attempt=1) for number in range(4)))

    for number, result in enumerate(hosted(work)):
        assert result.output is True
        assert [one["name"] for one in result.trace["stages"]] == [f"of {number}"] * 3


def test_trace__threads__may_record_while_answers_are_written(project, hosted):
    """Messages of several threads do not get into each other."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            def work(number):
                for turn in range(30):
                    with runtime.trace.tool_call("t", arguments={"text": f"{number} {turn} " + "x" * 5000}):
                        pass
            await asyncio.gather(*(asyncio.to_thread(work, number) for number in range(6)))
            return CaseResult("done")
    """)
    result = traced(project, hosted, "x")
    assert (result.output, result.trace["counts"]["tool_calls"]) == ("done", 180)
    assert len({json.dumps(one["arguments"]) for one in result.trace["tool_calls"]}) > 1


def test_trace__of_a_process_that_lies__is_nonsense(project, hosted):
    """What no recorder sends is taken for what it is: customer code that writes to Beaker's pipe."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            runtime.trace._recorder._send({"entries": [["stages", 9999, {}]], "counts": {}, "usage": [], "cut": False})
            return CaseResult(1)
    """)
    result = traced(project, hosted, "x")
    assert result.error.kind == "crashed"
    assert "wrote something else than answers" in result.error.message


def test_trace__endless_recording__is_bounded(project, hosted):
    """A case that records without end keeps its first steps, and counts the rest."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            for number in range(5000):
                with runtime.trace.stage("s", inputs="x" * 1000):
                    pass
            return CaseResult(1)
    """)
    result = traced(project, hosted, "x")
    assert (len(result.trace["stages"]), result.trace["counts"]["stages"]) == (LIMITS["stages"], 5000)
    assert result.trace["truncated"] is True


def test_score__judge_that_records__tells_what_it_used(project, hosted):
    """The calls of a scorer are counted, also when it raises; what they said is not sent."""
    project.hooks("""
        from beaker.tracing import current_trace
        async def score_case(*, case, result, case_files_dir):
            with current_trace().model_call(operation="chat", provider="j", model="m", input_messages="secret") as call:
                call.usage(input_tokens=5, output_tokens=1)
            if result.output == 2:
                raise ValueError("no")
            return CaseScore(1.0, {})
    """)
    used = []

    async def work(supervisor):
        worker = await project.scorer(supervisor)
        for output in (1, 2):
            await worker.score(Case("c1", 1), RolloutResult(output=output), used=used.extend)
        await worker.close()

    hosted(work)
    assert used == [ModelUsage("j:m", 5, 1)] * 2


def test_start__failing_import__has_no_trace(project, hosted):
    """Without a process there is nothing to record."""
    project.hooks("raise RuntimeError('broken')")
    with pytest.raises(WorkerFailed):
        traced(project, hosted, 1)
