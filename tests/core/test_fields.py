"""Laws of the field rules that authoring values share."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.fields import count, labelled, named, optional_str, score_value, truth, tuple_of

numbers = st.integers() | st.floats()
anything = st.none() | st.booleans() | numbers | st.text() | st.lists(st.integers()) | st.binary()


@pytest.mark.parametrize("rule, value", [(optional_str, "\ud800"), (named(count, "field"), {"\udfff": 1})])
def test_rule__lone_surrogate__is_refused(rule: Any, value: Any) -> None:
    """A text or a name that has no UTF-8 form is a wrong value."""
    with pytest.raises(ValueError, match="lone surrogate"):
        rule(value, "Thing.field")


@given(st.floats(0, 1) | st.sampled_from([0, 1]))
def test_score_value__in_range__is_kept_as_float(score: float) -> None:
    """A score in [0, 1] is stored as `float`, and storing it again changes nothing."""
    stored = score_value(score, "s")
    assert type(stored) is float
    assert stored == score == score_value(stored, "s")


@given(numbers.filter(lambda number: not 0 <= number <= 1 and abs(number) < 1e300))
def test_score_value__out_of_range__is_refused(score: float) -> None:
    """A score below 0 or above 1 is a wrong value."""
    with pytest.raises(ValueError, match="s must be"):
        score_value(score, "s")


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
def test_score_value__not_finite__is_refused(score: float) -> None:
    """NaN and the infinities are wrong values."""
    with pytest.raises(ValueError, match="finite"):
        score_value(score, "s")


def test_score_value__integer_beyond_floats__overflows() -> None:
    """An integer that no float can hold overflows."""
    with pytest.raises(OverflowError):
        score_value(10**400, "s")


@given(anything.filter(lambda thing: isinstance(thing, bool) or not isinstance(thing, int | float)))
def test_score_value__other_types__are_refused(thing: Any) -> None:
    """Only numbers are scores; `True` is none."""
    with pytest.raises(TypeError):
        score_value(thing, "s")


@given(anything)
def test_count__takes_whole_numbers_only(thing: Any) -> None:
    """A count is an integer, 0 or more, and no `bool`."""
    if isinstance(thing, int) and not isinstance(thing, bool) and thing >= 0:
        assert count(thing, "n") == thing
    else:
        with pytest.raises(ValueError, match="n must be a whole number"):
            count(thing, "n")


@given(anything)
def test_truth__takes_bools_only(thing: Any) -> None:
    """Nothing that merely acts like a truth value is one."""
    if isinstance(thing, bool):
        assert truth(thing, "t") is thing
    else:
        with pytest.raises(TypeError, match="t must be"):
            truth(thing, "t")


@given(anything)
def test_optional_str__keeps_strings_as_they_are(thing: Any) -> None:
    """A string or `None` is kept, blanks included."""
    if thing is None or isinstance(thing, str):
        assert optional_str(thing, "o") is thing
    else:
        with pytest.raises(TypeError, match="o must be"):
            optional_str(thing, "o")


@given(st.lists(st.integers()))
def test_tuple_of__any_iterable__becomes_a_tuple(items: list[int]) -> None:
    """Lists, tuples and generators give the same tuple, which stays itself."""
    rule = tuple_of(int)
    stored = rule(items, "t")
    assert stored == tuple(items) == rule(iter(items), "t") == rule(stored, "t")


@pytest.mark.parametrize("value", [None, 3, ["a"], "ab", [1, None]])
def test_tuple_of__wrong_member_or_no_iterable__is_refused(value: Any) -> None:
    """A single member, `None` and members of another type are wrong types."""
    with pytest.raises(TypeError, match="t"):
        tuple_of(int)(value, "t")


@given(st.dictionaries(st.text(), st.integers(0, 9)))
def test_named__strips_names_and_is_idempotent(items: dict[str, int]) -> None:
    """Names are stripped; blank ones and ones equal after stripping are refused; what is kept stays."""
    rule = named(count, "field")
    stripped = [name.strip() for name in items]
    if all(stripped) and len(set(stripped)) == len(stripped):
        stored = rule(items, "f")
        assert list(stored) == stripped
        assert rule(stored, "f") == stored
    else:
        with pytest.raises(ValueError, match="f: "):
            rule(items, "f")


def test_named__wrong_shapes__are_refused() -> None:
    """Without `.items()` it is an attribute error; a name that is no string is a type error; values keep their rule."""
    rule = named(count, "field")
    with pytest.raises(AttributeError, match="f must be a mapping"):
        rule(3, "f")
    with pytest.raises(TypeError, match="a field name must be a string"):
        rule({1: 1}, "f")
    with pytest.raises(ValueError, match=r"f\['a'\] must be a whole number"):
        rule({"a": -1}, "f")
    with pytest.raises(ValueError, match="'a' stands twice after trimming"):
        rule({"a": 1, " a ": 1}, "f")


def test_labelled__carries_its_label() -> None:
    """A labelled rule names its field in errors."""
    with pytest.raises(ValueError, match=r"Thing\.size must be"):
        labelled(count, "Thing.size")(-1)
