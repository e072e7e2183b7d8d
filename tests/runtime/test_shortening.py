"""Shortening text with secrets: what is kept, and that no part of a secret is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.environment import redactor
from beaker.runtime.shortening import MARGIN, bounded, preliminary, shortened

SECRET = "ABCDEFGHIJKLMNOP"  # no letter of it stands in anything else
REDACT = redactor([SECRET])
PLAIN = st.text("xyz\n", max_size=60)


@given(st.lists(PLAIN | st.just(SECRET), max_size=12), st.integers(2, 50), st.integers(16, 40))
def test_shortened__after_a_preliminary_cut__keeps_no_part_of_a_secret(parts, limit, margin):
    """Wherever secrets stand and whatever is cut, once or twice."""
    text = "".join(parts)
    told = shortened(preliminary(text, limit, margin=margin), limit, REDACT, margin=margin)
    assert not set(SECRET) & set(told)


@given(st.text(max_size=300), st.integers(2, 60), st.integers(0, 40))
def test_shortened__nothing_secret__is_as_if_cut_once(text, limit, margin):
    """Both ends are kept, and the gap tells how much is missing in all."""
    cut_once = bounded(text, limit)
    told = shortened(preliminary(text, limit, margin=margin), limit, lambda text: text, margin=margin)
    if "characters left out" not in text:
        assert told == cut_once


def test_shortened__a_secret_of_64_kib_at_the_cut__is_gone():
    """The margin is wider than any secret that an environment variable can hold."""
    secret = "".join(chr(0x4E00 + number % 20_000) for number in range(65_536))
    redact = redactor([secret])
    for before in (0, 500, 999, 1_500):
        for after in (0, 999, 200_000):
            text = "x" * before + secret + "y" * after + secret + secret + "z" * before
            told = shortened(preliminary(text, 2_000), 2_000, redact)
            assert not any(character in told for character in set(secret))
            assert len(told) < 2_100
    assert len(secret) < MARGIN


@pytest.mark.parametrize("text", ["short", "", "a\ud800b"])
def test_bounded__short__is_the_text_in_valid_unicode(text):
    """Only lone surrogates change."""
    assert bounded(text, 10) == text.encode("utf-8", "backslashreplace").decode()
