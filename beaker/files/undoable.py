"""Writing several files that belong together: when what follows fails, everything is as it was before."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from beaker.core.problems import Refused
from beaker.files.atomic import write_bytes
from beaker.files.project import leads_out
from beaker.files.reading import read_regular


@contextmanager
def undoable(files: Mapping[Path, bytes]) -> Iterator[None]:
    """Write each file with its content, making folders where they are missing; undo it all when the block raises.

    Raises `OSError`, and `Refused` before anything is written for a file that would end up outside its repository
    (`leads_out`); then everything is as it was, too.
    """
    if outside := [problem for path in files if (problem := leads_out(path)) is not None]:
        raise Refused(outside)
    before: dict[Path, bytes | None] = {}
    folders: list[Path] = []
    try:
        for path, data in files.items():
            missing = [folder for folder in path.parents if not os.path.lexists(folder)]
            for folder in reversed(missing):
                folder.mkdir()
                folders.append(folder)
            before[path] = read_regular(path) if path.exists() else None
            write_bytes(path, data)
        yield
    except BaseException:
        for path, old in before.items():
            if old is None:
                path.unlink(missing_ok=True)
            else:
                write_bytes(path, old)
        for folder in reversed(folders):
            try:
                folder.rmdir()
            except OSError:
                pass  # somebody else put something there
        raise
