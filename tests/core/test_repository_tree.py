"""Laws of what candidates change in the repository."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core import repository_tree
from beaker.core.repository_tree import (
    MAX_EDIT_BYTES,
    MAX_EDITS,
    MAX_FILE_BYTES,
    WHOLE_REPOSITORY,
    Commit,
    RepositoryEdits,
    RepositoryFile,
    TrackedFile,
    changed_files,
    edited_files,
    edits_to_json,
    inside_targets,
    settle_edits,
    target_paths,
)
from beaker.core.targets import documents, repository


def file(content: bytes = b"new", mode: str = "100644") -> RepositoryFile:
    return RepositoryFile("100755" if mode == "100755" else "100644", content)


def tracked(content: bytes = b"old", mode: str = "100644") -> TrackedFile:
    return TrackedFile(mode, sha256(content).hexdigest())


COMMIT: Commit = {
    "a.py": tracked(),
    "src/app.py": tracked(),
    "src/run.sh": tracked(mode="100755"),
    "src/deep/z": tracked(),
    "src/.beaker/beaker.yaml": tracked(),
    "link": tracked(b"src", "120000"),
    "src/link": tracked(b"x", "120000"),
    "src/mod": tracked(b"", "160000"),
}


def codes(edits: RepositoryEdits, paths: tuple[str, ...] = WHOLE_REPOSITORY) -> list[tuple[str, str]]:
    """Code and place of everything that is wrong with edits of the commit."""
    settled = settle_edits(edits, commit=COMMIT, paths=paths)
    return [] if is_successful(settled) else [(one.code, one.where) for one in settled.failure()]


@pytest.mark.parametrize(
    "source_dir, found",
    [(".", ("b", "src/a")), ("", ("b", "src/a")), ("sub", ("sub/b", "sub/src/a")), ("./x//y/", ("x/y/b", "x/y/src/a"))],
)
def test_target_paths__of_a_declaration__count_from_the_root(source_dir: str, found: tuple[str, ...]) -> None:
    """They are declared from `source_dir`; document groups have no part in it."""
    assert target_paths((documents(groups=("g",)), repository(("src/a", "b"))), source_dir) == found


def test_target_paths__of_everything_or_nothing__are_told_apart() -> None:
    """The whole repository is one path that contains all, whatever `source_dir` is; no target has no path."""
    assert target_paths((repository(),), "sub") == WHOLE_REPOSITORY
    assert target_paths((documents(groups=("g",)),), "sub") == ()
    assert inside_targets("any/thing", WHOLE_REPOSITORY)
    assert not inside_targets("any/thing", ())


@pytest.mark.parametrize(
    "path, inside", [("src", True), ("src/a", True), ("srca", False), ("SRC/a", False), ("b/src", False), ("b", False)]
)
def test_inside_targets__a_path__is_the_target_or_below_it(path: str, inside: bool) -> None:
    """A name that merely begins alike, or is spelled differently, is another one."""
    assert inside_targets(path, ("other", "src")) == inside


def test_settle_edits__good_ones__are_sorted_and_lack_what_changes_nothing() -> None:
    """The same content with the same mode is no edit, nor is deleting what is not there."""
    edits: RepositoryEdits = {
        "z/new": file(),
        "src/run.sh": file(b"old", "100755"),
        "a.py": None,
        "missing": None,
        "src/app.py": file(b"old", "100755"),
    }
    settled = settle_edits(edits, commit=COMMIT, paths=WHOLE_REPOSITORY).unwrap()
    assert [*settled] == ["a.py", "src/app.py", "z/new"]
    assert settled == {"a.py": None, "src/app.py": file(b"old", "100755"), "z/new": file()}


FAULTS: list[tuple[RepositoryEdits, list[tuple[str, str]]]] = [
    ({"a.py": file()}, [("BK630", "a.py")]),
    ({"a.py": None}, [("BK630", "a.py")]),
    ({"link": file()}, [("BK630", "link"), ("BK631", "link")]),
    ({"src/link/x": file()}, [("BK631", "src/link/x")]),
    ({"src/mod": file(), "src/mod/x/y": file()}, [("BK631", "src/mod"), ("BK631", "src/mod/x/y")]),
    ({"src/.GIT/config": file()}, [("BK632", "src/.GIT/config")]),
    ({"src/.beaker/beaker.yaml": None}, [("BK632", "src/.beaker/beaker.yaml")]),
    ({"src/../a": file()}, [("BK632", "src/../a")]),
    ({"src//a": file()}, [("BK632", "src//a")]),
    ({"src/./a": file()}, [("BK632", "src/./a")]),
    ({"src/a\\b": file()}, [("BK632", "src/a\\b")]),
    ({"src/a\0b": file()}, [("BK632", "src/a\0b")]),
    ({"src/\udcff": file()}, [("BK632", "src/\udcff")]),
    ({f"src/{'x' * 256}": file()}, [("BK632", f"src/{'x' * 256}")]),
    ({f"src/{'é' * 128}": file()}, [("BK632", f"src/{'é' * 128}")]),
    ({"src/app.py": None, "src/z\\b": file()}, [("BK632", "src/z\\b")]),
    ({"src/APP.py": file()}, [("BK633", "src/APP.py")]),
    ({"src/DEEP/Z": file()}, [("BK633", "src/DEEP/Z")]),
    ({"src/Deep/x": file(), "src/deep/y": file()}, [("BK633", "src/Deep/x")]),
    ({"src/New/x": file(), "src/new/y": file()}, [("BK633", "src/new/y")]),
    ({"src/e\u0301": file(), "src/\u00e9": file()}, [("BK633", "src/\u00e9")]),
    ({"src/app.py/x": file()}, [("BK634", "src/app.py/x")]),
    ({"src/deep": file()}, [("BK634", "src/deep")]),
    ({"src/x": file(), "src/x/y": file()}, [("BK634", "src/x")]),
]  # fmt: skip


@pytest.mark.parametrize("edits, found", FAULTS, ids=lambda one: ascii([*one]).replace("\\", "%")[:60])
def test_settle_edits__faults__are_all_named(edits: RepositoryEdits, found: list[tuple[str, str]]) -> None:
    """Every edit outside the targets, of a link or submodule, under an impossible name, or in another one's place."""
    assert codes(edits, ("src",)) == found


MESSAGES: list[tuple[RepositoryEdits, str]] = [
    ({"a.py": file()}, "a.py: is outside the declared targets"),
    ({"src/link": None}, "src/link: is a link of the commit, which candidates keep as it is"),
    ({"src/mod": None}, "src/mod: is a submodule of the commit, which candidates keep as it is"),
    ({"src/mod/x": file()}, "src/mod/x: lies below src/mod, a submodule of the commit, which candidates keep as it is"),
    ({"src/.git/x": file()}, "src/.git/x: the name '.git' is kept for Git or Beaker"),
    ({"src//x": file()}, "src//x: is not a normal relative path"),
    ({"src/\udcff": file()}, "src/\udcff: the name is not UTF-8"),
    (
        {f"src/{'x' * 256}": file()},
        f"src/{'x' * 256}: the path is too long (1024 characters, 255 bytes between slashes)",
    ),
    ({"src/deep": file()}, "src/deep: is needed as a folder by other files"),
    ({"src/app.py/x": file()}, "src/app.py/x: needs the folder src/app.py, which is a file"),
    ({"src/Deep/x": file()}, "src/Deep/x: src/Deep differs from src/deep only in case or Unicode form"),
]


@pytest.mark.parametrize("edits, said", MESSAGES, ids=lambda one: ascii(one).replace("\\", "%")[:60])
def test_settle_edits__fault__is_told_in_words(edits: RepositoryEdits, said: str) -> None:
    """With the path, and what stands in its way."""
    (fault,) = settle_edits(edits, commit=COMMIT, paths=("src",)).failure()
    assert str(fault) == said


def test_settle_edits__too_much__is_told_with_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """And with what there is."""
    for name in ("MAX_EDITS", "MAX_FILE_BYTES", "MAX_EDIT_BYTES"):
        monkeypatch.setattr(repository_tree, name, 1)
    faults = settle_edits({"x": file(b"12"), "y": file(b"")}, commit=COMMIT, paths=WHOLE_REPOSITORY).failure()
    assert [str(fault) for fault in faults] == [
        "2 files edited; a candidate may edit at most 1",
        "x: 2 bytes; an edited file may have at most 1",
        "2 bytes in all edited files together; at most 1 are allowed",
    ]


def test_settle_edits__path_of_any_length__is_told_in_few_words() -> None:
    """A path of 1,024 characters is the longest, and a longer one is cut in the message."""
    longest = "/".join(["d" * 200, "d" * 200, "d" * 200, "d" * 200, "d" * 220])
    assert len(longest) == 1_024
    assert codes({longest: file(), "x" * 255: file()}) == []
    ((code, where),) = codes({longest + "x": file()})
    assert (code, len(where), where[-3:]) == ("BK632", 300, "...")
    assert codes({"x" * 300: file()}) == [("BK632", "x" * 300)]
    assert codes({"x" * 301: file()}) == [("BK632", "x" * 297 + "...")]


def test_settle_edits__places_that_become_free__can_be_taken() -> None:
    """Renaming by case, a file that becomes a folder, and a folder that becomes a file, are what they are to Git."""
    assert codes({"a.py": None, "A.py": file()}) == []
    assert codes({"a.py": None, "a.py/x": file()}) == []
    assert codes({"src/deep/z": None, "src/deep": file()}) == []
    assert codes({"src/deep/z": None, "src/deep": file(), "src/deep/y": file()}) == [("BK634", "src/deep")]


def test_settle_edits__collisions_of_the_commit__are_not_the_candidates() -> None:
    """What stood side by side before stays, and can be edited; a third spelling is refused."""
    commit = {"Readme": tracked(), "README": tracked()}
    assert is_successful(settle_edits({"Readme": file()}, commit=commit, paths=("",)))
    settled = settle_edits({"readme": file()}, commit=commit, paths=("",))
    assert [one.code for one in settled.failure()] == ["BK633"]


def test_settle_edits__limits__are_the_last_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files, bytes of one file, bytes of all: one more is refused, each with its own words."""
    monkeypatch.setattr(repository_tree, "MAX_EDITS", 3)
    monkeypatch.setattr(repository_tree, "MAX_FILE_BYTES", 4)
    monkeypatch.setattr(repository_tree, "MAX_EDIT_BYTES", 10)
    assert codes({"x": file(b"1234"), "y": file(b"1234"), "a.py": None, "z": None}) == []
    assert codes({"x": file(b"1234"), "y": file(b"1234"), "z": file(b"12")}) == []
    assert codes({"x": file(b"1234"), "y": file(b"1234"), "z": file(b"123")}) == [("BK635", "")]
    assert codes({"x": file(b"12345")}) == [("BK635", "x")]
    assert codes({"w": file(), "x": file(), "y": file(), "a.py": None}) == [("BK635", "")]
    assert (MAX_EDITS, MAX_FILE_BYTES, MAX_EDIT_BYTES) == (2_000, 20_000_000, 50_000_000)


NAMES = st.sampled_from(["a.py", "src/app.py", "src/run.sh", "new", "new/er", "src/New"])
EDITS = st.dictionaries(
    NAMES, st.none() | st.builds(RepositoryFile, st.sampled_from(["100644", "100755"]), st.binary())
)


@given(EDITS)
def test_settle_edits__settled_edits__stay_and_make_the_same_files(edits: RepositoryEdits) -> None:
    """Settling is idempotent, and loses no file of the candidate."""
    settled = settle_edits(edits, commit=COMMIT, paths=WHOLE_REPOSITORY)
    if is_successful(settled):
        kept = settled.unwrap()
        assert settle_edits(kept, commit=COMMIT, paths=WHOLE_REPOSITORY).unwrap() == kept
        assert edited_files(kept, COMMIT) == edited_files(edits, COMMIT)


@given(EDITS, EDITS)
def test_changed_files__of_two_candidates__are_where_their_states_differ(
    one: RepositoryEdits, other: RepositoryEdits
) -> None:
    """A deletion is no absence of an edit; order makes no difference, nor does which comes first."""
    found = changed_files(one, other)
    assert found == changed_files(other, one) == tuple(sorted(found))
    assert (found == ()) == (dict(one) == dict(other))
    assert changed_files({"a.py": None}, {}) == ("a.py",)


def test_edited_files__of_a_commit__are_what_is_left_and_what_is_new() -> None:
    """Deleted ones are gone."""
    commit = {"b": tracked(), "a": tracked()}
    assert edited_files({"a": None, "c": file(), "x": None}, commit) == ("b", "c")


def test_edits_to_json__is_what_the_digest_covers() -> None:
    """Mode and SHA-256 of each file, null for a deletion, in order of path."""
    made = edits_to_json({"b": None, "a": file(b"x", "100755")})
    assert made == {"a": {"mode": "100755", "sha256": sha256(b"x").hexdigest()}, "b": None}
    assert [*made] == ["a", "b"]
