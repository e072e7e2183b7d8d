"""Pages of a list: which items of a page are new, and where the next page begins.

Lists are newest first, and grow while somebody walks through them: items move on to later pages, where they come
again.
"""

import re
from collections.abc import Collection
from typing import Any

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.strict_json import JsonObject
from beaker.core.values import value

_COUNT = re.compile(r"[0-9]{1,15}")

ID_KEYS = ("id", "artifact_id")
"""What an item may be told from others by."""


@value
class Page:
    """The items that were not there before, their ids, and the offset of the next page, `None` after the last one."""

    items: tuple[Any, ...]
    ids: frozenset[str]
    next_offset: int | None


def read_page(
    answer: JsonObject, key: str, *, limit: int, offset: int, seen: Collection[object] = ()
) -> Result[Page, Problem]:
    """The page at `offset`, asked for with `limit`, from an answer that has it in the list `key`.

    It is the last one when it is empty, when the answer's `total` is reached, or, without a `total`, when it is not
    full. `seen` are ids of items that came before. BK825 when there is no list.
    """
    listed = answer.get(key)
    if not isinstance(listed, list | tuple):
        return Failure(Problem("BK825", f"the place listed no {key}"))
    named = [(_id(item), item) for item in listed]
    following = offset + len(listed)
    # Some services write counts as text; what is true or false is none.
    counted = _COUNT.fullmatch(str(answer.get("total")))
    more = bool(listed) and (following < int(counted[0]) if counted else len(listed) >= limit)
    ids = frozenset(item_id for item_id, _ in named if item_id is not None)
    new = tuple(item for item_id, item in named if item_id is None or item_id not in seen)
    return Success(Page(new, ids, following if more else None))


def _id(item: object) -> str | None:
    found = next((item[key] for key in ID_KEYS if item.get(key)), None) if isinstance(item, dict) else None
    return found if isinstance(found, str) else None
