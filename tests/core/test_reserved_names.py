"""Spellings of `.git` and `.beaker`: all that some file system takes for them, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.reserved_names import is_git_name, reserved_part

SPELLINGS = [
    ".git", ".GIT", ".Git", ".git.", ".git ", ".git . .", ".git\t", "git~1", "GIT~1", "git~1.", ".g\u200cit",
    ".git\u200d", "\u200e.git", ".\ufeffgit", ".gi\u202et", ".git::$INDEX_ALLOCATION", ".git:x",
]  # fmt: skip
OWN = [
    ".beaker", ".Beaker", ".bea\u212aer", ".beaker. ", ".bea\u200bker", "beaker~1", "BEAKER~4", ".beaker:stream",
]  # fmt: skip
FREE = [
    ".gitignore", ".github", ".gitmodules", "git", "git~", "git~12", "a.git", ".git-x", "beaker", "beaker~5",
    ".beakers", ".beaker-changes", "..git", "a~1", "...", "é", ".gít", "x.git ", ".env",
]  # fmt: skip


@pytest.mark.parametrize("part", SPELLINGS)
def test_reserved_part__any_spelling_of_git__is_found(part: str) -> None:
    """Wherever it stands in a path."""
    assert is_git_name(part)
    for path in (part, f"{part}/config", f"a/{part}", f"a/.b/{part}/hooks/x", f"é/{part}"):
        assert reserved_part(path) == part


@pytest.mark.parametrize("part", OWN)
def test_reserved_part__any_spelling_of_beaker__is_found(part: str) -> None:
    """Beaker's folder is nobody's document either, and is not Git's."""
    assert not is_git_name(part)
    for path in (part, f"{part}/beaker.yaml", f"a/{part}", f"a/.b/{part}/x"):
        assert reserved_part(path) == part


@pytest.mark.parametrize("part", FREE)
def test_reserved_part__another_name__is_free(part: str) -> None:
    """A name that only resembles one stays usable."""
    assert not is_git_name(part)
    assert reserved_part(part) is reserved_part(f"a/{part}/b") is None


@given(st.lists(st.text(st.sampled_from(".gitGIT~1beakr \u200c:/"), min_size=1, max_size=8), min_size=1).map("/".join))
def test_reserved_part__shortcut__hides_nothing(path: str) -> None:
    """The answer for a path is the answer for its components."""
    reserved = [part for part in path.split("/") if reserved_part(f"é/{part}") is not None]
    assert reserved_part(path) == (reserved[0] if reserved else None)
