"""Names of resources, paths below them, and the files that prompts become."""

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.resource_trees import MAX_PROMPT_FILE_NAME, prompt_file_names, resource_name, tree_path


@pytest.mark.parametrize("name", ["a", "A.b-c_1", "7", "beaker-repository2", "Prompts"])
def test_resource_name__single_component__is_kept(name: str) -> None:
    """Letters, digits, dots, dashes and underscores make a name; only the exact reserved words are taken."""
    assert resource_name(name, "r") == name


@pytest.mark.parametrize(
    "name, error, words",
    [
        ("prompts", ValueError, "r must not be 'prompts', which is reserved"),
        ("beaker-repository", ValueError, "reserved"),
        (" a", ValueError, "r must have no blanks around it, not ' a'"),
        ("a\n", ValueError, "no blanks"),
        ("", ValueError, "r must be a non-empty string"),
        ("a/b", ValueError, "r must start with a letter or digit"),
        (".a", ValueError, "letter or digit"),
        ("é", ValueError, "letter or digit"),
        (7, TypeError, "r must be a string, not int"),
        (None, TypeError, "not NoneType"),
    ],
)
def test_resource_name__anything_else__is_refused(name: Any, error: type[Exception], words: str) -> None:
    """A wrong type is told apart from a wrong name."""
    with pytest.raises(error, match=words):
        resource_name(name, "r")


@pytest.mark.parametrize(
    "given, kept",
    [
        ("a.md", "a.md"),
        ("a//b///c", "a/b/c"),
        ("a\\b", "a/b"),
        (" a b/c ", "a b/c"),
        (".hidden/x", ".hidden/x"),
        ("..a/b..", "..a/b.."),
        ("ab:c", "ab:c"),
    ],
)
def test_tree_path__relative__is_normalised(given: str, kept: str) -> None:
    """Separators are made `/`, one at a time; hidden parts and blanks inside stay."""
    assert tree_path(given, "p") == kept
    assert tree_path(kept, "p") == kept


@pytest.mark.parametrize(
    "path", ["/a", "a/", "\\a", "c:x", "C:/x", "//host/x", ".", "..", "a/../b", "./a", "a/.", "", 7]
)
def test_tree_path__absolute_or_leaving__is_refused(path: Any) -> None:
    """What does not stay below the resource, or names no file, is no path of one."""
    with pytest.raises(ValueError, match=r"^p must be"):
        tree_path(path, "p")


def test_tree_path__refusals__say_which_rule() -> None:
    """A path that is not relative and one that climbs are told apart."""
    with pytest.raises(ValueError, match="p must be a relative path of a file, not 'a/'"):
        tree_path("a/", "p")
    with pytest.raises(ValueError, match=r"p must be a path without '\.' or '\.\.' parts, not 'a/\./b'"):
        tree_path("a/./b", "p")


def hashed(name: str) -> str:
    """The file of a prompt whose name is no safe one."""
    return f"prompt-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}.md"


def test_prompt_file_names__unsafe_long_or_alike__become_digests() -> None:
    """Safe names are kept; the others get a digest, each of two that differ in case alone."""
    longest, longer = "x" * MAX_PROMPT_FILE_NAME, "x" * (MAX_PROMPT_FILE_NAME + 1)
    unsafe = ("with blank", "a/b", "", ".dot", "é", "Two", "tWO", longer, "\ud800", "end\n")
    safe = ("system", "v1.2_x-y", longest)
    expected = {**{name: f"{name}.md" for name in safe}, **{name: hashed(name) for name in unsafe}}
    assert prompt_file_names([*safe, *unsafe]) == expected
    assert MAX_PROMPT_FILE_NAME == 96


@given(st.sets(st.text(max_size=5) | st.sampled_from(["a", "A", "b.md", "B", "straße", "STRASSE"])))
def test_prompt_file_names__any_names__give_files_that_differ_ignoring_case(names: set[str]) -> None:
    """No two prompts share a file, not even where case does not count, and every file is a single safe component."""
    files = prompt_file_names(names)
    assert set(files) == names
    assert len({file.casefold() for file in files.values()}) == len(names)
    assert all(resource_name(file, "f") == file for file in files.values())
