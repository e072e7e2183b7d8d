"""`beaker run smoke --watch`: checks again whenever a file of the project or of its dataset has changed."""

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from beaker.cli.shell import Io, one_line
from beaker.cli.watch import clock
from beaker.core.file_changes import Stamp, changed, changes_text, settled
from beaker.core.problems import Refused
from beaker.files.looking import look_at

LOOK_SECONDS = 0.5
"""Seconds between two looks; at least ten times as long as a look takes."""

Check = Callable[[], Sequence[Path]]
"""Checks once, and gives the folders that it read, the project's first."""


def watch_smoke(check: Check, arguments: argparse.Namespace, io: Io) -> NoReturn:
    """Check, wait for a change, and so on, until an interrupt ends it.

    What cannot be checked is said, and waited for like anything else. Files that the check itself writes are no change.
    """
    leave_out = () if arguments.junit is None else (io.cwd / arguments.junit,)
    folders: Sequence[Path] = (io.cwd,)

    def look() -> dict[str, Stamp]:
        return look_at(folders, leave_out=leave_out)

    while True:
        before = look()
        try:
            folders = tuple(dict.fromkeys((*check(), *folders)))
        except Refused as refused:
            if not io.cwd.is_dir():
                raise  # a folder that comes back is another one
            io.fail(refused.problems)
        io.stdout.flush()
        known = settled(before, look())
        io.note(f"{clock(io)}  waiting for changes; Ctrl-C ends it")
        root = os.path.join(folders[0].resolve(), "")
        paths = tuple(path.removeprefix(root) for path in _wait(look, known, io))
        io.note(f"{clock(io)}  changed: {one_line(changes_text(paths))}")


def _wait(look: Callable[[], dict[str, Stamp]], known: dict[str, Stamp], io: Io) -> tuple[str, ...]:
    """Wait until files are others than the known ones, and stay so from one look to the next; which they are."""
    last = known
    while True:
        began = io.now()
        now = look()
        if now == last and (found := changed(known, now)):
            return found
        last = now
        io.sleep(max(LOOK_SECONDS, 10 * (io.now() - began)))
