"""Commits made beside the checkout: its index, its HEAD and its branches stay as they are, and so do its files.

They are put together in an index of their own, and carry the name of Beaker; whoever wants another amends them.
"""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Failure, Result

from beaker.core.problems import Problem, Refused
from beaker.files.atomic import os_problem
from beaker.files.git import head_commit, resolve_ref, watched_files
from beaker.files.git_process import git_output, run_git, without_filters

_AS_IT_IS = ("-c", "core.safecrlf=false", "-c", "core.splitIndex=false", "-c", "i18n.commitEncoding=utf-8")


def snapshot(root: Path, message: str, *, also: Iterable[str] = ()) -> Result[str, Problem]:
    """A commit on top of HEAD of everything that `dirty_files` counts, as the working copy has it now; HEAD itself
    when nothing differs.

    Changed and deleted tracked files are in it, files that were added to the index, and new files below `.beaker` or
    named in `also`; other untracked files are not. BK717 while a merge is unresolved. No branch holds the commit: Git
    removes it some day, unless something names it.
    """
    unmerged = git_output(root, "ls-files", "--unmerged", "-z")
    if not is_successful(unmerged):
        return Failure(unmerged.failure())
    if unmerged.unwrap():
        hint = "resolve it and add the files (`git status` names them)"
        return Failure(Problem("BK717", "a merge is unresolved, so the checkout is no one state", str(root), hint))
    watched, unfiltered, head = watched_files(root, also=also), without_filters(root), head_commit(root)
    for asked in (watched, unfiltered, head):
        if not is_successful(asked):
            return Failure(asked.failure())
    try:
        with _own_index(root) as index:
            if (present := root / _git(root, "rev-parse", "--git-path", "index")).exists():
                shutil.copyfile(present, index["GIT_INDEX_FILE"])
            # Filters are off for `write-tree` too: it looks once more at files that changed just now.
            plain = (*_AS_IT_IS, *unfiltered.unwrap(), "--literal-pathspecs")
            _git(root, *plain, "add", "--update", "--", ".", environment=index)
            if new := watched.unwrap():
                listed = b"".join(os.fsencode(path) + b"\0" for path in new)
                named = ("--pathspec-from-file=-", "--pathspec-file-nul")
                _git(root, *plain, "add", *named, given=listed, environment=index)
            tree = _git(root, *plain, "write-tree", environment=index)
        if tree == _git(root, "rev-parse", f"{head.unwrap()}^{{tree}}"):
            return head
        return _commit(root, tree, head.unwrap(), message)
    except Refused as refused:
        return Failure(refused.problems[0])
    except OSError as error:
        return Failure(os_problem(error, "make a commit of the checkout"))


def commit_patch(root: Path, commit: str, patch: bytes, message: str) -> Result[str, Problem]:
    """A commit on top of `commit` with what `patch` (of `files.patches`) changes; BK719 when it does not fit there."""
    try:
        with _own_index(root) as index:
            _git(root, "read-tree", commit, environment=index)
            applied = run_git(
                root, "-c", "apply.ignoreWhitespace=no", "apply", "--cached", "--whitespace=nowarn", "-",
                given=patch, environment=index,
            )  # fmt: skip
            if not is_successful(applied):
                return Failure(applied.failure())
            if applied.unwrap().returncode != 0:
                said = applied.unwrap().stderr.decode("utf-8", "replace").strip().splitlines()
                message = f"the patch does not fit commit {commit[:12]}: {said[0] if said else 'git apply failed'}"
                return Failure(Problem("BK719", message, str(root)))
            tree = _git(root, "write-tree", environment=index)
        return _commit(root, tree, commit, message)
    except Refused as refused:
        return Failure(refused.problems[0])
    except OSError as error:
        return Failure(os_problem(error, "make a commit of the patch"))


def create_branch(root: Path, name: str, commit: str) -> Result[None, Problem]:
    """Make the branch `name`, which must not exist, point at `commit`; BK718 when it does or can be no branch."""
    checked = run_git(root, "check-ref-format", "--branch", name)
    if not is_successful(checked):
        return Failure(checked.failure())
    # Git writes out what stands for another name; `@` it takes for one, although it means HEAD everywhere else.
    if checked.unwrap().returncode != 0 or checked.unwrap().stdout != os.fsencode(name) + b"\n" or name == "@":
        return Failure(Problem("BK718", f"{name!r} can be no branch", str(root), "choose another name"))
    if is_successful(resolve_ref(root, f"refs/heads/{name}")):
        return Failure(Problem("BK718", f"the branch {name!r} exists already", str(root), "choose another name"))
    # With a name that is taken meanwhile, or that another branch needs as a folder, Git refuses.
    made = git_output(root, "update-ref", "--stdin", "-z", given=f"create refs/heads/{name}\0{commit}\0".encode())
    if not is_successful(made):
        fault = made.failure()
        return Failure(Problem("BK718", f"the branch {name!r} cannot be made: {fault.message}", str(root), fault.hint))
    return made.map(lambda _: None)


def _commit(root: Path, tree: str, parent: str, message: str) -> Result[str, Problem]:
    made = git_output(root, *_AS_IT_IS, "commit-tree", "-p", parent, tree, given=message.encode())
    return made.map(lambda out: out.decode("ascii").strip())


def _git(root: Path, *arguments: str, given: bytes = b"", environment: "dict[str, str] | None" = None) -> str:
    done = git_output(root, *arguments, given=given, environment=environment)
    if not is_successful(done):
        raise Refused(done.failure())
    return os.fsdecode(done.unwrap()).strip()


@contextmanager
def _own_index(root: Path) -> Iterator[dict[str, str]]:
    """The environment of commands that are to use an index of their own, which is empty at first."""
    with tempfile.TemporaryDirectory(prefix="beaker-index-") as folder:
        yield {"GIT_INDEX_FILE": str(Path(folder) / "index")}
