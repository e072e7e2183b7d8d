"""`.beaker/.gitignore`: secrets and run state stay out of commits, whatever the file held before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.files.ignoring import IGNORED, completed_ignores


@pytest.mark.parametrize(
    "before, after",
    [
        (None, "".join(f"{line}\n" for line in IGNORED).encode()),
        (b"", b".env\nlocal/\n"),
        (b".env\nlocal/\n", None),
        (b" .env \r\nlocal/\r\n", None),
        (b"*\n", None),
        (b".env", b".env\nlocal/\n"),
        (b"traces/\r\n", b"traces/\r\n.env\r\nlocal/\r\n"),
        (b"# .env\nlocal/", b"# .env\nlocal/\n.env\n"),
        (b"\xff\nlocal/\n", b"\xff\nlocal/\n.env\n"),
    ],
)
def test_completed_ignores__listed(before: bytes | None, after: bytes | None) -> None:
    """Lines that lack are added at the end, in the file's own line ends."""
    assert completed_ignores(before) == after


@given(st.binary() | st.sampled_from([b".env\n", b"local/\n", b"a\r\n"]))
def test_completed_ignores__any_file__keeps_what_it_held_and_is_complete_then(before: bytes) -> None:
    """Nothing is changed but the end, and once is enough."""
    after = completed_ignores(before)
    if after is not None:
        assert after.startswith(before)
        assert completed_ignores(after) is None
