"""Captured output: what is kept, and what is said about the rest."""

from hypothesis import given
from hypothesis import strategies as st

from beaker.runtime.capture import Capture


@given(st.lists(st.binary(max_size=40)), st.integers(2, 60))
def test_capture__any_pieces__keeps_both_ends_and_counts_the_gap(pieces, limit):
    """Short output is kept whole; of long output the first and last bytes, with the number of bytes between them."""
    capture = Capture(limit)
    for piece in pieces:
        capture.feed(piece)
    data = b"".join(pieces)
    head, tail = limit // 2, limit - limit // 2
    if len(data) <= limit:
        expected = data.decode("utf-8", "backslashreplace")
    else:
        ends = [part.decode("utf-8", "backslashreplace") for part in (data[:head], data[-tail:])]
        expected = f"{ends[0]}\n[... {len(data) - limit} bytes left out ...]\n{ends[1]}"
    assert capture.take() == expected
    assert capture.take() == ""
