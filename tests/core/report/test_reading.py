"""Reading answers: what is there is shown, what is odd is left out."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from beaker.core.report.reading import (
    SHOWN_TEXT,
    candidates,
    count,
    duration,
    label,
    listed,
    mapping,
    money,
    number,
    objects,
    report_of,
    score,
    share,
    signed,
    words,
)


def test_shapes__odd_values__become_empty() -> None:
    """An object, a list or a number, or nothing of the kind."""
    assert (mapping({"a": 1}), mapping([1]), mapping(None)) == ({"a": 1}, {}, {})
    assert (listed([1]), listed((2,)), listed("text"), listed(None)) == ([1], (2,), (), ())
    assert objects([{"a": 1}, 7, None]) == ({"a": 1},)
    assert (number(1), number(0.5), number(True), number("1"), number(math.nan), number(math.inf), number(10**400)) == (
        1, 0.5, None, None, None, None, None,
    )  # fmt: skip
    assert (share(0), share(1), share(0.5), share(1.01), share(-0.01), share(None)) == (0, 1, 0.5, None, None, None)


def test_words__long_text__is_cut_and_counted() -> None:
    """JSON that is no text is written as JSON; what is cut is counted."""
    assert (words("a"), words(None), words({"a": [1]}), words(7), words(math.nan)) == ("a", "", '{"a":[1]}', "7", "nan")
    assert words("x" * SHOWN_TEXT) == "x" * SHOWN_TEXT
    assert words("x" * (SHOWN_TEXT + 1_200)) == "x" * SHOWN_TEXT + "… (1,200 more characters)"
    assert words("abcdef", 4) == "abcd… (2 more characters)"


@pytest.mark.parametrize(
    "shown, given, text",
    [
        (score, 0.12345, "0.123"), (score, 1, "1.000"), (score, None, "–"), (score, "0.1", "–"),
        (signed, 0.5, "+0.500"), (signed, -0.25, "−0.250"), (signed, None, "–"),
        (count, 1234, "1,234"), (count, 9_999_999, "9,999,999"), (count, 12_345_678, "12.3 M"), (count, None, "–"),
        (money, 0, "$0.00"), (money, 0.00421, "$0.0042"), (money, 1, "$1.00"), (money, 1234.5, "$1,234.50"),
        (money, None, "–"),
        (duration, 0.49, "0.5 ms"), (duration, 10, "10 ms"), (duration, 999, "999 ms"), (duration, 1_000, "1.0 s"),
        (duration, 59_949, "59.9 s"), (duration, 60_000, "1 min 0 s"), (duration, 3_599_000, "59 min 59 s"),
        (duration, 3_660_000, "1 h 1 min"), (duration, None, "–"),
    ],
)  # fmt: skip
def test_figures__are_short_and_never_invented(shown: Callable[[Any], str], given: Any, text: str) -> None:
    """A figure in a form people read; a dash where there is none."""
    assert shown(given) == text


def test_label__is_the_number_of_a_candidate() -> None:
    """Ids of another making stay as they are."""
    assert (label("run_1.12"), label("cand-a"), label("x.y")) == ("#12", "cand-a", "x.y")


def test_candidates__tell_what_they_are(make_candidate: Callable[..., Any]) -> None:
    """Number, parent, scores and what changed; a rejected one's mean over some cases is none."""
    raced = make_candidate(3, 1, 0.5, status="rejected")
    changed = {"created": ["g/new"], "updated": ["g/old"], "deleted": ["g/gone"]}
    first, child, stopped, odd = candidates(
        {
            "candidates": [
                make_candidate(0, None, 0.25),
                make_candidate(1, 0, 0.5, summary=changed),
                raced,
                {"id": "x", "parent_id": 7},
                {"id": 9},
                5,
            ]
        }
    )
    assert (first.label, first.parent, first.objective, first.rollouts, first.test) == ("#0", None, 0.25, 10, None)
    assert (child.parent, child.status, child.reason) == ("run_1.0", "accepted", "reason 1")
    assert child.changed == ("+ g/new", "~ g/old", "− g/gone")
    assert stopped.objective is None
    assert (odd.label, odd.parent, odd.status, odd.objective, odd.rollouts, odd.changed) == (
        "x",
        None,
        "",
        None,
        None,
        (),
    )


def test_report_of__finds_the_split__but_no_minibatch(sample: dict[str, Any]) -> None:
    """A report over a minibatch compares with nothing."""
    found = sample["reports"]
    assert report_of(found, "run_1.2", "test")["id"] == "run_1.2.test"
    assert report_of(found, "run_1.1", "test") == {}
    assert report_of(found, None, "test") == {}
    found["eval_reports"][0]["set"] = "minibatch"
    assert report_of(found, "run_1.0", "train") == {}
