"""The report of a run as a whole: complete, safe whatever the answers hold, and right in what it says."""

import re
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beaker.core.report import RunReport, candidate_ids, compared_candidate, report_page

Read = Callable[[str], Any]

HOSTILE = "</style><script>alert(1)</script><img src=http://x.test onerror=alert(2)>\"'&\u202e\x1b[2J\ud800"

ELEMENTS = {
    "a", "b", "body", "circle", "code", "details", "div", "footer", "g", "h1", "h2", "h3", "head", "header", "html",
    "i", "li", "line", "main", "meta", "nav", "ol", "p", "pre", "section", "span", "style", "summary", "svg", "table",
    "tbody", "td", "text", "th", "thead", "title", "tr", "ul",
}  # fmt: skip
ATTRIBUTES = {
    "aria-hidden", "aria-label", "charset", "class", "content", "cx", "cy", "data-name", "dx", "dy", "height", "href",
    "http-equiv", "id", "lang", "name", "open", "r", "role", "scope", "style", "title", "width", "x", "x1", "x2", "y",
    "y1", "y2",
}  # fmt: skip


def assert_harmless(page: str, read: Read) -> Any:
    """Only our elements, only our attributes, no address but places within the page; it can be written as UTF-8."""
    page.encode("utf-8")
    taken = read(page)
    assert {tag for tag, _ in taken.elements} <= ELEMENTS
    for _, attributes in taken.elements:
        assert attributes.keys() <= ATTRIBUTES
        assert (attributes.get("href") or "#").startswith("#")
        assert "url(" not in (attributes.get("style") or "")
    (style,) = taken.styles
    assert not re.search(r"url\(|@import|@font-face|//", style)
    assert "default-src 'none'" in page
    return taken


def test_report_page__completed_run__says_what_was_found(read: Read, sample: dict[str, Any]) -> None:
    """Result, curve, tree, cases, changes, costs and settings, in words."""
    page = report_page(
        RunReport(
            **sample,
            before={"book": {"2.md": "a\n", "old.md": "x\n"}},
            after={"book": {"2.md": "b\n"}},
            patch="diff --git a/f.py b/f.py\n--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n-1\n+2\n",
        )
    )
    taken = assert_harmless(page, read)
    for said in (
        "words COMPLETED run_1 dataset letters@sha256:dddddddddddd · a/b at cccccccccccc · started 2026-03-01",
        "The winner is better than the baseline on held-out cases, by +0.500.",
        "Baseline on TEST 0.300 1 failed Winner on TEST 0.800 #2 Difference +0.500 95 % interval +0.200 to +0.700",
        "Held-out cases 30", "paired bootstrap", "The search ended because all proposals were made.",
        "The mean over the 2 cases of TRAIN that select",
        "best so far accepted baseline shown in this report rejected",
        "4 candidates: the baseline, 2 accepted, 1 rejected.", "#2 winner",
        "Held out: no decision of the search saw them.", "Field 0 to 1 Baseline Winner Change kind 0.250 0.750 +0.500",
        "Case by case", "1 case got worse", "1 case got better",
        "Documents: 2 files", "book/2.md updated +1 −1", "book/old.md deleted −1",
        "Repository: 1 file", "f.py updated +1 −1",
        "Rollouts 60 of 500", "Winner on TEST 1,200 30", "Baseline on TRAIN 1,200 30", "2 proposals",
        "commit cccccccc", "created 2026-03-01T10:00:00Z", "4 settings",
        "extra {}", "harness_optimization.proposer_env []", "harness_optimization.seed 1", "max_concurrency 4",
    ):  # fmt: skip
        assert said in taken.text, said
    anchors = [one["id"] for one in taken.all("section")]
    assert anchors == ["result", "scores", "candidates", "test", "train", "changes", "costs", "settings"]
    assert [one["href"] for one in taken.all("a")] == [f"#{anchor}" for anchor in anchors]
    assert taken.text.startswith("Beaker report of run_1")


@pytest.mark.parametrize(
    "changes, said",
    [
        (
            {"low": -0.2, "high": -0.1, "difference": -0.15},
            "The winner is worse than the baseline on held-out cases, by −0.150.",
        ),
        (
            {"low": -0.2, "high": 0.1, "difference": -0.05},
            "do not tell the two apart: −0.050, with 0 inside the interval.",
        ),
        ({"low": 0.0, "high": 0.1, "difference": 0.05}, "do not tell the two apart: +0.050"),
        ({"low": -0.1, "high": 0.0, "difference": -0.05}, "do not tell the two apart: −0.050"),
        (
            {"low": None, "high": None, "difference": None, "baseline": None},
            "the baseline did not, so nothing can be said",
        ),
    ],
)
def test_report_page__verdict__follows_the_interval(
    read: Read, sample: dict[str, Any], changes: Any, said: str
) -> None:
    """Better or worse only where the interval says so."""
    sample["run"]["result"]["test"] |= changes
    taken = assert_harmless(report_page(RunReport(**sample)), read)
    assert said in taken.text
    tone = "good" if (changes["low"] or 0) > 0 else "bad" if (changes["high"] or 0) < 0 else None
    assert [one["class"] for one in taken.all("div", "tile")][2] == f"tile {tone}" if tone else "tile"
    assert len(taken.all("svg", "interval")) == (changes["low"] is not None)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"n": 1, "low": 1.0, "high": 1.0, "difference": 1.0},
            "The winner did better than the baseline on held-out cases, by +1.000, but 1 pair is too few to tell.",
        ),
        (
            {"n": 5, "low": -0.5, "high": -0.1, "difference": -0.2},
            "The winner did worse than the baseline on held-out cases, by −0.200, but 5 pairs are too few to tell.",
        ),
        (
            {"n": 30, "low": 0.0, "high": 0.0, "difference": 0.0},
            "The winner did as well as the baseline on held-out cases, but all 30 pairs differ by the same, so",
        ),
    ],
)
def test_report_page__interval_that_says_little__claims_nothing(
    read: Read, sample: dict[str, Any], changes: Any, said: str
) -> None:
    """With few pairs, or no spread, the verdict is no certainty, and no colour says otherwise."""
    sample["run"]["result"]["test"] |= changes
    taken = read(report_page(RunReport(**sample)))
    assert said in taken.text
    assert [one["class"] for one in taken.all("div", "tile")][2] == "tile"


def test_report_page__interval_without_width__draws_none(read: Read, sample: dict[str, Any]) -> None:
    """All differences alike: the words say it."""
    sample["run"]["result"]["test"] |= {"low": 0.5, "high": 0.5}
    assert read(report_page(RunReport(**sample))).all("svg", "interval") == []


def test_report_page__baseline_wins__shows_its_own_cases(read: Read, sample: dict[str, Any]) -> None:
    """There is nothing to compare with, so the baseline's cases stand alone."""
    sample["candidates"]["winner_id"] = "run_1.0"
    sample["run"]["result"] |= {"winner_id": "run_1.0"}
    taken = read(report_page(RunReport(**sample, before={"g": {"a": "1"}}, after={"g": {"a": "1"}})))
    assert "No candidate beat the baseline on TRAIN, so the baseline stays." in taken.text
    assert "Field 0 to 1 Baseline kind 0.250" in taken.text
    assert "t1 failed" in taken.text
    assert "Nothing differs from the baseline." in taken.text
    assert "Winner on TEST 1,200" not in taken.text


def test_report_page__running__says_what_is_not_proven(read: Read, sample: dict[str, Any]) -> None:
    """Without a result the best so far is held against the baseline on TRAIN."""
    run = sample["run"] | {"status": "RUNNING", "result": None, "finish_reason": None, "selection": None}
    waiting = sample | {"run": run, "candidates": sample["candidates"] | {"winner_id": None}}
    taken = assert_harmless(report_page(RunReport(**waiting)), read)
    for said in ("The best candidate so far is #2. Nothing is proven on held-out cases.", "Best on TRAIN 0.750",
                 "The mean over the selection set of TRAIN, a failed case counting 0.", "Best on TEST"):  # fmt: skip
        assert said in taken.text, said
    assert "search ended" not in taken.text
    named = read(report_page(RunReport(**waiting, candidate_id="run_1.1")))
    assert "This candidate is #1. Nothing is proven on held-out cases." in named.text
    assert "Candidate on TRAIN 0.500" in named.text
    alone = read(report_page(RunReport(**waiting, candidate_id="run_1.0")))
    assert "Only the baseline has been scored so far." in alone.text


def test_report_page__order_of_the_listing__does_not_matter(read: Read, sample: dict[str, Any]) -> None:
    """The baseline is found wherever it stands, and without a rejected candidate nothing is said of any."""
    sample["candidates"]["candidates"] = sample["candidates"]["candidates"][2::-1]
    sample["run"] |= {"result": None}
    taken = read(report_page(RunReport(**sample)))
    assert "Baseline on TRAIN 0.250 #0" in taken.text
    assert "shown in this report rejected" not in taken.text


def test_report_page__failed_run__shows_why(read: Read, sample: dict[str, Any]) -> None:
    """The error, the warnings, and a reason of an unknown kind as it is."""
    sample["run"] |= {
        "status": "FAILED", "result": None, "error_message": " it broke\nbadly ", "finish_reason": "boredom",
        "warnings": [{"where": "config", "message": "odd"}, {"message": "alone"}], "settings": {},
    }  # fmt: skip
    sample["candidates"] = {}
    taken = assert_harmless(report_page(RunReport(**sample)), read)
    for said in ("No candidate has been scored yet.", "it broke badly", "It ended by boredom.", "config: odd", "alone"):
        assert said in taken.text, said
    assert [one["id"] for one in taken.all("section")] == ["result", "costs", "settings"]
    assert "setting" not in taken.text.split("How it was run")[-1]


def test_report_page__many_candidates__shows_those_that_matter(
    read: Read, sample: dict[str, Any], make_candidate: Any
) -> None:
    """The rest can be opened."""
    sample["candidates"]["candidates"] += [make_candidate(n, 0, n / 1000) for n in range(4, 304)]
    taken = read(report_page(RunReport(**sample)))
    assert "304 candidates: the baseline, 302 accepted, 1 rejected. Shown are the 40 that matter most" in taken.text
    assert "All 304 candidates" in taken.text
    assert len(taken.all("li", None)) >= 344


def test_report_page__empty_answers__is_a_page(read: Read) -> None:
    """Nothing known is said as such; a page it is all the same."""
    taken = assert_harmless(report_page(RunReport(run={}, candidates={}, reports={})), read)
    assert "UNKNOWN" in taken.text
    assert compared_candidate({}, {}) is None
    assert compared_candidate({}, {"winner_id": 7}) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(HOSTILE),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


def poisoned(data: Any, draw: Any) -> Any:
    """The same answer with some of its values replaced by others."""
    if draw(st.integers(0, 14)) == 0:
        return draw(json_values)
    if isinstance(data, dict):
        return {key: poisoned(item, draw) for key, item in data.items()}
    return [poisoned(item, draw) for item in data] if isinstance(data, list) else data


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_report_page__any_answers__make_a_harmless_page(
    sample: dict[str, Any], read: Read, data: st.DataObject
) -> None:
    """Whatever a place answers: no exception, no element or attribute of another's making, no address."""
    changed = {name: poisoned(answer, data.draw) for name, answer in sample.items()}
    parts = {name: answer if isinstance(answer, dict) else {} for name, answer in changed.items()}
    assert_harmless(report_page(RunReport(**parts)), read)


def test_report_page__hostile_text_everywhere__stays_text(read: Read, sample: dict[str, Any]) -> None:
    """Every text replaced by markup: the page has the same elements as without."""

    def spoiled(data: Any) -> Any:
        if isinstance(data, dict):
            return {key: spoiled(item) for key, item in data.items()}
        if isinstance(data, list):
            return [spoiled(item) for item in data]
        return f"{data}{HOSTILE}" if isinstance(data, str) and data not in KEPT else data

    names = {"book": {"2.md": "a\n", "old.md": "x\n"}}, {"book": {"2.md": "b\n"}}
    plain = read(report_page(RunReport(**sample, before=names[0], after=names[1])))
    spoiled_page = report_page(
        RunReport(
            **{key: spoiled(item) for key, item in sample.items()}, before=names[0], after={"book": {"2.md": HOSTILE}}
        )
    )
    taken = assert_harmless(spoiled_page, read)
    assert "<script>alert(1)</script>" in taken.text
    assert "\\u202e\\x1b[2J\\ud800" in taken.text
    assert {tag for tag, _ in taken.elements} <= {tag for tag, _ in plain.elements}


KEPT = {"train", "test", "selection", "run_1.0", "run_1.1", "run_1.2", "run_1.3", "baseline", "accepted", "rejected"}


def test_candidate_ids__the_baseline_comes_first(make_candidate: Any) -> None:
    """Whatever order a place lists them in."""
    listing = {"candidates": [make_candidate(1, 0, 0.5), make_candidate(2, 0, 0.5), make_candidate(0, None, 0.5)]}
    assert candidate_ids(listing) == ("run_1.0", "run_1.1", "run_1.2")
    assert candidate_ids({}) == ()


def test_run_report__is_a_value() -> None:
    """As every value of the core."""
    assert attrs.evolve(RunReport(run={}, candidates={}, reports={}), patch="x").patch == "x"
