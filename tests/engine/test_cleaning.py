"""Laws of taking out of text what must not be kept."""

from pathlib import Path
from typing import Any

import pytest

from beaker.core.cases import CaseScore, Check, FieldDiff
from beaker.core.traces import LONGEST, MAX_TRACE
from beaker.engine.cleaning import clean_json, clean_score, clean_trace, cleaner
from beaker.runtime.shortening import preliminary

CLEAN = cleaner(lambda text: text.replace("sesame", "[redacted]"), Path("/tmp/beaker-run_1-ab.c"))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ('File "/tmp/beaker-run_1-ab.c/checkouts/rollout-12/src/app.py", line 3', 'File "src/app.py", line 3'),
        ("cwd: /tmp/beaker-run_1-ab.c/checkouts/scorer", "cwd: ."),
        ("/tmp/beaker-run_1-ab.c/rollouts/17/targets/kb/x.md", "{rollout}/targets/kb/x.md"),
        ("/tmp/beaker-run_1-ab.c/proposals/3/documents/kb", "{workspace}/documents/kb"),
        ("/tmp/beaker-run_1-ab.c/dataset/train.jsonl:4: bad", "train.jsonl:4: bad"),
        ("/tmp/beaker-run_1-ab.c/storage", "{run}/storage"),
        ("/tmp/beaker-run_1-abxc/rollouts/1", "/tmp/beaker-run_1-abxc/rollouts/1"),
        ("open sesame in /tmp/beaker-run_1-ab.c/rollouts/2", "open [redacted] in {rollout}"),
        ("nothing of the kind", "nothing of the kind"),
    ],
)
def test_cleaner__paths_and_secrets__are_named_alike_each_time(said: str, kept: str) -> None:
    """What differs from attempt to attempt is replaced by what does not."""
    assert CLEAN(said) == kept


WORK = "/tmp/beaker-run_1-ab.c"


def test_clean_json__every_text_in_it__is_cleaned() -> None:
    """At any depth, in names too; numbers and the rest stay."""
    said = {f"{WORK}/rollouts/3/x": ["open sesame", 1, None, True, 0.5, {"a": f"{WORK}/rollouts/4"}], "b": "sesame"}
    assert clean_json(said, CLEAN) == {
        "{rollout}/x": ["open [redacted]", 1, None, True, 0.5, {"a": "{rollout}"}],
        "b": "[redacted]",
    }


def test_clean_score__what_explains_it__is_cleaned() -> None:
    """Every text of differences and checks; numbers, verdicts and names of fields are as they were."""
    score = CaseScore(
        0.5,
        {"sesame": 0.5},
        [FieldDiff("sesame", {"x": "sesame"}, [f"{WORK}/rollouts/3"])],
        [
            Check("sesame!", 0.25, "sesame", ["sesame"], f"in {WORK}/storage", "sesame", True, "sesame"),
            Check(f"{WORK}/checkouts/scorer/", "pass"),
        ],
    )
    assert clean_score(score, CLEAN) == CaseScore(
        0.5,
        {"sesame": 0.5},
        [FieldDiff("[redacted]", {"x": "[redacted]"}, ["{rollout}"])],
        [
            Check(
                "[redacted]!", 0.25, "[redacted]", ["[redacted]"], "in {run}/storage", "[redacted]", True, "[redacted]"
            ),
            Check("{run}", "pass"),
        ],
    )


def test_clean_trace__none__stays_none() -> None:
    """A case without a trace has none afterwards."""
    assert clean_trace(None, CLEAN) is None


def test_clean_trace__long_text__is_cleaned_before_it_is_cut() -> None:
    """A secret that a cut would go through is found whole, though the process that recorded it knew of no secret."""
    said = "x" * (LONGEST // 2 - 3) + "sesame" + "y" * 500_000
    trace: Any = {
        "model_calls": [{"input": preliminary(said, LONGEST)}],
        "errors": [{"message": f"{WORK}/rollouts/3: sesame"}],
    }
    cleaned: Any = clean_trace(trace, CLEAN)
    (call,) = cleaned["model_calls"]
    text = call["input"]
    assert text.startswith("x" * (LONGEST // 2 - 3) + "[re")
    assert "ses" not in text
    assert len(text) < LONGEST + 100
    assert cleaned["errors"] == [{"message": "{rollout}: [redacted]"}]


def test_clean_trace__evidence__is_cleaned_and_whole() -> None:
    """What was set aside for a proposer keeps its length."""
    long = "e" * (3 * LONGEST)
    trace: Any = {"evidence": [{"name": "sesame", "content": [long]}]}
    assert clean_trace(trace, CLEAN) == {"evidence": [{"name": "[redacted]", "content": [long]}]}


def test_clean_trace__too_large__is_bounded() -> None:
    """A process that lies about its trace cannot fill the store."""
    many: Any = [{"n": number, "output": "o" * LONGEST} for number in range(MAX_TRACE // LONGEST + 2)]
    cleaned = clean_trace({"stages": many, "usage": []}, CLEAN)
    assert cleaned is not None
    assert cleaned["truncated"] is True
    assert cleaned["stages"] == [{"n": number} for number in range(len(many))]
