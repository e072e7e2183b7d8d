"""Opening a file of somebody else: a regular file or nothing, for a pipe may never answer and a device never end."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

# Non-blocking, in case a pipe takes the file's place between the two looks.
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def open_regular(path: Path) -> BufferedReader:
    """`path` open for reading bytes, links followed. `OSError` as from `open`, and for what is no regular file."""
    _check(path, os.stat(path).st_mode)
    descriptor = os.open(path, _OPEN)
    try:
        _check(path, os.fstat(descriptor).st_mode)
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path) -> bytes:
    """The bytes of `path`, which must be a regular file. `OSError` as from `open_regular`."""
    with open_regular(path) as file:
        return file.read()


def file_kind(mode: int) -> str:
    """What a mode that is not a regular file's stands for, with its article: `a pipe`."""
    for test, kind in (
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    ):
        if test(mode):
            return kind
    return "a device"


def _check(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, f"it is {file_kind(mode)}, not a regular file", str(path))
