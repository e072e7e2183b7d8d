"""Trees of a configuration: words that are not decided yet, and trees made from JSON."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.config import parse_config
from beaker.core.config_tree import MapNode, kind_of, plain_json, resolve_plain, tree_from_json

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=10
)


@given(JSON)
def test_tree_from_json__any_value__is_that_value_again(data: Any) -> None:
    """Making a tree of JSON and reading the tree as JSON changes nothing, and finds nothing wrong."""
    made, problems = plain_json(tree_from_json(data), file="f", path="$")
    assert (made, problems) == (data, ())


@given(st.text())
def test_tree_from_json__text__stays_text_whatever_it_looks_like(text: str) -> None:
    """Text of JSON is text: a quoted `012` or `no` is not read again."""
    node = tree_from_json(text)
    assert (node.raw, node.value) == (text, text)  # type: ignore[union-attr]


@given(JSON)
def test_tree_from_json__any_value__can_be_judged_as_a_configuration(data: Any) -> None:
    """The schema is total over trees of JSON; every problem has the one place there is."""
    found = parse_config(tree_from_json(data, line=3), "f")
    if not is_successful(found):
        assert {problem.where for problem in found.failure()} == {"f:3"}


@given(SCALARS.filter(lambda value: not isinstance(value, str)))
def test_tree_from_json__word__resolves_to_its_value(value: Any) -> None:
    """The word of a number, switch or nothing is one that stands for it, as a configuration file would have it."""
    node = tree_from_json(value)
    assert resolve_plain(node.raw) == value  # type: ignore[union-attr]


def test_get__key__gives_its_node_or_nothing() -> None:
    """A mapping is asked for nodes and for keys by their words."""
    tree = tree_from_json({"a": [1], "b": True})
    assert isinstance(tree, MapNode)
    assert kind_of(tree) == "a mapping"
    first = tree.get("a")
    assert first is not None
    assert kind_of(first) == "a list"
    assert tree.get("c") is tree.key("c") is None
    key = tree.key("b")
    assert key is not None
    assert (key.raw, key.line, key.column) == ("b", 1, 1)


@pytest.mark.parametrize("raw", ["9" * 5_000, "-" + "9" * 5_000])
def test_resolve_plain__endless_number__stays_text(raw: str) -> None:
    """A number of thousands of digits is no number anyone means, and no reason to fail."""
    assert resolve_plain(raw) == raw
