"""Telling a customer about something that earlier generations had: a `DeprecationWarning` at the customer's own line.

Python's `stacklevel` counts frames, which are not always the same between a customer and us; here the first frame
outside of Beaker is taken.
"""

import inspect
import linecache
import os
import sys
import warnings
from types import FrameType
from typing import Any

_BEAKER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_IMPORTING = "_handle_fromlist"

_WARNED = "__beaker_warned__"
"""In a module's namespace: what it has been warned about, where once is enough."""


def warn_caller(message: str, *, once: bool = False) -> None:
    """Warn at the line of the customer's code that is being executed; with `once` only where its module first does it.

    `from beaker import Name` looks a name up twice: the import system asks whether the package has it, then the
    statement takes it. Only the second warns.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_beaker(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None or is_importing(frame):
        return
    warned = frame.f_globals.setdefault(_WARNED, set()) if once else set()
    if message not in warned:
        warn_at(message, frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
        warned.add(message)


def is_importing(frame: FrameType) -> bool:
    """Whether it is the import system that asks whether there is a name."""
    return frame.f_code.co_name == _IMPORTING


def warn_at(message: str, file: str, line: int, namespace: dict[str, Any]) -> None:
    """Warn at `line` of `file`, a module with this namespace; Python's filters decide whether it is shown, and show the
    same warning once per line unless they say otherwise.
    """
    registry = namespace.setdefault("__warningregistry__", {})
    module = namespace.get("__name__", "<unknown>")
    warnings.warn_explicit(message, DeprecationWarning, file, line, module=module, registry=registry)


def warn_at_function(message: str, function: Any) -> None:
    """Warn at the line that names a function; its decorators stand before that. What is none is told to its caller."""
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    if code is None:
        warn_caller(message)
        return
    line = code.co_firstlineno
    while (text := linecache.getline(code.co_filename, line)) and not text.lstrip().startswith(("def ", "async def ")):
        line += 1
    warn_at(message, code.co_filename, line if text else code.co_firstlineno, function.__globals__)


def is_beaker(file: str) -> bool:
    """Whether code of this file is Beaker's own."""
    return file.startswith(_BEAKER)
