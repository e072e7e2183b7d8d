"""Which changes of files lead to another check."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.file_changes import changed, changes_text, settled

LOOKS = st.dictionaries(
    st.sampled_from(["app.py", "log.txt", "a/train.jsonl", "out.bin"]), st.tuples(*[st.just(1)] * 3)
)
NEW, OLD = (2, 1, 1), (1, 1, 1)


@given(LOOKS, LOOKS)
def test_changed__two_looks__names_what_differs(
    known: dict[str, tuple[int, int, int]], now: dict[str, tuple[int, int, int]]
) -> None:
    """Nothing differs from itself, and what one look has and the other lacks does."""
    assert changed(known, known) == ()
    assert changed(known, now) == tuple(sorted(known.keys() ^ now.keys()))


@pytest.mark.parametrize("number", range(3))
def test_changed__one_part_of_a_stamp__is_enough(number: int) -> None:
    """Another time, another size or another file in its place is a change."""
    stamp = tuple(2 if at == number else 1 for at in range(3))
    assert changed({"a": OLD, "b": OLD}, {"a": (stamp[0], stamp[1], stamp[2]), "b": OLD}) == ("a",)


def test_settled__written_by_the_check__is_no_change() -> None:
    """What a check wrote is part of the state that it left; a new module is, too."""
    before, after = {"app.py": OLD, "log.txt": OLD}, {"app.py": OLD, "log.txt": NEW, "made.py": NEW}
    assert changed(settled(before, after), after) == ()


@pytest.mark.parametrize("path", ["app.py", ".beaker/beaker.yaml", "pyproject.toml", "d/train.jsonl", "test.jsonl"])
def test_settled__source_changed_during_the_check__is_a_change(path: str) -> None:
    """A source that was edited or removed while it was checked is checked again."""
    assert changed(settled({path: OLD}, {path: NEW}), {path: NEW}) == (path,)
    assert changed(settled({path: OLD}, {}), {}) == (path,)
    assert changed(settled({"notes.txt": OLD}, {}), {}) == ()


def test_changes_text__many__are_counted() -> None:
    """Three are named."""
    assert changes_text(("a",)) == "a"
    assert changes_text(("a", "b", "c")) == "a, b, c"
    assert changes_text(("a", "b", "c", "d", "e")) == "a, b, c and 2 more"
