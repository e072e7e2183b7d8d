"""What Git says of a checkout and of its branch in the remotes, with real repositories and no network."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from beaker.core.problems import Problem
from beaker.files import git_push
from beaker.files.git_push import git_facts, remote_head

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Run Git with an identity of its own, in the checkout."""
    (tmp_path / "work").mkdir()

    def call(*arguments: str, cwd: Path = tmp_path / "work") -> str:
        settings = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgSign=false")
        done = subprocess.run(["git", *settings, *arguments], cwd=cwd, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    return call


@pytest.fixture
def root(git: Git, tmp_path: Path) -> Path:
    """A checkout with one commit on the branch `work`."""
    git("init", "-q", "--initial-branch=work")
    (tmp_path / "work/a.py").write_text("a\n")
    git("add", ".")
    git("commit", "-qm", "a")
    return tmp_path / "work"


@pytest.fixture
def github(root: Path, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository acme/inv on GitHub: a folder, to which the person's own configuration leads."""
    bare = tmp_path / "github/acme/inv.git"
    bare.mkdir(parents=True)
    git("init", "-q", "--bare", cwd=bare)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f'[url "file://{tmp_path}/github/"]\n\tinsteadOf = https://github.com/\n')
    monkeypatch.setenv("HOME", str(home))
    git("remote", "add", "origin", "https://somebody:secret@github.com/Acme/inv.git")
    return bare


def facts(root: Path, repository: str | None = "acme/inv", source_dir: str = "."):  # type: ignore[no-untyped-def]
    return git_facts(root, source_dir=source_dir, files=["c.yaml"], repository=repository, protocols=("file",))


def test_git_facts__pushed_branch__has_its_head_in_the_remote(root: Path, git: Git, github: Path) -> None:
    """Asked with the person's configuration and without the password in the address; another commit is another head."""
    head = git("rev-parse", "HEAD")
    assert facts(root).remotes == {"origin": None}
    git("push", "-q", str(github), "work")
    found = facts(root)
    assert (found.branch, found.head, found.changes, found.remotes) == ("work", head, (), {"origin": head})
    git("commit", "-q", "--allow-empty", "-m", "b")
    assert facts(root).remotes == {"origin": head}
    assert facts(root, "acme/other").remotes == {}
    assert facts(root, None).remotes == {}


def test_git_facts__changes__are_those_of_the_code_and_of_named_files(root: Path, git: Git, github: Path) -> None:
    """What differs needs no remote; files that nobody tracks count when they are named."""
    (root / "a.py").write_text("b\n")
    (root / "other.txt").write_text("new")
    (root / "c.yaml").write_text("new")
    found = facts(root)
    assert (found.changes, found.remotes) == (("a.py", "c.yaml"), {})
    assert facts(root, source_dir="src").changes == ("c.yaml",)


def test_git_facts__no_commit_no_branch_no_repository__are_told(git: Git, tmp_path: Path) -> None:
    """Each without an error."""
    assert facts(tmp_path / "work").problem.code == "BK711"
    git("init", "-q", "--initial-branch=work")
    found = facts(tmp_path / "work")
    assert (found.problem, found.branch, found.head) == (None, "work", None)
    git("commit", "-q", "--allow-empty", "-m", "a")
    git("checkout", "-q", "--detach")
    assert (facts(tmp_path / "work").branch, facts(tmp_path / "work").head) == (None, git("rev-parse", "HEAD"))


def test_remote_head__protocol_that_is_not_allowed__is_a_problem(github: Path) -> None:
    """Without tests a folder is no remote: only https and ssh are spoken."""
    found = remote_head("https://github.com/acme/inv.git", "work")
    assert isinstance(found, Problem)


def test_remote_head__no_answer_in_time__is_a_problem(github: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits longer than that."""
    monkeypatch.setattr(git_push, "REMOTE_SECONDS", 0.0)
    monkeypatch.setenv("PATH", f"{github.parent}{os.pathsep}{os.environ['PATH']}")
    slow = github.parent / "git"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    found = remote_head("https://github.com/acme/inv.git", "work")
    assert isinstance(found, Problem)
    assert "did not answer within 0 seconds" in found.message


def test_git_facts__hostile_repository__runs_and_redirects_nothing(root: Path, git: Git, github: Path) -> None:
    """Programs and addresses in the repository's own configuration have no say in what is asked."""
    git("push", "-q", str(github), "work")
    evil = root.parent / "evil"
    git("config", "core.sshCommand", f"touch {evil}")
    git("config", "credential.helper", f"!touch {evil}")
    git("config", "core.fsmonitor", f"touch {evil}")
    git("config", "core.hooksPath", str(root.parent))
    git("config", f"url.ext::touch {evil} .insteadOf", "https://github.com/")
    git("config", "protocol.ext.allow", "always")
    assert facts(root).remotes == {"origin": git("rev-parse", "HEAD")}
    assert not evil.exists()


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://token@github.com/Acme/inv.git", "https://github.com/acme/inv.git"),
        ("http://github.com/acme/inv", "https://github.com/acme/inv.git"),
        ("git@github.com:acme/inv.git", "ssh://git@github.com/acme/inv.git"),
        ("ssh://git@github.com:22/acme/inv", "ssh://git@github.com/acme/inv.git"),
    ],
)
def test_address__remote__is_made_anew(url: str, address: str) -> None:
    """The way is kept, passwords and ports are not."""
    assert git_push._address(url, "acme/inv") == address
