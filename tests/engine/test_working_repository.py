"""Laws of the repository in a proposer's working copy, on real files and a real Git."""

import os
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.repository_tree import (
    Commit,
    RepositoryEdits,
    RepositoryFile,
    TrackedFile,
    edited_files,
    settle_edits,
)
from beaker.core.targets import documents, repository
from beaker.engine import working_repository
from beaker.engine.candidates import CandidateTree
from beaker.engine.checkouts import write_edits
from beaker.engine.folders import remove_tree
from beaker.engine.judging import Misdeed, Scope
from beaker.engine.working_copy import LaidOut, lay_out, take_back
from beaker.files.patience import Patience

pytestmark = pytest.mark.processes

FILES = {
    ".gitignore": ("100644", b"*.log\n/build/\n"),
    "build/kept.py": ("100644", b"tracked although it is ignored\n"),
    "src/app.py": ("100644", b"x = 1\r\n"),
    "src/run.sh": ("100755", b"#!/bin/sh\n"),
    "src/bäh \"q\"\n.bin": ("100644", bytes(range(256))),
    "src/old~": ("100644", b"a tracked backup"),
    "README": ("100644", b""),
    "src/link": ("120000", b"app.py"),
    "vendor/lib": ("160000", b""),
    ".beaker/beaker.yaml": ("100644", b"{}\n"),
}  # fmt: skip
COMMIT: Commit = {path: TrackedFile(mode, sha256(data).hexdigest()) for path, (mode, data) in FILES.items()}
SCOPE = Scope(targets=(repository(("src", "build")),), commit=COMMIT)
WHOLE = Scope(targets=(repository(), documents(groups=("kb",))), commit=COMMIT)


def check_out(folder: Path) -> None:
    for path, (mode, data) in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if mode == "160000":
            (folder / path).mkdir()
        elif mode == "120000":
            (folder / path).symlink_to(data.decode())
        else:
            (folder / path).write_bytes(data)
            (folder / path).chmod(0o755 if mode == "100755" else 0o644)


def write(tree: CandidateTree, folder: Path) -> None:
    check_out(folder)
    write_edits(folder, tree.repository)


class Copy:
    """A working copy of a parent."""

    def __init__(self, root: Path, scope: Scope = SCOPE, edits: RepositoryEdits | None = None) -> None:
        self.scope = scope
        self.parent = CandidateTree({group: {} for group in scope.groups}, edits or {})
        self.laid_out: LaidOut = lay_out(root, self.parent, scope, write)
        self.root = root / "repository"

    def back(self) -> RepositoryEdits | Misdeed:
        """The edits of the child, or what is wrong."""
        taken = take_back(self.laid_out, self.scope, ignored=lambda paths: {path for path in paths if path == "junk"})
        return taken.unwrap().repository if is_successful(taken) else taken.failure()

    def git(self, *arguments: str) -> str:
        environ = {**os.environ, "HOME": str(self.root), "GIT_CONFIG_GLOBAL": os.devnull}
        identity = ("-c", "user.name=Agent", "-c", "user.email=agent@localhost")
        return subprocess.run(
            ["git", *identity, *arguments], cwd=self.root, env=environ, check=True, capture_output=True, text=True
        ).stdout


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path / "copy")


def test_lay_out__repository__is_one_clean_commit_of_the_parent(tmp_path: Path) -> None:
    """An agent that looks at it sees the parent and nothing changed; what is tracked although ignored is in it."""
    parent = {"src/app.py": RepositoryFile("100755", b"child"), "build/kept.py": None, "src/new.py": file(b"n")}
    copy = Copy(tmp_path / "copy", edits=parent)
    assert copy.git("status", "--porcelain", "--ignored") == ""
    assert copy.git("log", "--format=%s") == "The parent\n"
    listed = copy.git("ls-files", "-z").split("\0")[:-1]
    assert sorted(listed) == sorted({*FILES, "src/new.py"} - {"build/kept.py", "vendor/lib"})
    assert not (copy.laid_out.root / "documents").exists()
    assert copy.back() == parent


def test_lay_out__attributes_that_translate_files__take_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Line ends, encodings, filters and keywords: what Git gives back are the bytes that were there."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text(
        "[core]\n\tsafecrlf = true\n\tautocrlf = true\n"
        '[filter "big"]\n\tclean = false\n\tsmudge = false\n\trequired = true\n'
    )
    written = {
        ".gitattributes": b"* text=auto\n*.txt eol=crlf ident\n*.wide working-tree-encoding=UTF-16\n*.big filter=big\n",
        "src/a.txt": b"one\r\ntwo\n$Id$\n",
        "src/b.wide": b"no UTF-16",
        "src/c.big": b"pointer\r\n",
    }

    def with_attributes(_: CandidateTree, folder: Path) -> None:
        (folder / "src").mkdir(parents=True)
        for path, data in written.items():
            (folder / path).write_bytes(data)

    commit = {path: TrackedFile("100644", sha256(data).hexdigest()) for path, data in written.items()}
    scope = Scope(targets=SCOPE.targets, commit=commit)
    laid_out = lay_out(tmp_path / "copy", CandidateTree({}), scope, with_attributes)
    root = tmp_path / "copy" / "repository"
    for path in written:
        (root / path).unlink()
    subprocess.run(["git", "checkout", "--", "."], cwd=root, check=True, capture_output=True)
    assert {path: (root / path).read_bytes() for path in written} == written
    assert subprocess.run(["git", "status", "--porcelain"], cwd=root, check=True, capture_output=True).stdout == b""
    assert take_back(laid_out, scope, ignored=lambda _: set()).unwrap() == CandidateTree({})


def test_lay_out__state_of_beaker__is_not_shown(tmp_path: Path) -> None:
    """Even where it is tracked; that it is missing is no deletion, and what is put there is not looked at."""

    def with_state(tree: CandidateTree, folder: Path) -> None:
        write(tree, folder)
        (folder / ".beaker/local").mkdir()
        (folder / ".beaker/local/beaker.db").write_bytes(b"secret")

    scope = Scope(targets=(repository(),), commit={**COMMIT, ".beaker/local/beaker.db": TrackedFile("100644", "0")})
    copy = Copy.__new__(Copy)
    copy.scope, copy.parent = scope, CandidateTree({})
    copy.laid_out = lay_out(tmp_path / "copy", copy.parent, scope, with_state)
    copy.root = tmp_path / "copy" / "repository"
    assert not (copy.root / ".beaker/local").exists()
    (copy.root / ".beaker/local").mkdir()
    (copy.root / ".beaker/local/x").touch()
    assert copy.back() == {}


def file(content: bytes, mode: str = "100644") -> RepositoryFile:
    return RepositoryFile("100755" if mode == "100755" else "100644", content)


def test_take_back__edits__are_the_childs_to_the_byte_and_mode(copy: Copy) -> None:
    """Creation, change, deletion, mode, rename and binary content."""
    source = copy.root / "src"
    (source / "app.py").write_bytes(b"\xff\x00\r\n")
    (source / "run.sh").chmod(0o600)
    (source / "old~").rename(source / "moved.txt")
    (copy.root / "build/new").mkdir()
    (copy.root / "build/kept.py").unlink()
    (source / "deep/er").mkdir(parents=True)
    (source / "deep/er/tool").write_bytes(b"")
    (source / "deep/er/tool").chmod(0o711)
    assert copy.back() == {
        "src/app.py": file(b"\xff\x00\r\n"),
        "src/run.sh": file(b"#!/bin/sh\n"),
        "src/old~": None,
        "src/moved.txt": file(b"a tracked backup"),
        "build/kept.py": None,
        "src/deep/er/tool": file(b"", "100755"),
    }


def test_take_back__work_with_git__does_not_matter(copy: Copy) -> None:
    """Commits, branches, stashes that rewrite files, settings, even a repository that is gone."""
    (copy.root / "src/app.py").write_bytes(b"x = 2\n")
    (copy.root / "README").write_bytes(b"put aside")
    copy.git("stash")
    copy.git("checkout", "-q", "-b", "work")
    copy.git("config", "core.worktree", "/")
    assert copy.back() == {}
    copy.git("config", "--unset", "core.worktree")
    (copy.root / "src/app.py").write_bytes(b"x = 2\n")
    copy.git("commit", "-qam", "mine")
    assert copy.back() == {"src/app.py": file(b"x = 2\n")}
    remove_tree(copy.root / ".git")
    assert copy.back() == {"src/app.py": file(b"x = 2\n")}
    (copy.root / ".git").symlink_to("/")
    assert copy.back() == {"src/app.py": file(b"x = 2\n")}


def test_take_back__ignored_files_and_droppings__are_passed_over(copy: Copy) -> None:
    """Also links among them, also outside the targets; a rule of the child's own counts as it does to `git add`."""
    for path in ("x.log", "src/deep/y.log", "src/__pycache__/app.pyc", "build/out", "src/app.py~", "src/.app.py.swp"):
        (copy.root / path).parent.mkdir(parents=True, exist_ok=True)
        (copy.root / path).touch()
    (copy.root / "src/z.log").symlink_to("/etc")
    (copy.root / ".venv/bin").mkdir(parents=True)
    (copy.root / ".venv/.gitignore").write_text("*\n")
    (copy.root / ".venv/bin/python").symlink_to("/usr/bin/python3")
    (copy.laid_out.root / "junk").touch()
    assert copy.back() == {}
    assert not (copy.root / "src/__pycache__/app.pyc").exists()
    (copy.root / "src/.gitignore").write_text("secret\n")
    (copy.root / "src/secret").touch()
    assert copy.back() == {"src/.gitignore": file(b"secret\n")}
    (copy.root / "build/kept.py").write_bytes(b"changed")
    assert copy.back() == {"src/.gitignore": file(b"secret\n"), "build/kept.py": file(b"changed")}


MISDEEDS = {
    "a link": ("special_file", "src/l", lambda root: (root / "src/l").symlink_to("app.py")),
    "a link instead of a file": (
        "special_file", "src/app.py",
        lambda root: (root / "src/app.py").unlink() or (root / "src/app.py").symlink_to("/etc/passwd"),
    ),
    "a hard link": (
        "special_file", "src/app.py, repository/src/h", lambda root: os.link(root / "src/app.py", root / "src/h")
    ),
    "a pipe": ("special_file", "src/p", lambda root: os.mkfifo(root / "src/p")),
    "a pipe outside": ("special_file", "p", lambda root: os.mkfifo(root / "p")),
    "another end of the link": (
        "special_file", "src/link",
        lambda root: (root / "src/link").unlink() or (root / "src/link").symlink_to("run.sh"),
    ),
    "a file instead of the link": (
        "special_file", "src/link", lambda root: (root / "src/link").unlink() or (root / "src/link").touch()
    ),
    "no link any more": ("special_file", "src/link", lambda root: (root / "src/link").unlink()),
    "a file instead of the submodule": (
        "special_file", "vendor/lib", lambda root: (root / "vendor/lib").rmdir() or (root / "vendor/lib").touch()
    ),
    "an edit outside": ("outside_targets", "README", lambda root: (root / "README").write_bytes(b"x")),
    "a mode outside": ("outside_targets", "README", lambda root: (root / "README").chmod(0o755)),
    "a deletion outside": ("outside_targets", "README", lambda root: (root / "README").unlink()),
    "a creation outside": ("outside_targets", "srcs", lambda root: (root / "srcs").touch()),
    "the configuration": (
        "outside_targets", ".beaker/beaker.yaml", lambda root: (root / ".beaker/beaker.yaml").write_bytes(b"x")
    ),
    "the ignore rules": (
        "outside_targets", ".gitignore",
        lambda root: (root / ".gitignore").write_bytes(b"*\n") and (root / "src/n").touch(),
    ),
    "a repository": (
        "invalid_tree", "src/sub/.git/x",
        lambda root: (root / "src/sub/.git").mkdir(parents=True) or (root / "src/sub/.git/x").touch(),
    ),
    "two spellings": ("invalid_tree", "src/APP.py", lambda root: (root / "src/APP.py").touch()),
    "no text for a name": ("invalid_tree", "src/\\udcff", lambda root: (root / os.fsdecode(b"src/\xff")).touch()),
}  # fmt: skip


@pytest.mark.parametrize("name", MISDEEDS)
def test_take_back__misdeed__is_named_by_kind_and_path(copy: Copy, name: str) -> None:
    """What no candidate may be is refused for what it is."""
    outcome, said, do = MISDEEDS[name]
    do(copy.root)
    bad = copy.back()
    assert isinstance(bad, Misdeed)
    assert bad.outcome == outcome
    assert said in bad.message
    bad.message.encode()


def test_take_back__several_misdeeds__names_the_gravest_of_the_whole_copy(tmp_path: Path) -> None:
    """Links before strays before invalid trees, in the repository and in the documents."""
    copy = Copy(tmp_path / "copy", WHOLE)
    (copy.root / ".beaker/beaker.yaml").write_bytes(b"mine")
    assert isinstance(bad := copy.back(), Misdeed)
    assert (bad.outcome, "'.beaker'" in bad.message) == ("invalid_tree", True)
    (copy.laid_out.root / "stray").touch()
    assert copy.back() == Misdeed("outside_targets", "stray: outside the targets")
    (copy.root / "l").symlink_to("/")
    (copy.laid_out.root / "documents/kb/l").symlink_to("/")
    said = "documents/kb/l, repository/l: a link or special file"
    assert copy.back() == Misdeed("special_file", said)


def test_take_back__repository_and_documents__are_one_child(tmp_path: Path) -> None:
    """Both kinds of edits are in the tree."""
    copy = Copy(tmp_path / "copy", WHOLE)
    (copy.root / "README").write_bytes(b"read me")
    (copy.laid_out.root / "documents/kb/a.md").write_text("a")
    taken = take_back(copy.laid_out, WHOLE, ignored=lambda _: set()).unwrap()
    assert taken == CandidateTree({"kb": {"a.md": "a"}}, {"README": file(b"read me")})


def test_take_back__repository_that_is_gone_or_replaced__is_refused(copy: Copy) -> None:
    """Whatever stands in its place."""
    remove_tree(copy.root)
    assert isinstance(bad := copy.back(), Misdeed)
    assert bad.outcome == "invalid_tree"
    copy.root.symlink_to("/etc")
    assert copy.back() == Misdeed("special_file", "repository: a link or special file")
    copy.root.unlink()
    copy.root.touch()
    assert isinstance(bad := copy.back(), Misdeed)
    assert bad.outcome == "invalid_tree"


def test_take_back__edits_of_the_parent__go_on_and_can_be_taken_back(tmp_path: Path) -> None:
    """A child that undoes what its parent did has no edit left of it; a deletion may become a file again."""
    parent = {"src/app.py": None, "src/new.py": file(b"n"), "src/run.sh": file(b"two", "100755")}
    copy = Copy(tmp_path / "copy", edits=parent)
    (copy.root / "src/new.py").unlink()
    (copy.root / "src/app.py").write_bytes(b"x = 1\r\n")
    assert copy.back() == {"src/run.sh": file(b"two", "100755")}
    (copy.root / "src/app.py").chmod(0o755)
    (copy.root / "src/run.sh").write_bytes(b"#!/bin/sh\n")
    assert copy.back() == {"src/app.py": file(b"x = 1\r\n", "100755")}


def test_take_back__more_than_a_candidate_may_edit__is_an_invalid_tree(
    copy: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said before anything is read: a file too large, too much in all, too many."""
    monkeypatch.setattr(working_repository, "MAX_FILE_BYTES", 4)
    monkeypatch.setattr(working_repository, "MAX_EDIT_BYTES", 6)
    monkeypatch.setattr(working_repository, "MAX_EDITS", 2)
    for content, said in ((b"12345", "src/a, src/b: too large"), (b"1234", "2 files of 8 bytes"), (b"1", "3 files")):
        for name in "ab" if said[0] != "3" else "abc":
            (copy.root / "src" / name).write_bytes(content)
        bad = copy.back()
        assert isinstance(bad, Misdeed)
        assert (bad.outcome, said in bad.message) == ("invalid_tree", True), bad


@pytest.mark.parametrize("path", ["endless.bin", "README"])
def test_take_back__endless_file_outside_the_targets__is_told_without_reading_it(copy: Copy, path: str) -> None:
    """Neither a file that the commit does not hold nor one of another size is read."""
    with open(copy.root / path, "wb") as sparse:
        sparse.truncate(1 << 42)
    assert isinstance(bad := copy.back(), Misdeed)
    assert (bad.outcome, path in bad.message) == ("outside_targets", True)


@pytest.mark.parametrize("path", [".gitignore", "src/.gitignore", "src/deep/.gitignore"])
def test_take_back__pipe_where_git_reads__is_special_before_git_is_asked(copy: Copy, path: str) -> None:
    """Git would open it, and wait for somebody who writes."""
    (copy.root / path).parent.mkdir(exist_ok=True)
    (copy.root / path).unlink(missing_ok=True)
    os.mkfifo(copy.root / path)
    (copy.root / "src/new.py").touch()
    taken = take_back(copy.laid_out, SCOPE, ignored=lambda _: set(), patience=Patience(20))
    assert taken.failure() == Misdeed("special_file", f"repository/{path}: a link or special file")


@pytest.mark.parametrize("ended", [False, True])
def test_take_back__when_nobody_waits_any_more__stops(copy: Copy, ended: bool) -> None:
    """Out of time, or because the run was cancelled."""
    patience = Patience(0 if not ended else 60)
    if ended:
        patience.end()
    bad = take_back(copy.laid_out, SCOPE, ignored=lambda _: set(), patience=patience).failure()
    assert (bad.outcome, "could not be judged within" in bad.message) == ("invalid_tree", True)


def test_take_back__equal_size_but_much_to_read__stops_when_nobody_waits(copy: Copy) -> None:
    """The file is read in pieces, with a look after each."""
    with open(copy.root / "README", "wb") as sparse:
        sparse.truncate(1 << 42)
    changed = {**copy.laid_out.repository, "README": (0, 0, 1 << 42, 0, 0)}
    laid_out = LaidOut(copy.laid_out.root, copy.laid_out.parent, changed)
    bad = take_back(laid_out, SCOPE, ignored=lambda _: set(), patience=Patience(0.5)).failure()
    assert "could not be judged within" in bad.message


NAMES = st.sampled_from(["src/app.py", "src/run.sh", "src/new", "src/deep/x", "build/kept.py", "src/old~"])
STATES = st.none() | st.builds(
    RepositoryFile, st.sampled_from(["100644", "100755"]), st.sampled_from([b"", b"x = 1\r\n", b"two", b"\x00\xff"])
)


@settings(max_examples=15)
@given(st.dictionaries(NAMES, STATES, max_size=4), st.dictionaries(NAMES, STATES, max_size=4))
def test_take_back__any_edits_of_any_parent__give_just_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, before: RepositoryEdits, after: RepositoryEdits
) -> None:
    """The child's files are the parent's with the edits, to the byte; checking the child out gives the same again."""
    parent = settle_edits(before, commit=COMMIT, paths=SCOPE.paths).unwrap()
    root = tmp_path_factory.mktemp("copies")
    copy = Copy(root / "copy", edits=parent)
    for path, state in after.items():
        target = copy.root / path
        target.unlink(missing_ok=True)
        if state is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(state.content)
            target.chmod(0o755 if state.mode == "100755" else 0o644)
    child = copy.back()
    assert child == settle_edits({**parent, **after}, commit=COMMIT, paths=SCOPE.paths).unwrap()
    assert isinstance(child, dict)
    write(CandidateTree({}, child), root / "again")
    for path in edited_files(child, COMMIT):
        one, other = copy.root / path, root / "again" / path
        assert one.is_symlink() == other.is_symlink()
        if one.is_file():
            assert one.read_bytes() == other.read_bytes()
            assert one.stat().st_mode & 0o100 == other.stat().st_mode & 0o100
    remove_tree(root)
