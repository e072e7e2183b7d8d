"""Laws of strict JSON: copies are equal and independent, everything else is refused with its path."""

import json
import math
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core import strict_json
from beaker.core.values import ReadOnlyDict

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)
keys = st.text(st.characters(exclude_categories=["Cs"]))
json_values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=30)


def same(left: Any, right: Any) -> bool:
    """Equality that tells 1, 1.0 and True apart and looks at key order."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    return bool(left == right) and repr(left) == repr(right)


def containers(value: Any) -> list[int]:
    if isinstance(value, list | dict):
        inside = value if isinstance(value, list) else value.values()
        return [id(value)] + [found for item in inside for found in containers(item)]
    return []


@given(json_values)
def test_json_value__copies_equal_and_shares_no_container(value: Any) -> None:
    """The copy is the same value, type for type, and none of its containers is the caller's."""
    copy = strict_json.json_value(value, "x")
    assert same(copy, value)
    assert not set(containers(copy)) & set(containers(value))


@given(json_values)
def test_parse__inverts_dumps_and_canonical(value: Any) -> None:
    """What we write we read back, in either form."""
    assert same(strict_json.parse(strict_json.dumps(value)).unwrap(), value)
    assert strict_json.parse(strict_json.canonical(value)).unwrap() == value


@given(st.one_of(st.text(), st.binary()))
def test_parse__any_input__is_value_or_problem(source: str | bytes) -> None:
    """No input makes the parser raise."""
    result = strict_json.parse(source)
    assert result.value_or(None) is not None or result.failure().code in {"BK201", "BK202"} or result.unwrap() is None


@given(json_values)
def test_canonical__ignores_key_order(value: Any) -> None:
    """Two spellings of one object hash alike."""

    def reversed_keys(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: reversed_keys(item[key]) for key in reversed(item)}
        return [reversed_keys(one) for one in item] if isinstance(item, list) else item

    assert strict_json.digest(value) == strict_json.digest(reversed_keys(value))


REFUSED = [
    ((1, 2), TypeError, "x must be JSON"),
    ({"a": {"b": [1, {2}]}}, TypeError, r"x\.a\.b\[1\] must be JSON"),
    ({1: 2}, TypeError, "not a string: 1"),
    ([0, math.nan], ValueError, r"x\[1\] must be a finite"),
    (math.inf, ValueError, "x must be a finite"),
    (["\ud800"], ValueError, r"x\[0\] holds a lone surrogate"),
    ({"\ud800": 1}, ValueError, "a key that holds a lone surrogate"),
    (b"x", TypeError, "bytes"),
]


@pytest.mark.parametrize(("bad", "error", "message"), REFUSED)
def test_json_value__not_json__is_refused_with_its_path(bad: object, error: type[Exception], message: str) -> None:
    """The error class is the sheet's and the message starts at the field and leads to the fault."""
    with pytest.raises(error, match=message):
        strict_json.json_value(bad, "x")


@pytest.mark.parametrize("beside", [[], [1], ["a"], [1.5], [None, True, 1, 1.5, "a"], ["é"]])
@pytest.mark.parametrize(
    "bad, error", [(math.nan, ValueError), (-math.inf, ValueError), ("\ud800", ValueError), ((), TypeError)]
)
def test_json_value__one_bad_scalar_among_good_ones__is_found(beside: list[Any], bad: object, error: Any) -> None:
    """Containers of scalars are judged at once, and no less strictly; theirs is a copy, too."""
    with pytest.raises(error, match=rf"x\[{len(beside)}\]"):
        strict_json.json_value([*beside, bad], "x")
    with pytest.raises(error, match=r"x\.bad"):
        strict_json.json_value({**{str(at): item for at, item in enumerate(beside)}, "bad": bad}, "x")
    for good in (beside, {"k": beside}, {"é": 1}):
        assert strict_json.json_value(good, "x") is not good
        assert same(strict_json.json_value(good, "x"), good)
    with pytest.raises(TypeError, match="has a key that is not a string: 1"):
        strict_json.json_value({"a": 1, 1: 1}, "x")


KEYS = st.text("ab", min_size=1, max_size=3) | st.integers(0, 3)
BAD = [(math.nan, ValueError), (math.inf, ValueError), ((1,), TypeError), ({1}, TypeError), (b"", TypeError)]


@given(st.lists(KEYS, max_size=8), st.sampled_from(BAD), json_values)
def test_json_value__one_bad_value_anywhere__is_found_with_its_path(
    path: list[Any], bad: tuple[object, type[Exception]], beside: Any
) -> None:
    """However deep it lies and whatever lies beside it, the path leads to it from the label."""
    value, error = bad
    for key in reversed(path):
        value = {"-": beside, key: value, "z": beside} if isinstance(key, str) else [beside] * key + [value, beside]
    with pytest.raises(error) as caught:
        strict_json.json_value(value, "Case.input")
    told = "".join(f".{key}" if isinstance(key, str) else f"[{key}]" for key in path)
    assert str(caught.value).startswith(f"Case.input{told} must be ")


def test_json_value__depth__has_a_limit_and_a_path() -> None:
    """200 levels pass, 201 do not, and a cycle is named as one."""
    nested: Any = 1
    for _ in range(strict_json.MAX_DEPTH):
        nested = [nested]
    assert strict_json.json_value(nested, "x") == nested
    with pytest.raises(ValueError, match="deeper than 200"):
        strict_json.json_value([nested], "x")
    with pytest.raises(ValueError, match="deeper than 200"):
        strict_json.json_value({"k" * 300: [nested]}, "x")
    cycle: dict[str, Any] = {}
    cycle["self"] = [cycle]
    with pytest.raises(ValueError, match=r"x\.self\[0\] contains itself"):
        strict_json.json_value(cycle, "x")
    shared = [1]
    assert strict_json.json_value([shared, shared], "x") == [[1], [1]]


def test_json_value__subclasses__become_plain() -> None:
    """Subclasses of list and dict are stored plain, recursively."""
    copy = strict_json.json_value(OrderedDict(a=[OrderedDict(b=1)]), "x")
    assert type(copy) is dict
    assert type(copy["a"][0]) is dict


def test_json_object__takes_mappings_and_pairs_only() -> None:
    """Any mapping or pairs become a read-only dict; anything else is a `TypeError` that names the field."""
    assert strict_json.json_object([("k", 1)], "x") == {"k": 1}
    assert type(strict_json.json_object({}, "x")) is ReadOnlyDict
    for bad in (None, 1, [1], "ab"):
        with pytest.raises(TypeError, match="x must be a mapping"):
            strict_json.json_object(bad, "x")


PARSE_FAULTS = [
    ('{"a":1,"b":2,"a":3}', "'a' stands twice"),
    ("[NaN]", "NaN"),
    ("[Infinity]", "Infinity"),
    ("[1,", "line 1 column 4"),
    ("", "line 1 column 1"),
    ("[" * 100_000, "deeper than 200"),
    ("[" * 201 + "]" * 201, "deeper than 200"),
    ('"\\ud800"', "surrogate"),
    (b"\xff\xfe", "not UTF-8"),
    ("1 2", "Extra data"),
    ("1" * 5000, "digit"),
]


@pytest.mark.parametrize(("source", "message"), PARSE_FAULTS, ids=range(len(PARSE_FAULTS)))
def test_parse__not_strict_json__is_a_problem(source: str | bytes, message: str) -> None:
    """Each fault is a problem that names it."""
    assert message in str(strict_json.parse(source).failure())


def test_parse__byte_order_mark__changes_nothing() -> None:
    """A BOM in front is accepted in text and bytes."""
    assert strict_json.parse("\ufeff[1]").unwrap() == strict_json.parse(b"\xef\xbb\xbf[1]").unwrap() == [1]


def test_dumps__is_one_ascii_line() -> None:
    """Output for machines is compact and never depends on the stream's encoding."""
    assert strict_json.dumps({"a": ["é\n", 1]}) == '{"a":["\\u00e9\\n",1]}'
    assert json.loads(strict_json.canonical({"b": 1, "a": "é"})) == {"a": "é", "b": 1}
    assert strict_json.canonical({"b": 1, "a": "é"}) == '{"a":"é","b":1}'.encode()
