"""The estimate of tokens, and cutting to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.reflection.budget import MARGIN, SMALLEST_PROMPT, cut, tokens, window


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("a", 1), ("abc", 1), ("abcd", 2), ("é", 1), ("日本", 2), ("ab日", 2), ("\x7f\x80", 2)]
)
def test_tokens__of_a_text__counts_three_ascii_characters_as_one_and_others_singly(text: str, count: int) -> None:
    """A part of a token is a token."""
    assert tokens(text) == count


@given(st.text(max_size=400), st.integers(0, 200))
def test_cut__any_text__keeps_its_ends_within_the_limit(text: str, limit: int) -> None:
    """What fits stays as it is; what does not loses its middle, and the mark says how much."""
    made = cut(text, limit)
    if tokens(text) <= limit:
        assert made == text
    else:
        assert tokens(made) <= max(limit, tokens("\n[... 400 characters left out ...]\n"))
        head, mark, tail = made.partition("\n[... ")
        assert mark
        left, said, tail = tail.partition(" characters left out ...]\n")
        assert said
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(head) + int(left) + len(tail) == len(text)


def test_cut__of_a_long_text__keeps_twice_as_much_of_the_beginning() -> None:
    """The beginning says what a thing is, the end how it ended."""
    head, _, tail = cut("a" * 3000 + "b" * 3000, 315).partition("\n[... 5100 characters left out ...]\n")
    assert (head, tail) == ("a" * 600, "b" * 300)


def test_window__of_a_context__gives_the_answer_at_most_half() -> None:
    """What is asked for, as far as a prompt still fits."""
    assert (window(16_384, 4_096).prompt, window(16_384, 4_096).answer) == (16_384 - 4_096 - MARGIN, 4_096)
    assert (window(4_096, 4_096).prompt, window(4_096, 4_096).answer) == (2_048 - MARGIN, 2_048)
    assert window(512, 512).prompt == SMALLEST_PROMPT
