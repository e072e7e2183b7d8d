"""Captured output: what is kept, what is said about the rest, and that no part of a secret is."""

from hypothesis import given
from hypothesis import strategies as st

from beaker.core.environment import redactor
from beaker.runtime.capture import Capture

SECRET = b"ABCDEFGHIJKLMNOP"  # no letter of it stands in anything else


@given(st.lists(st.binary(max_size=40)), st.integers(2, 60))
def test_capture__any_pieces__keeps_both_ends_and_counts_the_gap(pieces, limit):
    """Short output is kept whole; of long output the first and last bytes, with the number of bytes between them."""
    capture = Capture(limit)
    for piece in pieces:
        capture.feed(piece)
    text = b"".join(pieces).decode("utf-8", "backslashreplace")
    data = text.encode()
    head, tail = limit // 2, limit - limit // 2
    if len(data) <= limit:
        assert capture.take() == text
    else:
        ends = [part.decode(errors="ignore") for part in (data[:head], data[-tail:])]
        assert capture.take() == f"{ends[0]}\n[... {len(data) - limit} bytes left out ...]\n{ends[1]}"
    assert capture.take() == ""


@given(st.integers(0, 300), st.integers(2, 60), st.integers(0, 40))
def test_capture__longer_than_it_holds__counts_the_gap(size, limit, margin):
    """Also what was dropped while the stream went by is counted, and both ends are the stream's."""
    capture = Capture(limit, margin=margin)
    for number in range(size):
        capture.feed(b"%d" % (number % 10))
    text = capture.take()
    if size > limit:
        first, gap, last = text.split("\n")
        assert first == "".join(str(number % 10) for number in range(limit // 2))
        assert last == "".join(str(number % 10) for number in range(size - limit + limit // 2, size))
        assert gap == f"[... {size - limit} bytes left out ...]"


@given(
    st.lists(st.text("xyz\n", max_size=20).map(str.encode) | st.just(SECRET)), st.integers(2, 60), st.integers(1, 50)
)
def test_capture__secrets_anywhere__leave_no_part(pieces, limit, size):
    """However the stream arrives, and wherever the cut goes through."""
    capture = Capture(limit, redactor([SECRET.decode()]), margin=20)
    data = b"".join(pieces)
    for start in range(0, len(data), size):
        capture.feed(data[start : start + size])
    assert not set(SECRET.decode()) & set(capture.take())


def test_capture__a_secret_of_64_kib_at_the_cut__is_gone():
    """A command that prints its key between other things, at every place around the cut."""
    secret = "".join(chr(0x4E00 + number % 20_000) for number in range(21_800))
    assert 65_000 < len(secret.encode()) < 65_536
    for before in (0, 20_000, 32_000, 40_000, 200_000):
        for after in (0, 32_000, 400_000):
            capture = Capture(65_536, redactor([secret]))
            capture.feed(b"x" * before + secret.encode() + b"y" * after + secret.encode() + b"z" * before)
            text = capture.take()
            assert not set(secret) & set(text)
            assert len(text.encode()) < 65_600
