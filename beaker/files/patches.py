"""Patches: what a candidate changes in the repository, as `git apply` takes it on the pinned commit.

Git itself writes them, in an empty repository that holds the changed files alone: no configuration, no attributes and
no program of the user or of the project has a say in them.
"""

import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.repository_tree import RepositoryEdits, RepositoryFile
from beaker.files.atomic import os_problem
from beaker.files.git_process import git_output

_OPTIONS = (
    "-r", "-p", "--binary", "--full-index", "--find-renames=50%", "-l0", "--unified=3", "--diff-algorithm=histogram",
    "--src-prefix=a/", "--dst-prefix=b/", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative",
)  # fmt: skip


def make_patch(
    before: Mapping[str, RepositoryFile], edits: RepositoryEdits, *, sha256_ids: bool = False
) -> Result[bytes, Problem]:
    """The patch that makes `edits` of a commit; empty when there are none.

    `before` holds, of every edited path, the file that the commit has there; paths beside them do not matter. A file
    that goes while a similar one comes is shown as a rename. Binary files are carried whole, so applying the patch
    gives exactly the edited files. `sha256_ids`: whether the commit's repository names its objects by SHA-256.
    """
    if not edits:
        return Success(b"")
    try:
        with tempfile.TemporaryDirectory(prefix="beaker-patch-") as folder:
            return _made(Path(folder), before, edits, "sha256" if sha256_ids else "sha1")
    except OSError as error:
        return Failure(os_problem(error, "make the patch"))


def _made(
    root: Path, before: Mapping[str, RepositoryFile], edits: RepositoryEdits, object_format: str
) -> Result[bytes, Problem]:
    alone = {
        "HOME": str(root),
        "XDG_CONFIG_HOME": str(root),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        # A repository around the temporary folder is none of ours.
        "GIT_DIR": str(root / "repository"),
    }
    steps: tuple[tuple[tuple[str, ...], bytes], ...] = (
        (("init", "--quiet", "--bare", "--template=", f"--object-format={object_format}"), b""),
        (("fast-import", "--quiet"), b"".join(_stream(before, edits))),
    )
    for arguments, given in steps:
        done = git_output(root, *arguments, given=given, environment=alone)
        if not is_successful(done):
            return done
    return git_output(root, "diff-tree", *_OPTIONS, "before", "after", "--", environment=alone)


def _stream(before: Mapping[str, RepositoryFile], edits: RepositoryEdits) -> Iterator[bytes]:
    """Two commits for `git fast-import`: the files as they were, and as they are edited."""
    by = b"committer Beaker <beaker@localhost> 0 +0000\ndata 0\n"
    yield b"commit refs/heads/before\nmark :1\n" + by
    for path in edits:
        if path in before:
            yield from _file(path, before[path])
    yield b"commit refs/heads/after\n" + by + b"from :1\n"
    for path, file in edits.items():  # first, so that a folder can take a file's place
        if file is None:
            yield b"D " + _quoted(path) + b"\n"
    for path, file in edits.items():
        if file is not None:
            yield from _file(path, file)


def _file(path: str, file: RepositoryFile) -> Iterator[bytes]:
    yield b"M %s inline %s\ndata %d\n" % (file.mode.encode(), _quoted(path), len(file.content))
    yield file.content
    yield b"\n"


def _quoted(path: str) -> bytes:
    """A path as Git reads it in quotes."""
    plain = b"".join(
        bytes((byte,)) if 0x20 <= byte < 0x7F and byte not in b'"\\' else b"\\%03o" % byte for byte in path.encode()
    )
    return b'"' + plain + b'"'
