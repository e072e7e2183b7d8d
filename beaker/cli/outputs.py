"""Files and folders that a command was asked to write: tried before any work is done, and named as they were given."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from beaker.core.problems import Problem, Refused
from beaker.files.atomic import os_problem

if TYPE_CHECKING:
    from pathlib import Path

    from beaker.cli.shell import Io


def output_file(io: "Io", given: str) -> "Path":
    """Where the file `given` is to be written; folders that it needs are made.

    `Refused` (BK701) when a folder stands there, or its folder cannot be made or written to.
    """
    target = io.cwd / given
    if target.is_dir():
        hint = "a folder stands where a file is meant; choose another path"
        raise Refused(Problem("BK701", "cannot write the file: Is a directory", given, hint))
    _make(target.parent, given)
    return target


def output_folder(io: "Io", given: str, *, files: tuple[str, ...] = ()) -> "Path":
    """The folder `given`, resolved and made. `Refused` (BK701) when it cannot be made or written to, or when a folder
    stands where one of its `files` is to be written."""
    folder = (io.cwd / given).resolve()
    _make(folder, given)
    for file in files:
        output_file(io, os.path.join(given, file))
    return folder


@contextmanager
def writing(what: str, given: str) -> Iterator[None]:
    """Writing that fails is `Refused` (BK701) with the path that was given."""
    try:
        yield
    except OSError as error:
        raise Refused(os_problem(error, f"write {what}", given)) from None


def _make(folder: "Path", given: str) -> None:
    with writing("there", given):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory", str(folder)) from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "Permission denied", str(folder))
