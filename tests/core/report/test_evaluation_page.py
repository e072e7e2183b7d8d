"""The page about one evaluation."""

from collections.abc import Callable
from typing import Any

import pytest

from beaker.core.report import evaluation_page

Read = Callable[[str], Any]


@pytest.fixture
def answer(make_case: Callable[..., Any]) -> dict[str, Any]:
    """What `run eval --json` answers."""
    return {
        "integration_id": "words", "candidate_id": None, "split": "train", "commit": "c" * 40, "split_cases": 5,
        "dataset": {"name": "letters", "revision": "sha256:" + "d" * 64, "path": None}, "retried": 2,
        "report": {
            "objective": 0.4, "objective_scored": 0.6, "cases_total": 3, "scored": 2, "failed": 1,
            "field_scores": {"kind": {"mean": 0.75, "n": 2}}, "latency_ms": {"p50": 12.0, "p95": 900.0},
            "usage": {"input_tokens": 1200, "output_tokens": 30, "cost_usd": None},
            "cases": [make_case("a", 1.0), make_case("b", 0.5), make_case("c", None)],
        },
        "interval": {"value": 0.4, "low": 0.1, "high": 0.7, "n": 3, "method": "the bootstrap"},
        "checks": [
            {"name": "polite", "group": "tone", "informational": False, "mean": 0.25, "n": 4, "failed": 3},
            {"name": "aside", "group": None, "informational": True, "mean": 1.0, "n": 4, "failed": 0},
        ],
        "failures": [{"kind": "timed_out", "message": "after 3 s", "count": 22, "case_ids": ["c", "<b>"]},
                     {"kind": "raised", "message": "no", "count": 1, "case_ids": ["e"]}],
        "slowest": [{"id": "a", "duration_ms": 1_500.0}],
    }  # fmt: skip


def test_evaluation_page__says_what_was_measured(read: Read, answer: dict[str, Any]) -> None:
    """Objective with interval, fields, checks, failures, times and tokens, and every case."""
    taken = read(evaluation_page(answer))
    for said in (
        "words Baseline on TRAIN · dataset letters@sha256:dddddddddddd · commit cccccccccccc",
        "Objective 0.400 95 % interval 0.100 to 0.700", "Over the scored 0.600", "Scored 2 of 3 cases",
        "Failed 1 count 0 in the objective", "the bootstrap", "2 more cases of the split were left out",
        "Field 0 to 1 Mean kind 0.750", "tone / polite 0.250 3 4", "aside informational 1.000 0 4",
        "timed out 22 after 3 s c, <b>, and 20 more", "raised 1 no e",
        "Median time 12 ms 95th percentile 900 ms", "Further attempts 2", "Input tokens 1,200", "Output tokens 30",
        "Cost –",
        "Slowest cases Time a 1.5 s", "c failed",
    ):  # fmt: skip
        assert said in taken.text, said
    assert [one["id"] for one in taken.all("section")] == ["result", "fields", "checks", "failures", "times", "cases"]
    assert len(taken.all("svg", "interval")) == 1
    assert "tile bad" in [one["class"] for one in taken.all("div", "tile")]


def test_evaluation_page__candidate_in_a_folder__is_named(read: Read, answer: dict[str, Any]) -> None:
    """A candidate by its number, a local dataset by its path; nothing failed and nothing left out is not said."""
    answer |= {"candidate_id": "run_1.4", "dataset": {"path": "/data/letters"}, "split_cases": 3}
    answer["report"]["failed"] = 0
    taken = read(evaluation_page(answer))
    assert "Candidate #4 on TRAIN · dataset /data/letters" in taken.text
    assert "left out " not in taken.text.replace("failed cases left out", "")
    assert "tile bad" not in [one["class"] for one in taken.all("div", "tile")]


def test_evaluation_page__empty_answer__is_a_page(read: Read) -> None:
    """Nothing known is a dash."""
    taken = read(evaluation_page({"checks": [{}], "failures": [{}], "slowest": [{}]}))
    assert "Objective – Over the scored –" in taken.text
    assert taken.all("svg", "interval") == []
