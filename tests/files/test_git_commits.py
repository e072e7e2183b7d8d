"""Commits beside the checkout: what they hold, and that index, HEAD, branches and files stay as they are."""

import os
import subprocess
from pathlib import Path

import pytest

from beaker.core.repository_tree import RepositoryFile
from beaker.files import git
from beaker.files.git_commits import commit_patch, create_branch, snapshot
from beaker.files.patches import make_patch


def run(root: Path, *arguments: str, code: int = 0) -> str:
    """Git as a user runs it, with an identity of its own."""
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgSign=false"]
    done = subprocess.run(["git", "-C", str(root), *identity, *arguments], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository on branch `main` with two files, one of them in a folder."""
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    git.init_repository(root).unwrap()
    (root / "a.txt").write_text("one\n")
    (root / "src/b.txt").write_text("b\n")
    (root / ".gitignore").write_text("ignored\n")
    git.commit_all(root, "First").unwrap()
    return root


def state(root: Path) -> object:
    """All that must not move: index, HEAD, every ref and reflog, and every file with its times."""
    folder = root / ".git"
    refs = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "objects" not in path.parts}
    files = {
        path: (path.lstat().st_mtime_ns, path.lstat().st_mode) for path in root.rglob("*") if ".git" not in path.parts
    }
    return refs, files


def held(root: Path, commit: str) -> dict[str, bytes]:
    return {entry.path: entry.data for entry in git.read_commit(root, commit)}


def test_snapshot__dirty_checkout__holds_it_and_moves_nothing(repository: Path) -> None:
    """Changed, deleted, staged and newly added files and new configuration are in; other untracked files are not."""
    (repository / "a.txt").write_text("two\n")
    (repository / "a.txt").chmod(0o755)
    (repository / "src/b.txt").unlink()
    (repository / "added.txt").write_text("staged\n")
    run(repository, "add", "added.txt")
    (repository / "added.txt").write_text("staged, then changed\n")
    (repository / ".beaker").mkdir()
    (repository / ".beaker/beaker.yaml").write_text("integrations: {}\n")
    (repository / ".beaker/.env").write_text("SECRET=1\n")
    (repository / "other.yaml").write_text("x: 1\n")
    (repository / "untracked.txt").write_text("x")
    (repository / "ignored").write_text("x")
    before = state(repository)
    commit = snapshot(repository, "As it is", also=("other.yaml",)).unwrap()
    assert state(repository) == before
    assert held(repository, commit) == {
        ".beaker/beaker.yaml": b"integrations: {}\n",
        ".gitignore": b"ignored\n",
        "a.txt": b"two\n",
        "added.txt": b"staged, then changed\n",
        "other.yaml": b"x: 1\n",
    }
    assert (
        run(repository, "log", "-1", "--format=%s %an %P", commit)
        == f"As it is Beaker {run(repository, 'rev-parse', 'HEAD')}"
    )
    assert run(repository, "ls-tree", commit, "a.txt").startswith("100755")
    assert run(repository, "branch", "--contains", commit) == ""


def test_snapshot__holds_exactly_what_counts_as_dirty(repository: Path) -> None:
    """Seen from its snapshot, a checkout has nothing left out."""
    (repository / "a.txt").write_text("two\n")
    (repository / "src/.beaker").mkdir()
    (repository / "src/.beaker/x y.yaml").write_text("x")
    assert git.dirty_files(repository).unwrap() == ("a.txt", "src/.beaker/x y.yaml")
    commit = snapshot(repository, "s").unwrap()
    run(repository, "reset", "--soft", commit)
    run(repository, "reset", "--mixed", "--quiet")
    assert git.dirty_files(repository).unwrap() == ()


def test_snapshot__clean_checkout__is_head(repository: Path) -> None:
    """Nothing differs, so nothing is made; a touched file differs in nothing."""
    os.utime(repository / "a.txt", ns=(1, 1))
    assert snapshot(repository, "s").unwrap() == git.head_commit(repository).unwrap()


def test_snapshot__from_a_worktree__is_that_of_the_worktree(repository: Path, tmp_path: Path) -> None:
    """A second worktree has an index of its own, and its own state is taken."""
    run(repository, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    (tmp_path / "side/a.txt").write_text("side\n")
    (repository / "a.txt").write_text("main\n")
    assert held(repository, snapshot(tmp_path / "side", "s").unwrap())["a.txt"] == b"side\n"


def test_snapshot__filters_and_hooks__do_not_run(repository: Path, tmp_path: Path) -> None:
    """Programs that the repository names are not run for it, and the bytes are those of the working copy."""
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    program.chmod(0o755)
    run(repository, "config", "filter.x.clean", str(program))
    run(repository, "config", "core.fsmonitor", str(program))
    (repository / ".gitattributes").write_text("*.txt filter=x\n")
    for hook in ("post-index-change", "reference-transaction", "pre-commit"):
        (repository / ".git/hooks").mkdir(exist_ok=True)
        (repository / ".git/hooks" / hook).symlink_to(program)
    (repository / "a.txt").write_text("two\n")
    assert held(repository, snapshot(repository, "s").unwrap())["a.txt"] == b"two\n"
    assert not (tmp_path / "ran").exists()


def test_snapshot__unresolved_merge__is_refused(repository: Path) -> None:
    """A checkout in the middle of a conflict is no state to run."""
    run(repository, "checkout", "-q", "-b", "other")
    (repository / "a.txt").write_text("other\n")
    run(repository, "commit", "-qam", "o")
    run(repository, "checkout", "-q", "main")
    (repository / "a.txt").write_text("main\n")
    run(repository, "commit", "-qam", "m")
    run(repository, "merge", "other", code=1)
    before = state(repository)
    assert snapshot(repository, "s").failure().code == "BK717"
    assert state(repository) == before


@pytest.mark.parametrize("case", ["no commit", "no repository"])
def test_snapshot__nothing_to_stand_on__is_refused(tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside Git, and before the first commit, there is no snapshot."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    root = tmp_path / "folder"
    root.mkdir()
    if case == "no commit":
        git.init_repository(root).unwrap()
    assert snapshot(root, "s").failure().code == ("BK712" if case == "no commit" else "BK711")


def test_commit_patch__and_branch__touch_nothing_else(repository: Path) -> None:
    """A branch gets the patched commit; the checkout, dirty as it is, keeps its index, HEAD and files."""
    first = git.head_commit(repository).unwrap()
    (repository / "a.txt").write_text("later\n")
    run(repository, "commit", "-qam", "later")
    (repository / "a.txt").write_text("dirty\n")
    (repository / "src/b.txt").write_text("staged\n")
    run(repository, "add", "src/b.txt")
    edits = {"a.txt": RepositoryFile("100755", b"better\r\n"), "src/b.txt": None}
    patch = make_patch(
        {"a.txt": RepositoryFile("100644", b"one\n"), "src/b.txt": RepositoryFile("100644", b"b\n")}, edits
    )
    watched = [repository / ".git" / name for name in ("index", "HEAD", "logs/HEAD", "refs/heads/main")]
    before = [path.read_bytes() for path in watched]
    files = state(repository)[1]  # type: ignore[index]
    commit = commit_patch(repository, first, patch.unwrap(), "Candidate\n\n# kept: no comment").unwrap()
    create_branch(repository, "beaker/better", commit).unwrap()
    assert [path.read_bytes() for path in watched] == before
    assert state(repository)[1] == files  # type: ignore[index]
    assert run(repository, "rev-parse", "beaker/better^") == first
    assert held(repository, "beaker/better") == {".gitignore": b"ignored\n", "a.txt": b"better\r\n"}
    assert run(repository, "log", "-1", "--format=%B", "beaker/better") == "Candidate\n\n# kept: no comment"
    run(repository, "fsck", "--strict")


def test_commit_patch__user_configuration__has_no_say(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """White space is kept as the candidate wrote it, whatever `git apply` is told to do about it."""
    (tmp_path / ".gitconfig").write_text(
        "[apply]\nwhitespace = fix\nignoreWhitespace = change\n[core]\nautocrlf = true\nsafecrlf = true\n"
        "[commit]\ngpgSign = true\n[user]\nname = Someone\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    edits = {"a.txt": RepositoryFile("100644", b"one \t\n\r\nx\r\n\n\n")}
    patch = make_patch({"a.txt": RepositoryFile("100644", b"one\n")}, edits).unwrap()
    commit = commit_patch(repository, "HEAD", patch, "m").unwrap()
    assert held(repository, commit)["a.txt"] == b"one \t\n\r\nx\r\n\n\n"
    assert run(repository, "log", "-1", "--format=%an %G?", commit) == "Beaker N"


def test_commit_patch__another_commit__is_refused(repository: Path) -> None:
    """A patch fits the commit it was made for, and no other content."""
    patch = make_patch({"a.txt": RepositoryFile("100644", b"else\n")}, {"a.txt": RepositoryFile("100644", b"x\n")})
    problem = commit_patch(repository, "HEAD", patch.unwrap(), "m").failure()
    assert problem.code == "BK719"
    assert "a.txt" in problem.message


@pytest.mark.parametrize(
    "name", ["", "-x", "a b", "a..b", "x.lock", "HEAD", "@", "@{-1}", "@{u}", "a/", "main", "main/sub", "é\n"]
)
def test_create_branch__name_that_is_taken_or_none__is_refused(repository: Path, name: str) -> None:
    """An existing branch is never moved, and what Git would not take is said."""
    (repository / "a.txt").write_text("two\n")
    before = state(repository)
    commit = snapshot(repository, "s").unwrap()
    assert create_branch(repository, name, commit).failure().code == "BK718"
    assert state(repository) == before
