"""What Git says of a checkout and of the branch in its remotes, for whoever wants to know whether it is pushed.

The remotes are asked from outside the repository: its own configuration may name programs and other addresses, and has
no say. The address is made anew from the owner and name, so that no password in it travels; what the person's own
configuration sets (helpers for passwords, mirrors) counts. Nobody is asked for anything.
"""

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from returns.pipeline import is_successful

from beaker.core.problems import Problem
from beaker.core.push_state import GitFacts, RemoteHead, relevant_changes
from beaker.core.remotes import github_repository
from beaker.files.git import current_branch, dirty_files, head_commit, remotes
from beaker.files.git_process import git_problem, run_git
from beaker.files.patience import OutOfPatience, Patience

REMOTE_SECONDS = 5.0
"""How long a remote may take to answer."""

PROTOCOLS = ("https", "ssh")


def git_facts(
    root: Path,
    *,
    source_dir: str,
    files: Iterable[str],
    repository: str | None,
    protocols: Sequence[str] = PROTOCOLS,
) -> GitFacts:
    """The state of the checkout at `root`: branch, commit, what a run would lack, and, with a `repository`
    (`owner/name`), the heads of the branch in those remotes that are it. `files` count from `root`."""
    branch = current_branch(root)
    if not is_successful(branch):
        return GitFacts(problem=branch.failure())
    name = branch.unwrap()
    watched = tuple(files)
    head = head_commit(root)
    if not is_successful(head):
        return GitFacts(branch=name)
    changed = dirty_files(root, also=watched)
    listed = remotes(root)
    for result in (changed, listed):
        if not is_successful(result):
            return GitFacts(problem=result.failure())
    changes = relevant_changes(changed.unwrap(), source_dir=source_dir, files=watched)
    heads: dict[str, RemoteHead] = {}
    if repository is not None and name is not None and not changes:
        for remote, url in listed.unwrap().items():
            if (github_repository(url) or "").casefold() == repository.casefold():
                heads[remote] = remote_head(_address(url, repository), name, protocols=protocols)
    return GitFacts(branch=name, head=head.unwrap(), changes=changes, remotes=heads)


def remote_head(url: str, branch: str, *, protocols: Sequence[str] = PROTOCOLS) -> RemoteHead:
    """The commit of a branch at an address, `None` where there is no such branch; a problem when it cannot be told."""
    wanted = f"refs/heads/{branch}"
    with tempfile.TemporaryDirectory(prefix="beaker-remote-") as nowhere:
        environment = {
            "GIT_ALLOW_PROTOCOL": ":".join(protocols),
            "GIT_CEILING_DIRECTORIES": str(Path(nowhere).parent),
            "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
            "GIT_ASKPASS": "",
            "SSH_ASKPASS": "",
        }
        arguments = ("ls-remote", "--heads", "--", url, wanted)
        try:
            asked = run_git(Path(nowhere), *arguments, environment=environment, patience=Patience(REMOTE_SECONDS))
        except OutOfPatience:
            return Problem("BK713", f"{url} did not answer within {REMOTE_SECONDS:g} seconds")
    if not is_successful(asked):
        return asked.failure()
    done = asked.unwrap()
    if done.returncode != 0:
        return git_problem(Path(url), done)
    for line in os.fsdecode(done.stdout).splitlines():
        commit, _, name = line.partition("\t")
        if name == wanted:
            return commit
    return None


def default_branch(root: Path) -> str | None:
    """The default branch of `origin` as this checkout remembers it from its clone; nothing is asked of the remote."""
    told = _told(root, "symbolic-ref", "--short", "refs/remotes/origin/HEAD")
    return told.partition("/")[2] or None


def unpushed_commits(root: Path) -> int:
    """How many commits of the checkout no remote had when it was last heard of; 0 where there is no remote."""
    if not _told(root, "for-each-ref", "--count=1", "refs/remotes"):
        return 0
    count = _told(root, "rev-list", "--count", "HEAD", "--not", "--remotes")
    return int(count) if count.isdecimal() else 0


def _told(root: Path, *arguments: str) -> str:
    """What Git prints, empty when it fails."""
    done = run_git(root, *arguments)
    if not is_successful(done) or done.unwrap().returncode != 0:
        return ""
    return os.fsdecode(done.unwrap().stdout).strip()


def _address(url: str, repository: str) -> str:
    """An address of a repository on GitHub in the way that `url` goes there."""
    by_ssh = url.strip().startswith("ssh:") or "://" not in url
    return f"{'ssh://git@' if by_ssh else 'https://'}github.com/{repository}.git"
