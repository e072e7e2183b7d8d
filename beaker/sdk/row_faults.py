"""What is wrong with a row: where, and what."""

from collections.abc import Iterator

from cattrs.errors import ClassValidationError, ForbiddenExtraKeysError, IterableValidationError

from beaker.core.values import value

MAX_TOLD = 20
"""Faults that the message of an `InvalidRow` tells; the others it counts."""


@value
class RowFault:
    """One thing wrong in a row: the path of the field (`lines[2].amount`, empty for the row itself) and what."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class InvalidRow(ValueError):
    """A row that does not match the row model; `faults` holds everything that is wrong with it."""

    def __init__(self, faults: tuple[RowFault, ...]) -> None:
        self.faults = faults
        more = f"; and {len(faults) - MAX_TOLD} more" if len(faults) > MAX_TOLD else ""
        super().__init__("; ".join(map(str, faults[:MAX_TOLD])) + more)


def row_faults(error: Exception) -> tuple[RowFault, ...]:
    """Every fault inside what cattrs raised for a row."""
    return tuple(RowFault(path.lstrip("."), message) for path, message in _found(error, ""))


def _found(error: BaseException, path: str) -> Iterator[tuple[str, str]]:
    match error:
        case ClassValidationError() | IterableValidationError():
            at_a_key, others = error.group_exceptions()
            for inner, note in at_a_key:
                key = note.name if hasattr(note, "name") else note.index
                place = f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}"
                if isinstance(inner, KeyError) and inner.args == (key,):
                    yield place, "is missing"
                else:
                    yield from _found(inner, place)
            for inner in others:
                yield from _found(inner, path)
        case ForbiddenExtraKeysError():
            for key in sorted(error.extra_fields):
                yield f"{path}.{key}", "is not a known key"
        case _:
            yield path, _said(error)


def _said(error: BaseException) -> str:
    """The words of an error; with its name where it is not one that a check raises, or has no words."""
    words = str(error)
    if words and isinstance(error, ValueError | TypeError):
        return words
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
