"""Which row `load_cases` is being asked about: for loaders of the Spec generation, which are told."""

from contextvars import ContextVar
from typing import NamedTuple


class RowPlace(NamedTuple):
    """The split of a row, and where it stands: `file:line`, empty when that is not known."""

    split: str
    where: str = ""


CURRENT_ROW: ContextVar[RowPlace | None] = ContextVar("current_row", default=None)
"""The row of the current task; `None` outside of a run."""
