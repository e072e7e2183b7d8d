"""What a run cost, in figures and lists."""

from collections.abc import Callable
from typing import Any

import pytest

from beaker.core.report.spending import SHOWN_PROPOSALS, elapsed, proposal_list, proposers, spending

Read = Callable[[str], Any]


def test_spending__figures__are_those_of_the_answers(read: Read, sample: dict[str, Any]) -> None:
    """Rollouts with their limit, tokens and money of the run, and of each report beside its latency."""
    reports = sample["reports"]["eval_reports"]
    page = read(spending(sample["run"], [("Baseline on TEST", reports[1]), ("Winner on TEST", {})]))
    for said in ("Rollouts 60 of 500, 1 failed", "Proposals 3 of 3, 2 accepted, 1 rejected", "Tokens 20.0 M",
                 "Cost $1.50", "Time 2 min 3 s", "Baseline on TEST 1,200 30 $0.0042 12 ms 1 min 1 s"):  # fmt: skip
        assert said in page.text, said
    assert "Winner on TEST" not in page.text
    assert "not recorded" not in page.text


def test_spending__nothing_known__says_so(read: Read) -> None:
    """A figure that is missing is a dash, never a zero."""
    page = read(spending({"progress": {"rollouts": {"done": 7}}}, []))
    assert "Rollouts 7 Proposals – Tokens – not recorded Cost – unknown Time –" in page.text
    assert page.all("table") == []


def test_proposal_list__every_outcome__is_told(read: Read, sample: dict[str, Any]) -> None:
    """Number, parent, outcome, child and what was said; a failure stands out."""
    page = read(proposal_list(sample["candidates"]))
    assert "2 proposals" in page.text
    assert "1 #0 accepted #1 2 #1 timed out – too slow" in page.text
    assert [one["class"] for one in page.all("span", "tag")] == ["tag good", "tag bad"]
    odd = read(proposal_list({"proposals": [{"outcome": "new_kind"}]}))
    assert odd.all("span", "tag") == [{"class": "tag"}]
    assert "new kind" in odd.text
    assert proposal_list({}) == ""


def test_proposal_list__many__shows_the_latest(read: Read) -> None:
    """The earlier ones are counted."""
    every = [{"n": n, "outcome": "no_change"} for n in range(1, SHOWN_PROPOSALS + 3)]
    page = read(proposal_list({"proposals": every}))
    assert f"{SHOWN_PROPOSALS + 2} proposals 2 earlier ones not shown here" in page.text
    assert len(page.all("tr")) == SHOWN_PROPOSALS + 1
    assert "earlier" not in read(proposal_list({"proposals": every[2:]})).text


@pytest.mark.parametrize(
    "run", [{}, {"started_at": None, "completed_at": None}, {"started_at": "then", "completed_at": "now"},
            {"started_at": "2026-03-01T10:00:00Z", "completed_at": "2026-03-01T10:00:00"}]
)  # fmt: skip
def test_elapsed__without_two_times__is_unknown(run: dict[str, Any]) -> None:
    """A run that goes on, or an odd time."""
    assert elapsed(run) is None


def test_proposers__usage__is_summed_and_priced() -> None:
    """Tokens of all proposals; dollars where the run has prices, and nothing where no proposer said anything."""
    used = [{"model": "openai:m", "calls": 1, "input_tokens": 1_000_000, "output_tokens": 500_000}]
    listing = {"proposals": [{"n": 1, "usage": used}, {"n": 2, "usage": []}, {"n": 3, "usage": used}, {"n": 4}]}
    run = {"settings": {"harness_optimization": {"prices": {"openai:m": {"input": 2, "output": 4.0}, "x:y": None}}}}
    assert proposers(run, listing) == {
        "usage": {"input_tokens": 2_000_000, "output_tokens": 1_000_000, "cost_usd": 8.0}
    }
    assert proposers({}, listing)["usage"]["cost_usd"] is None
    half = {"settings": {"harness_optimization": {"prices": {"openai:m": {"input": 2}}}}}
    assert proposers(half, listing)["usage"]["cost_usd"] is None
    assert proposers(run, {"proposals": [{"n": 2, "usage": []}]}) == {}
    assert proposers({}, {}) == {}
