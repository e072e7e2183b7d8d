"""Traces and money in whole runs: what is told, what is kept secret, and that a budget ends a run where it always did
(killed and resumed as well)."""

import json
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.kill]

PRICES = {"openai:small": {"input": 100.0, "output": 400.0}, "judge:j": {"input": 0.0, "output": 100.0}}

RESPONSES = """
def respond(word, answer):
    tokens = 100 + len(word)
    if word[0] < "e":
        return {"choices": [{"message": {"content": answer}}],
                "usage": {"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10}}
    if word[0] < "i":
        return {"content": [{"type": "text", "text": answer}],
                "usage": {"input_tokens": tokens - 60, "output_tokens": 10, "cache_read_input_tokens": 60}}
    return {"candidates": [{"content": {"parts": [{"text": answer}]}}],
            "usageMetadata": {"promptTokenCount": tokens, "candidatesTokenCount": 10, "totalTokenCount": tokens + 10}}


def traced(run):
    async def run_case(*, case_input, runtime):
        with runtime.trace.stage("answer", inputs=case_input):
            with runtime.trace.model_call(
                operation="chat", provider="openai", model="small",
                input_messages=[{"role": "user", "content": f"{case_input} {os.environ.get('SECRET_KEY')}"}],
            ) as call:
                result = await run(case_input=case_input, runtime=runtime)
                call.output(respond(case_input, result.output))
            runtime.trace.evidence("word", {"first": case_input[0]})
        return result
    return run_case


def judged(score):
    async def score_case(*, case, result, case_files_dir):
        with current_trace().model_call(operation="chat", provider="judge", model="j", input_messages="?") as call:
            call.usage(input_tokens=5, output_tokens=1)
        return await score(case=case, result=result, case_files_dir=case_files_dir)
    return score_case


run_case, score_case = traced(run_case), judged(score_case)
"""


def trace_it(lab: Any) -> Any:
    """Have the laboratory's integration and scorer record their calls."""
    code = (lab.project / "words.py").read_text()
    code = code.replace(
        'TARGETS = documents(groups=("book",))\n', f'{RESPONSES}\nTARGETS = documents(groups=("book",))\n'
    )
    lab.write(
        "words.py",
        code.replace("from beaker import (", "from beaker.tracing import current_trace\nfrom beaker import ("),
    )
    return lab


def evaluations(lab: Any) -> dict[str, Any]:
    """The stored evaluations of the baseline by case id."""
    (opened,) = lab.sql("SELECT entry FROM log WHERE entry LIKE '%opened%'")
    tree = json.loads(opened[0])["baseline_tree"]
    rows = lab.sql("SELECT case_id, evaluation FROM evaluations WHERE tree = ? ORDER BY case_id", tree)
    return {case_id: json.loads(evaluation) for case_id, evaluation in rows}


def tokens(words: list[str]) -> int:
    """What the prompts of these words have."""
    return sum(100 + len(word) for word in words)


def test_run__that_traces__tells_tokens_and_money(laboratory: Callable[..., Any]) -> None:
    """Every response shape is counted, the judge's calls are paid too, evidence shows it, and no secret is kept."""
    lab = trace_it(laboratory(train=6, test=3))
    config = lab.project / ".beaker" / "beaker.yaml"
    config.write_text(config.read_text().replace("[LAB]", "[LAB, SECRET_KEY]"))
    show = "shown = json.loads(path.read_text())['trace']; print(json.dumps(shown['model_calls']), shown['evidence'])\n"
    code = (lab.project / "propose.py").read_text()
    lab.write("propose.py", code.replace("    case = json", f"    {show}    case = json"))
    lab.environ["SECRET_KEY"] = "sk-very-secret-value"
    run_id = lab.launch(prices=PRICES, spend_budget_usd=50, max_proposals=1)
    run = lab.run(run_id)
    assert run["status"] == "COMPLETED", run["error_message"]

    asked = [words[1] for words in lab.notes("run")]
    calls = len(asked)
    assert calls == run["progress"]["rollouts"]["done"]
    assert run["progress"]["tokens"] == tokens(asked) + 10 * calls + 6 * calls
    expected = (tokens(asked) * 100 + 10 * calls * 400 + calls * 100) / 1e6
    assert run["progress"]["spend_usd"] == pytest.approx(expected, rel=1e-12)

    kept = evaluations(lab)
    reports = lab.open().call("list_eval_reports", run_id=run_id).unwrap()["eval_reports"]
    (report,) = [one for one in reports if one["id"] == f"{run_id}.0.train"]
    inputs = tokens([kept[one["id"]]["trace"]["stages"][0]["inputs"] for one in report["cases"]])
    outputs = 10 * report["cases_total"]
    assert report["usage"] == {
        "input_tokens": inputs,
        "output_tokens": outputs,
        "cost_usd": pytest.approx((inputs * 100 + outputs * 400) / 1e6, rel=1e-12),
    }
    assert "sk-very-secret" not in json.dumps(kept)
    for one in kept.values():
        word = one["trace"]["stages"][0]["inputs"]
        assert one["trace"]["evidence"] == [{"name": "word", "content": {"first": word[0]}}]
        (call,) = one["trace"]["model_calls"]
        assert call["input"] == [{"role": "user", "content": f"{word} [redacted]"}]
        assert (call["parent"], call["usage"]["output_tokens"]) == (1, 10)
        assert one["trace"]["judge_usage"][0]["calls"] == 1
    (proposal,) = lab.candidates(run_id)["proposals"]
    assert '"provider": "openai"' in proposal["stdout"]
    assert "{'name': 'word'" in proposal["stdout"]


@pytest.fixture(scope="module")
def bounded(tmp_path_factory: pytest.TempPathFactory, lab_class: Any) -> Any:
    """The findings of a run whose budget ends it after one proposal, with nobody to disturb it."""
    lab = trace_it(lab_class(tmp_path_factory.mktemp("bounded") / "lab", train=8, test=4))
    try:
        run_id = lab.launch(max_concurrency=1, **BUDGET)
        found = lab.findings(run_id), lab.run(run_id)["progress"]["spend_usd"]
    finally:
        lab.close()
    assert found[0]["status"] == ["COMPLETED", "budget", None]
    assert 0.2 < found[1] <= BUDGET["spend_budget_usd"]
    assert len(found[0]["candidates"]["candidates"]) > 1
    return found


BUDGET: dict[str, Any] = {"prices": PRICES, "spend_budget_usd": 0.45, "max_proposals": 20}


@pytest.mark.parametrize("moment", ["etrain4", pytest.param("proposer", marks=pytest.mark.soak)])
def test_kill__under_a_budget__ends_where_it_always_does(
    laboratory: Callable[..., Any], bounded: Any, moment: str
) -> None:
    """What was spent is part of stored results: killed and resumed, with one place or four, the log is the same."""
    lab = trace_it(laboratory(train=8, test=4))
    lab.shut(moment)
    run_id = lab.launch(wait=False, max_concurrency=4, **BUDGET)
    lab.reach(moment)
    lab.kill()
    lab.free(moment)
    lab.resume()
    assert (lab.findings(run_id), lab.run(run_id)["progress"]["spend_usd"]) == bounded


def test_run__unpriced_model_under_a_budget__ends_before_anything_more_is_paid(laboratory: Callable[..., Any]) -> None:
    """The run fails with the model's name, TEST is not spent, and what was used is told in tokens."""
    lab = trace_it(laboratory(train=6, test=3))
    run_id = lab.launch(prices={"openai:other": {"input": 1, "output": 1}}, spend_budget_usd=5)
    run = lab.run(run_id)
    assert (run["status"], run["finish_reason"]) == ("FAILED", "spend_unknown")
    assert "the cost of calls to judge:j, openai:small is not known" in run["error_message"]
    assert run["error_message"].endswith("TEST was not run")
    assert run["progress"]["spend_usd"] is None
    assert run["progress"]["tokens"] > 0
    assert not [words for words in lab.notes("run") if "test" in words[1]]


def test_run__case_that_is_lost__keeps_the_trace_as_far_as_it_came(laboratory: Callable[..., Any]) -> None:
    """A crash, a time-out and an exception in a model call leave the call that they happened in."""
    behaviours = {"atrain0": "crash", "btrain1": "hang", "ctrain2": "raise", "dtrain3": "retry"}
    lab = trace_it(laboratory(train=5, test=2, plan={"cases": behaviours}))
    lab.launch(prices=PRICES, max_proposals=1, timeouts={"run_case": 1.5}, case_retry_limit=1)
    kept = evaluations(lab)
    kinds = ["crashed", "timed_out", "raised", "retryable"]
    for number, kind in enumerate(kinds):
        one = kept[f"train-{number}"]
        assert one["error"]["kind"] == kind
        (call,) = one["trace"]["model_calls"]
        assert call["input"][0]["content"].startswith("abcd"[number])
        assert ("duration_ms" in call, "output" in call) == (kind in ("raised", "retryable"), False)
    assert kept["train-2"]["trace"]["errors"] == [{"n": 2, "message": "ValueError: no word: ctrain2"}]
    assert kept["train-3"]["trace"]["usage"][0]["calls"] == 2  # both attempts
