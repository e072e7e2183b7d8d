"""Where in the customer's code something failed: `file:line`, read off a traceback, counted from the checkout."""

import inspect
import os
import re
import sys
from pathlib import Path
from typing import Any

_FRAME = re.compile(r'^[ |+]*File "(?P<file>[^"\n]+)", line (?P<line>\d+)', re.MULTILINE)
_CODE = re.compile(r"(?P<file>/.+\.py)(?P<line>:\d+)?")
_INSTALLED = {"site-packages", "dist-packages"}
_BEAKER = str(Path(__file__).parents[1])


def place_in(traceback: str, checkout: Path) -> str:
    """The innermost frame of a traceback that lies in `checkout`, as `file:line` relative to it; empty without one.

    Of a chain of exceptions the last counts. Installed packages and the interpreter are not the customer's code, also
    where they lie inside the checkout. A syntax error's own place counts as a frame.
    """
    for frame in reversed(list(_FRAME.finditer(traceback))):
        if (file := in_checkout(frame["file"], checkout)) is not None:
            return f"{file}:{frame['line']}"
    return ""


def within(where: str, checkout: Path) -> str:
    """`where` as it is, but a file of the customer's code, or a line of one, relative to the checkout."""
    named = _CODE.fullmatch(where)
    file = None if named is None else in_checkout(named["file"], checkout)
    return where if named is None or file is None else f"{file}{named['line'] or ''}"


def defined_at(thing: Any) -> str:
    """Where a function or class is defined, `/path/file.py:line`; empty when that cannot be told."""
    try:
        found = inspect.unwrap(thing)
        lines, first = inspect.getsourcelines(found)
        # Decorators come first; the line with the name is the one to look at.
        named = (at for at, line in enumerate(lines) if line.lstrip().startswith(("def ", "async def ", "class ")))
        return f"{inspect.getsourcefile(found)}:{first + next(named, 0)}"
    except (OSError, TypeError, ValueError):
        return ""


def in_checkout(file: str, checkout: Path) -> str | None:
    """The path of a file of the customer's code, counted from the checkout; `None` for any other file."""
    root, path = os.path.realpath(checkout), os.path.realpath(file)
    if not os.path.isabs(file) or not path.startswith(root + os.sep):
        return None
    relative = os.path.relpath(path, root)
    prefixes = [os.path.realpath(prefix) for prefix in (sys.prefix, sys.base_prefix, _BEAKER)]
    inside = (prefix for prefix in prefixes if prefix.startswith(root + os.sep))
    if not _INSTALLED.isdisjoint(relative.split(os.sep)) or any(path.startswith(one + os.sep) for one in inside):
        return None
    return relative
