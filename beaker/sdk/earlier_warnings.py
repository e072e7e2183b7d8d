"""Telling a customer about something that earlier generations had: a `DeprecationWarning` at the customer's own line.

Python's `stacklevel` counts frames, which are not always the same between a customer and us; here the first frame
outside of Beaker is taken.
"""

import os
import sys
import warnings
from types import FrameType
from typing import Any

_BEAKER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_IMPORTING = "_handle_fromlist"


def warn_caller(message: str) -> None:
    """Warn at the line of the customer's code that is being executed.

    `from beaker import Name` looks a name up twice: the import system asks whether the package has it, then the
    statement takes it. Only the second warns.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_beaker(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is not None and frame.f_code.co_name != _IMPORTING:
        warn_at(message, frame.f_code.co_filename, frame.f_lineno, frame.f_globals)


def warn_at(message: str, file: str, line: int, namespace: dict[str, Any]) -> None:
    """Warn at `line` of `file`, a module with this namespace; Python's filters decide whether it is shown, and show the
    same warning once per line unless they say otherwise.
    """
    registry = namespace.setdefault("__warningregistry__", {})
    module = namespace.get("__name__", "<unknown>")
    warnings.warn_explicit(message, DeprecationWarning, file, line, module=module, registry=registry)


def is_beaker(file: str) -> bool:
    """Whether code of this file is Beaker's own."""
    return file.startswith(_BEAKER)
