"""Markup: text is escaped, whatever it says, and attributes are what they should be."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.report.markup import Markup, element, escaped, joined, percent
from beaker.core.text import visible

HOSTILE = "<script>alert(1)</script> \"'&\u202e\x1b[31m"


@given(st.text())
def test_escaped__any_text__is_text_again_and_nothing_else(text: str) -> None:
    """A browser reads exactly the text, with control characters visible, and no tag."""
    from html import unescape

    made = escaped(text)
    assert not set("<>\"'") & set(made)
    assert unescape(made) == visible(text)
    made.encode("utf-8")


def test_element__children_and_attributes__are_written_in_order() -> None:
    """Text is escaped, markup kept, nothing left out of a list; odd attributes are left out or stand alone."""
    made = element(
        "td", "a<b", Markup("<br>"), None, ["x", ("y", Markup("<i></i>"))],
        class_="num", data_name='say "hi"', open=True, hidden=False, title=None, x=1.5, width=7, aria_label="é",
    )  # fmt: skip
    assert made == (
        '<td class="num" data-name="say &quot;hi&quot;" open x="1.5" width="7" aria-label="é">a&lt;b<br>xy<i></i></td>'
    )
    assert isinstance(made, Markup)


@pytest.mark.parametrize("share, text", [(0, "0%"), (1, "100%"), (1 / 3, "33.33%"), (0.5, "50%"), (-0.005, "-0.5%")])
def test_percent__has_at_most_two_decimals(share: float, text: str) -> None:
    """Geometry stays short."""
    assert percent(share) == text


def test_joined__hostile_text__becomes_text(read: Callable[[str], Any]) -> None:
    """Nothing said becomes an element."""
    page = read(joined([HOSTILE, element("p", HOSTILE, title=HOSTILE)]))
    assert [tag for tag, _ in page.elements] == ["p"]
    assert page.all("p")[0]["title"] == visible(HOSTILE)
    assert "".join(page.texts) == visible(HOSTILE) * 2
