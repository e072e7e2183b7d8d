"""Git, asked through its command: what is checked out, what a commit holds, and small repositories of our own.

Every call runs without hooks, filters, transports, prompts, signing, a pager or the caller's `GIT_*` variables, and for
a limited time (`files.git_process`). Functions return a `Problem` when Git is missing (BK710), the folder is no
repository (BK711) or the question has no answer.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.problems import Problem, Refused
from beaker.core.remotes import checkout_repository
from beaker.core.values import value
from beaker.files.git_process import git_output, git_problem, object_reader, run_git, without_filters

FILE_MODE, EXECUTABLE_MODE, LINK_MODE, SUBMODULE_MODE = "100644", "100755", "120000", "160000"


@value
class TreeFile:
    """One entry of a commit: its path from the repository's root, Git's mode, and its bytes.

    A link (`LINK_MODE`) carries the path it points at; a submodule (`SUBMODULE_MODE`) has no bytes.
    """

    path: str
    mode: str
    data: bytes


def head_commit(root: Path) -> Result[str, Problem]:
    """The full id of the checked-out commit; BK712 when nothing has been committed yet."""
    found = resolve_ref(root, "HEAD")
    if not is_successful(found) and found.failure().code == "BK712":
        return Failure(Problem("BK712", "nothing has been committed yet", str(root), "commit your files first"))
    return found


def resolve_ref(root: Path, ref: str) -> Result[str, Problem]:
    """The full commit id of a branch, tag or commit; BK712 when `ref` names none."""
    if ref and not ref.startswith("-"):
        found = git_output(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        if is_successful(found) or found.failure().code in ("BK710", "BK711"):
            return found.map(lambda out: out.decode("ascii").strip())
    hint = "name a local branch, a tag or a commit (`git branch`, `git tag` list them)"
    return Failure(Problem("BK712", f"no commit is named {ref!r}", str(root), hint))


def current_branch(root: Path) -> Result[str | None, Problem]:
    """The name of the checked-out branch, `None` when HEAD is detached."""
    found = run_git(root, "symbolic-ref", "--quiet", "--short", "HEAD")
    if not is_successful(found):
        return Failure(found.failure())
    done = found.unwrap()
    if done.returncode == 0:
        return Success(_text(done.stdout).strip())
    return Success(None) if done.returncode == 1 else Failure(git_problem(root, done))


def dirty_files(root: Path, *, also: Iterable[str] = ()) -> Result[tuple[str, ...], Problem]:
    """Paths whose working copy differs from the checked-out commit, sorted.

    Counted: every change to a tracked file, staged or not, and files not yet added below a `.beaker` folder or named
    in `also` (paths from the root). Other files Git does not track do not count, nor do ignored ones, nor `.env`.

    Filters are programs that the repository may name, and are not run: a touched file that one would translate (large
    file storage) counts as changed until Git itself has looked at it (`git status`).
    """
    unfiltered = without_filters(root)
    if not is_successful(unfiltered):
        return Failure(unfiltered.failure())
    # The index is not refreshed here (no lock is taken), so a touched but equal file needs `status`, not `diff-index`.
    asked = ("status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=dirty")
    changed, added = git_output(root, *unfiltered.unwrap(), *asked), watched_files(root, also=also)
    if not is_successful(changed):
        return Failure(changed.failure())
    if not is_successful(added):
        return Failure(added.failure())
    paths = {*added.unwrap()}
    entries = iter(_fields(changed.unwrap()))
    for entry in entries:
        paths.add(entry[3:])
        if set(entry[:2]) & {"R", "C"}:
            next(entries, None)  # the old name follows a rename
    return Success(tuple(sorted(paths)))


def watched_files(root: Path, *, also: Iterable[str] = ()) -> Result[tuple[str, ...], Problem]:
    """Files that Git neither tracks nor ignores, and that `dirty_files` counts nevertheless; sorted."""
    watched = (":(top,glob)**/.beaker/**", *(f":(top,literal){path}" for path in also))
    listed = git_output(root, "ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--", *watched)
    return listed.map(
        lambda out: tuple(sorted(path for path in _fields(out) if not path.rpartition("/")[2].startswith(".env")))
    )


def untracked_files(root: Path, *, below: str = ".") -> Result[tuple[str, ...], Problem]:
    """Files in the folder `below` that are neither tracked nor ignored, sorted; all paths count from `root`."""
    folder = os.path.normpath(below)
    places = () if folder == "." else (f":(top,literal){folder}",)
    listed = git_output(root, "ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--", *places)
    return listed.map(lambda out: tuple(sorted(_fields(out))))


def present_files(root: Path) -> Result[tuple[str, ...], Problem]:
    """Files that are tracked, or neither tracked nor ignored, sorted: what could be committed now."""
    listed = git_output(root, "ls-files", "--cached", "--others", "--exclude-standard", "--full-name", "-z")
    return listed.map(lambda out: tuple(sorted({path for path in _fields(out) if os.path.lexists(root / path)})))


def copies_in_commit(root: Path, commit: str, file: Path) -> Result[tuple[str, ...], Problem]:
    """Paths of `commit` whose content is that of `file`, which may lie anywhere; compared without reading a blob."""
    hashed = git_output(root, "hash-object", "--no-filters", "--", str(file.absolute()))
    if not is_successful(hashed):
        return Failure(hashed.failure())
    listing = git_output(root, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit)
    object_id = hashed.unwrap().strip()
    return listing.map(
        lambda out: tuple(
            os.fsdecode(line.partition(b"\t")[2])
            for line in out.split(b"\0")[:-1]
            if line.partition(b"\t")[0].endswith(b" blob " + object_id)
        )
    )


def remotes(root: Path) -> Result[Mapping[str, str], Problem]:
    """Name to URL of every configured remote."""
    found = run_git(root, "config", "--null", "--get-regexp", r"^remote\..*\.url$")
    if not is_successful(found):
        return Failure(found.failure())
    done = found.unwrap()
    if done.returncode not in (0, 1):  # 1: no such key
        return Failure(git_problem(root, done))
    urls: dict[str, str] = {}
    for item in _fields(done.stdout):
        key, _, url = item.partition("\n")
        urls.setdefault(key.removeprefix("remote.").removesuffix(".url"), url)
    return Success(urls)


def remote_repository(root: Path) -> Result[str | None, Problem]:
    """`owner/name` of the checkout's GitHub remote, `None` when there is none or several without an `origin`."""
    return remotes(root).map(checkout_repository)


def read_commit(root: Path, commit: str) -> Iterator[TreeFile]:
    """Every entry of `commit`, in Git's order, one at a time: files, links and submodules, never what is untracked.

    Raises `Refused` with the `Problem`, also midway.
    """
    listing = git_output(root, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit)
    if not is_successful(listing):
        raise Refused(listing.failure())
    with object_reader(root) as objects:
        for line in listing.unwrap().split(b"\0")[:-1]:
            about, _, raw = line.partition(b"\t")
            mode, kind, object_id = about.decode("ascii").split()
            try:
                path = raw.decode("utf-8")
            except UnicodeDecodeError:
                problem = Problem("BK715", f"the tracked file name {raw!r} is not UTF-8", str(root), "rename the file")
                raise Refused(problem) from None
            yield TreeFile(path, mode, objects.read(object_id, path) if kind == "blob" else b"")


def read_file_at(root: Path, commit: str, path: str) -> Result[bytes, Problem]:
    """The bytes of one file of `commit`, `path` counted from the repository's root; BK714 when no file is there."""
    listed = git_output(
        root, "--literal-pathspecs", "ls-tree", "-z", "--full-tree", "--end-of-options", commit, "--", path
    )
    if not is_successful(listed):
        return listed
    line = listed.unwrap().split(b"\0")[0]
    if line.split(b" ")[0].decode("ascii") not in (FILE_MODE, EXECUTABLE_MODE):
        found = "is not a regular file" if line else "does not exist"
        hint = "commit it first (`git add`, `git commit`)"
        return Failure(Problem("BK714", f"{path} {found} in commit {commit[:12]}", str(root), hint))
    object_id = line.split()[2].decode("ascii")
    return git_output(root, "cat-file", "blob", object_id)


def init_repository(root: Path, *, branch: str = "main") -> Result[None, Problem]:
    """Make `root`, an existing folder, a Git repository without template files or hooks."""
    return git_output(root, "init", "--quiet", "--template=", f"--initial-branch={branch}").map(lambda _: None)


def commit_all(root: Path, message: str, *, ignored_too: bool = False) -> Result[str, Problem]:
    """Commit every file below `root`, without those ignored there unless `ignored_too`, and return the commit's id.

    The commit is Beaker's own: its identity, no signature, no hooks, whatever the user's configuration says.
    """
    unfiltered = without_filters(root)
    if not is_successful(unfiltered):
        return Failure(unfiltered.failure())
    plain = (*unfiltered.unwrap(), "-c", "core.autocrlf=false", "-c", "core.excludesFile=")
    added = git_output(root, *plain, "add", "--all", *(("--force",) if ignored_too else ()), "--", ".")
    if not is_successful(added):
        return Failure(added.failure())
    identity = ("-c", "user.name=Beaker", "-c", "user.email=beaker@localhost", "-c", "commit.gpgSign=false")
    made = git_output(
        root,
        *plain,
        *identity,
        "commit",
        "--quiet",
        "--no-verify",
        "--allow-empty",
        "--cleanup=verbatim",
        "-m",
        message,
    )
    return head_commit(root) if is_successful(made) else Failure(made.failure())


def _fields(out: bytes) -> list[str]:
    return [os.fsdecode(field) for field in out.split(b"\0")[:-1]]


def _text(out: bytes) -> str:
    return out.decode("utf-8", "replace")
