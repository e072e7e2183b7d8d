"""Laws of reading a field by its dotted path."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.sdk.field_paths import extract_field_from_object


class Thing:
    name = "thing"
    nothing = None

    @property
    def missing(self) -> None:
        raise KeyError("missing")

    @property
    def broken(self) -> None:
        raise RuntimeError("broken")


@pytest.mark.parametrize(
    "path,expected",
    [
        ("a.b", 0),
        ("a..b", 0),
        (".a.b.", 0),
        ("a.c", None),
        ("a.b.c", None),
        ("none.x.y", None),
        ("thing.name", "thing"),
        ("thing.missing", None),
        ("thing.nothing.more", None),
        ("list.0", None),
        ("x", None),
    ],
)
def test_extract__path__gives_what_stands_there(path: str, expected: Any) -> None:
    """Keys of dicts and attributes of objects are followed; what is missing is `None`; falsy values are returned."""
    assert extract_field_from_object({"a": {"b": 0}, "none": None, "thing": Thing(), "list": [1]}, path) == expected


@given(st.recursive(st.integers(), lambda inner: st.dictionaries(st.text(), inner, max_size=3), max_leaves=6))
def test_extract__empty_path__is_the_object(obj: Any) -> None:
    """No segment leads nowhere else, and no path raises on plain data."""
    assert extract_field_from_object(obj, "") is obj
    assert extract_field_from_object(obj, "..") is obj
    if isinstance(obj, dict):
        for key, item in obj.items():
            if key and "." not in key:
                assert extract_field_from_object(obj, key) == item


def test_extract__customers_own_error__is_not_hidden() -> None:
    """A property that fails for another reason than absence fails here too; methods are plain attributes."""
    with pytest.raises(RuntimeError):
        extract_field_from_object(Thing(), "broken")
    assert extract_field_from_object({"a": "x"}, "a.upper")() == "X"
    with pytest.raises(AttributeError):
        extract_field_from_object({}, 3)  # type: ignore[arg-type]  # the point of the test
