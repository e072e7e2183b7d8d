"""The text rules every authoring type shares: text, names, relative paths, SHA-256, canonical model names.

Each rule is a pure check that returns the stored form or raises `ValueError` naming the field; the authoring classes
use them as converters, and `checked` turns one into a `Result` for callers that decide.
"""

import re
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from beaker.core.problems import Problem

# `import beaker` and one `Case` reach this module, so what only `checked` needs is imported by it.
if TYPE_CHECKING:
    from returns.result import Result

T = TypeVar("T")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}\Z")
_DRIVE = re.compile(r"[A-Za-z]:")


def text(value: object, label: str) -> str:
    """`value` without surrounding white space.

    `ValueError` unless it is a `str` with something left, and for a lone surrogate in it.
    """
    given = plain(value)
    if type(given) is not str or not (stripped := given.strip()):
        raise ValueError(f"{label} must be a non-empty string, not {shown(value)}")
    return encodable(stripped, label)


def encodable(value: str, label: str) -> str:
    """`value` as it is; `ValueError` for a lone surrogate, which can be neither stored nor sent."""
    given = str.__str__(value)
    if not given.isascii():
        try:
            given.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{label} must not hold a lone surrogate, which has no UTF-8 form") from None
    return given


def optional_text(value: object, label: str) -> str | None:
    """`None`, or as `text`."""
    return None if value is None else text(value, label)


def relative_path(value: object, label: str) -> str:
    """A normalised relative POSIX path; backslashes become `/`.

    `ValueError` for a drive or UNC prefix, an absolute path, `.` or `..` components, empty components, a trailing `/`.
    """
    path = text(value, label).replace("\\", "/")
    if _DRIVE.match(path) or path.startswith("/"):
        raise ValueError(f"{label} must be a relative path, not {path!r}")
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise ValueError(f"{label} must be a normalised path without empty, '.' or '..' parts, not {path!r}")
    return path


def name(value: object, label: str) -> str:
    """A document group or resource name: one component matching `[A-Za-z0-9][A-Za-z0-9._-]*`; else `ValueError`."""
    stripped = text(value, label)
    if not _NAME.match(stripped):
        raise ValueError(
            f"{label} must start with a letter or digit and hold only letters, digits, '.', '_' and '-', "
            f"not {shown(stripped)}"
        )
    return stripped


def sha256_hex(value: object, label: str) -> str:
    """64 hexadecimal digits, lower-cased; else `ValueError`."""
    given = plain(value)
    if type(given) is not str or not _SHA256.match(given):
        raise ValueError(f"{label} must be 64 hexadecimal digits, not {shown(value)}")
    return given.lower()


def optional_sha256_hex(value: object, label: str) -> str | None:
    """`None`, or as `sha256_hex`."""
    return None if value is None else sha256_hex(value, label)


def collision_key(path: str) -> str:
    """The form under which two paths are the same file on a careless file system: NFC, then casefold."""
    return path.lower() if path.isascii() else unicodedata.normalize("NFC", path).casefold()


def canonical_model(value: object, label: str) -> str:
    """`provider:model` with a lower-case provider, both halves non-empty, no outer blanks; else `ValueError`."""
    given = plain(value)
    if type(given) is str:
        provider, separator, model = given.partition(":")
        if separator and provider and model and given == given.strip() and provider == provider.lower():
            return given
    raise ValueError(f"{label} must read provider:model with a lower-case provider, not {shown(value)}")


def checked(rule: Callable[[object, str], T], value: object, label: str, code: str) -> "Result[T, Problem]":
    """Run a raising rule and return its value, or its message as a `Problem` with `code`."""
    from returns.result import Failure, Success

    try:
        return Success(rule(value, label))
    except (ValueError, TypeError) as error:
        return Failure(Problem(code, str(error)))


def visible(value: str) -> str:
    """`value` with control characters, surrogates and direction overrides written as escapes, for printing."""
    if value.isprintable():
        return value
    return "".join(
        character
        if character.isprintable() or character in "\n\t"
        else character.encode("unicode_escape", "backslashreplace").decode("ascii")
        for character in value
    )


def one_line(value: str) -> str:
    """`value` on one line: `visible`, and line ends and tabs written as escapes too, for names inside a line."""
    return visible(value).replace("\n", "\\n").replace("\t", "\\t")


FOREIGN = (Exception, SystemExit)
"""What code of others may raise where its failure is no matter: not an interrupt, and not a cancellation."""


def plain(value: Any) -> object:
    """The exact `str`, `int` or `float` that a value of a subclass is; anything else as it is. Runs no foreign code."""
    kind = type(value)
    if issubclass(kind, str):
        return str.__str__(value)  # `isinstance` would believe what the value says of itself
    if issubclass(kind, int):
        return value if kind is bool else int.__int__(value)
    return float.__float__(value) if issubclass(kind, float) else value


def shown(value: object) -> str:
    """`repr(value)` in at most 80 characters; what cannot be shown is told by its class. Never raises."""
    try:
        told = str.__str__(repr(value))
    except FOREIGN:
        return f"a value of class {class_name(value)} that cannot be shown"
    return told if len(told) <= 80 else f"{told[:77]}..."


def class_name(value: object, *, module: bool = False) -> str:
    """The name of a value's class, with its module if asked for, whatever its metaclass says. Never raises."""
    kind = type(value)
    if not module:
        return _NAME_OF(kind)
    try:
        return f"{kind.__module__}.{kind.__qualname__}"
    except FOREIGN:
        return _NAME_OF(kind)


_NAME_OF: Callable[[type], str] = type.__dict__["__name__"].__get__
