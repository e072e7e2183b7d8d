"""Rows that are bound to give the same case id, found while rows are checked, before any of them is loaded."""

import inspect
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from beaker.core.row_ids import RowField, id_fields
from beaker.core.text import shown
from beaker.sdk.setups import RunSetup


def fields_of_ids(setup: type[RunSetup[Any]]) -> tuple[RowField, ...]:
    """The fields of a row that make the id of its only case, where the source of `load_cases` shows that."""
    try:
        return id_fields(inspect.getsource(setup.load_cases))
    except (OSError, TypeError):
        return ()


class RepeatedIds:
    """Notes of every row, in eight bytes, what its id is made of; rows are only compared where notes are equal."""

    def __init__(self, fields: tuple[RowField, ...]) -> None:
        self._fields = fields
        self._notes = array("q")
        self._known = bool(fields)

    def note(self, row: Any) -> None:
        """Note a row. One without the fields, or with values that are no plain ones, ends the noting."""
        if self._known:
            key = self._key(row)
            if key is None:
                self._known = False
            else:
                self._notes.append(hash(key))

    def named(self, row: Mapping[str, Any]) -> str:
        """What makes the id of a row as it was written, to be told behind a fault of it; empty where that is not known
        or is not there."""
        told = [_said(one, (object, row[one.name])) for one in self._fields if one.name in row]
        return f" ({' and '.join(told)})" if told else ""

    def may_repeat(self) -> bool:
        """Whether two rows may have the same fields; when not, they have not."""
        return self._known and len(set(self._notes)) < len(self._notes)

    def repeated(self, rows: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, str, str]]:
        """The place of each of the `rows` whose fields are those of an earlier one, the place of that, and the fields
        with their values."""
        counts = Counter(self._notes)
        suspected = {note for note, count in counts.items() if count > 1}
        first: dict[Any, str] = {}
        for place, row in rows:
            key = self._key(row)
            if key is not None and hash(key) in suspected and (earlier := first.setdefault(key, place)) != place:
                yield place, earlier, " and ".join(map(_said, self._fields, key))

    def _key(self, row: Any) -> tuple[tuple[type, Any], ...] | None:
        """The values of the fields with their types: 1 and True are equal, and make different ids."""
        try:
            values = [getattr(row, one.name) if one.is_attribute else row[one.name] for one in self._fields]
        except Exception:  # rows are customers' objects; one that cannot be read tells no id, and loading judges it
            return None
        if not all(type(one) in (str, int, bool) for one in values):
            return None
        return tuple((type(one), one) for one in values)


def _said(field: RowField, found: tuple[type, Any]) -> str:
    written = f"row.{field.name}" if field.is_attribute else f"row[{field.name!r}]"
    return f"{written} = {shown(found[1])}"
