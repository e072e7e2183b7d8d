"""What is wrong with a row: where, and what."""

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
