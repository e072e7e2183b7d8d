"""Whole pages, kept as they are: a change of a page is seen, and meant.

`BEAKER_WRITE_GOLDEN=1` writes them anew, to be looked at and committed with the change.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.core.report import RunReport, evaluation_page, report_page
from beaker.core.report.style import STYLE

GOLDEN = Path(__file__).parent / "golden"

BEFORE = {"book": {"2.md": "a\nb\n", "old.md": "x\n", "same.md": "same"}}
AFTER = {"book": {"2.md": "a\nc <b>\n", "new.md": "no line end", "same.md": "same"}}
PATCH = """\
diff --git a/f.py b/f.py
old mode 100644
new mode 100755
--- a/f.py
+++ b/f.py
@@ -1 +1 @@
-1
+2
diff --git a/old.txt b/new.txt
rename from old.txt
rename to new.txt
"""


def completed(sample: dict[str, Any], make_case: Any, make_report: Any, make_candidate: Any) -> str:
    """A run with everything in it."""
    checks = [{"name": "polite", "verdict": "fail", "message": "rude", "group": "tone", "informational": False}]
    sample["reports"]["eval_reports"][3]["cases"][0]["checks"] = checks
    return report_page(RunReport(**sample, before=BEFORE, after=AFTER, patch=PATCH))


def running(sample: dict[str, Any], make_case: Any, make_report: Any, make_candidate: Any) -> str:
    """A run that goes on, with many candidates, cases and proposals."""
    sample["run"] |= {"status": "RUNNING", "result": None, "finish_reason": None, "completed_at": None}
    sample["candidates"] |= {"winner_id": None, "proposals": [{"n": n, "outcome": "no_change"} for n in range(3)]}
    sample["candidates"]["candidates"] += [make_candidate(n, n // 2, n / 60) for n in range(4, 43)]
    cases = [[make_case(f"c{n}", (n * step) % 11 / 10) for n in range(12)] for step in (3, 7)]
    pair = [make_report(n, "train", listed) for n, listed in zip((0, 2), cases, strict=True)]
    sample["reports"]["eval_reports"] = pair
    return report_page(RunReport(**sample))


def failed(sample: dict[str, Any], make_case: Any, make_report: Any, make_candidate: Any) -> str:
    """A run that failed with nothing but its baseline, which is shown alone."""
    sample["run"] |= {
        "status": "FAILED", "result": None, "finish_reason": "error", "error_message": "it broke",
        "warnings": [{"where": "config", "message": "odd"}],
    }  # fmt: skip
    listing = {"candidates": sample["candidates"]["candidates"][:1], "winner_id": None, "proposals": []}
    sample["run"]["progress"]["best"] = {"candidate_id": "run_1.0", "train": 0.25}
    return report_page(RunReport(run=sample["run"], candidates=listing, reports=sample["reports"]))


def evaluation(sample: dict[str, Any], make_case: Any, make_report: Any, make_candidate: Any) -> str:
    """An evaluation with failures and checks."""
    report = make_report(0, "test", [make_case("a", 1.0), make_case("b", None), make_case("c", 0.5)], failed=1)
    return evaluation_page({
        "integration_id": "words", "candidate_id": "run_1.2", "split": "test", "commit": "c" * 40, "split_cases": 4,
        "dataset": {"name": "letters", "revision": "1", "path": None}, "retried": 1, "report": report,
        "interval": {"value": 0.5, "low": 0.2, "high": 0.9, "method": "the bootstrap"},
        "checks": [{"name": "polite", "group": None, "informational": True, "mean": 0.5, "n": 2, "failed": 1}],
        "failures": [{"kind": "raised", "message": "no", "count": 3, "case_ids": ["b", "d"]}],
        "slowest": [{"id": "a", "duration_ms": 1_500.0}],
    })  # fmt: skip


@pytest.mark.parametrize("make", [completed, running, failed, evaluation])
def test_page__is_the_one_that_was_kept(
    make: Callable[..., str], sample: dict[str, Any], make_case: Any, make_report: Any, make_candidate: Any
) -> None:
    """Byte for byte, the style sheet aside, with an element on each line."""
    page = make(sample, make_case, make_report, make_candidate)
    assert page.count(STYLE) == 1
    lines = page.replace(STYLE, "STYLE").replace("><", ">\n<")
    kept = GOLDEN / f"{make.__name__}.html"
    if os.environ.get("BEAKER_WRITE_GOLDEN"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(lines, encoding="utf-8")
    assert lines == kept.read_text(encoding="utf-8")
