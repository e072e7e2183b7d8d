"""Pages of a list: where the next one begins, and that no item comes twice."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.pages import Page, read_page

ITEM = {"id": "a"}


@pytest.mark.parametrize(
    ("answer", "following"),
    [
        ({"runs": []}, None),
        ({"runs": [], "total": 9}, None),
        ({"runs": [ITEM], "total": 9}, 5),
        ({"runs": [ITEM], "total": 6}, 5),
        ({"runs": [ITEM], "total": 5}, None),
        ({"runs": [ITEM], "total": 0}, None),
        ({"runs": [ITEM]}, None),
        ({"runs": [ITEM], "total": True}, None),
        ({"runs": [ITEM], "total": "9"}, 5),
        ({"runs": [ITEM, ITEM], "total": "6"}, None),
        ({"runs": [ITEM, ITEM], "total": "-9"}, 6),
        ({"runs": [ITEM, ITEM], "total": "9" * 16}, 6),
        ({"runs": [ITEM, ITEM]}, 6),
        ({"runs": [ITEM, ITEM, ITEM], "total": None}, 7),
        ({"runs": [ITEM, ITEM], "total": 6}, None),
    ],
)
def test_read_page__more_or_not__is_decided_by_total_or_a_full_page(answer: Any, following: int | None) -> None:
    """Asked for two at offset 4."""
    assert read_page(answer, "runs", limit=2, offset=4).unwrap().next_offset == following


@pytest.mark.parametrize("answer", [{}, {"runs": None}, {"runs": {"id": "a"}}, {"datasets": []}])
def test_read_page__no_list__is_refused(answer: Any) -> None:
    """What cannot be walked through."""
    problem = read_page(answer, "runs", limit=2, offset=0).failure()
    assert (problem.code, problem.message) == ("BK825", "the place listed no runs")


def test_read_page__items_that_came_before__are_left_out() -> None:
    """Told apart by id or artifact id; what has neither always comes."""
    items = [{"id": "a"}, {"id": "b"}, {"artifact_id": "c"}, {"artifact_id": "d", "id": ""}, {"id": 7}, "x", {}]
    page = read_page({"runs": items}, "runs", limit=10, offset=0, seen={"a", "c", 7}).unwrap()
    assert page == Page((items[1], items[3], {"id": 7}, "x", {}), frozenset("abcd"), None)


@given(st.integers(1, 7), st.integers(0, 30), st.lists(st.integers(0, 3), max_size=12), st.booleans())
def test_read_page__list_that_grows__gives_every_item_once(
    limit: int, count: int, growing: list[int], tells_total: bool
) -> None:
    """Whatever is added at the front meanwhile, all that were there at first come, none of them twice."""
    items = [{"id": f"i{number}"} for number in range(count)]
    first, added = list(items), iter(growing)
    seen: set[object] = set()
    walked: list[Any] = []
    offset: int | None = 0
    while offset is not None:
        answer = {"runs": items[offset : offset + limit]} | ({"total": len(items)} if tells_total else {})
        page = read_page(answer, "runs", limit=limit, offset=offset, seen=seen).unwrap()
        walked += page.items
        seen |= page.ids
        offset = page.next_offset
        items = [{"id": f"n{len(items)}-{number}"} for number in range(next(added, 0))] + items
    assert len({item["id"] for item in walked}) == len(walked)
    assert {item["id"] for item in first} <= {item["id"] for item in walked}
