"""Values of foreign classes: a rule answers with its own error, and keeps none of their tricks."""

from typing import Any

import pytest

from beaker.core.cases import Case, CaseFile, CaseResult, CaseScore, Check
from beaker.core.datasets import DatasetFile
from beaker.core.environment import required_env_faults
from beaker.core.strict_json import MAX_DIGITS, MAX_INT, dumps, json_value
from beaker.core.targets import documents, repository
from beaker.core.text import canonical_model, class_name, encodable, plain, sha256_hex, shown, text
from beaker.core.values import ReadOnlyDict


class Unshown:
    """An object whose text cannot be had."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


class Leaving:
    """An object that leaves the program when it is shown."""

    def __repr__(self) -> str:
        raise SystemExit(3)


class Ascii(str):
    """A text that says it is ASCII, and more."""

    def isascii(self) -> bool:
        return True

    def strip(self, *_: Any) -> Any:
        return 5

    def encode(self, *_: Any, **__: Any) -> Any:
        return b""


class Positive(int):
    """A number that is never below another."""

    def __lt__(self, other: object) -> bool:
        return False


class Half(float):
    """A number that converts to another."""

    def __float__(self) -> float:
        return 0.5


class Lying:
    """An object that says its class is another."""

    @property  # type: ignore[misc]  # the lie
    def __class__(self) -> Any:
        return str


HUGE = 10**5000


@pytest.mark.parametrize("foreign", [Unshown, Leaving, Lying, lambda: HUGE, lambda: -HUGE], ids=range(5))
@pytest.mark.parametrize(
    "make, expected",
    [
        (lambda it: Case(it, 1), ValueError),
        (lambda it: CaseFile("a", "b", it), ValueError),
        (lambda it: CaseFile("a", "b", None, it), ValueError),
        (lambda it: CaseResult(1, it), ValueError),
        (lambda it: Check("c", it), (TypeError, OverflowError)),
        (lambda it: Case("a", {it: 1}), TypeError),
        (lambda it: Case("a", [{"b": {it: 1}}]), TypeError),
        (lambda it: repository((it,)), ValueError),
        (lambda it: documents(groups=(it,)), ValueError),
        (lambda it: canonical_model(it, "m"), ValueError),
        (lambda it: DatasetFile("p", it if it is not HUGE else -HUGE, "0" * 64), ValueError),
    ],
)
def test_rule__value_that_cannot_be_shown__is_the_error_of_the_rule(foreign: Any, make: Any, expected: Any) -> None:
    """Neither a raising text nor the limit of Python's digits replaces what the contract says."""
    with pytest.raises(expected) as caught:
        make(foreign())
    assert "of class" in str(caught.value) or "Lying" in str(caught.value) or "too large" in str(caught.value)


def test_required_env__name_that_cannot_be_shown__is_a_fault() -> None:
    """A name that is no text is said to be none."""
    assert [fault for _, fault in required_env_faults([Unshown()])] == [
        "must be the name of an environment variable in text, not a value of class Unshown that cannot be shown"
    ]


@pytest.mark.parametrize("value", [MAX_INT, -MAX_INT], ids=["above", "below"])
def test_json_value__longest_integer__is_kept(value: int) -> None:
    """Integers of 4,300 digits are read and written by every Python, so they are JSON."""
    made = json_value([value, {"a": value}], "x")
    assert made == [value, {"a": value}]
    assert len(dumps(value).removeprefix("-")) == MAX_DIGITS


@pytest.mark.parametrize("value", [MAX_INT + 1, -MAX_INT - 1], ids=["above", "below"])
def test_json_value__longer_integer__is_refused_with_its_place(value: int) -> None:
    """What could not be written later is refused where it comes from."""
    said = f"must be an integer of at most {MAX_DIGITS} digits"
    for given, place in ((value, ""), ([1, value], "[1]"), ({"a": [value]}, ".a[0]"), ({"a": 1, "b": value}, ".b")):
        with pytest.raises(ValueError) as caught:
            json_value(given, "Case.input")
        assert str(caught.value) == f"Case.input{place} {said}"
    with pytest.raises(ValueError):
        CaseFile("a", "b", None, abs(value))


def test_json_value__subclasses_of_scalars__become_plain() -> None:
    """No method of a subclass decides what is kept."""
    made = json_value({Ascii("k"): [Ascii("é"), Positive(-5), Half(7.0), True]}, "x")
    assert made == {"k": ["é", -5, 7.0, True]}
    assert [type(one) for one in made["k"]] == [str, int, float, bool]
    assert [type(key) for key in made] == [str]
    assert type(json_value(Ascii("a"), "x")) is str


@pytest.mark.parametrize(
    "given", [Ascii("\ud800"), [Ascii("\ud800")], {Ascii("\ud800"): 1}, {"a": [Ascii("\ud800"), 1]}]
)
def test_json_value__lone_surrogate_in_a_subclass__is_refused(given: Any) -> None:
    """A text that says it is ASCII is not believed."""
    with pytest.raises(ValueError, match="lone surrogate"):
        json_value(given, "x")


def test_text_rules__subclass__gives_plain_text() -> None:
    """The stored form is exactly `str`."""
    assert type(text(Ascii(" a "), "x")) is type(encodable(Ascii("a"), "x")) is str
    assert text(Ascii(" a "), "x") == "a"
    assert sha256_hex(Ascii("A" * 64), "x") == "a" * 64
    assert type(canonical_model(Ascii("a:b"), "x")) is str
    with pytest.raises(ValueError, match="lone surrogate"):
        encodable(Ascii("\ud800"), "x")
    assert type(Check("a", Ascii("pass"), message=Ascii("m")).message) is str


def test_numbers__subclass__is_judged_by_its_value() -> None:
    """A number's own comparison or conversion does not carry it past a limit."""
    with pytest.raises(ValueError):
        CaseFile("a", "b", None, Positive(-5))
    assert type(CaseFile("a", "b", None, Positive(5)).expected_size_bytes) is int
    with pytest.raises(ValueError):
        CaseScore(Half(7.0), {})
    with pytest.raises(ValueError):
        Check("a", Half(7.0))


def test_shown__anything__is_short_and_never_raises() -> None:
    """What cannot be shown is told by its class."""
    assert shown("a") == "'a'"
    assert shown("a" * 200) == f"'{'a' * 76}..."
    assert shown("a" * 78) == f"'{'a' * 78}'"
    assert shown(Unshown()) == "a value of class Unshown that cannot be shown"
    assert shown(Leaving()) == "a value of class Leaving that cannot be shown"
    assert shown(HUGE) == "a value of class int that cannot be shown"


def test_shown__interrupt__passes() -> None:
    """Who stops the program is not held up."""

    def stop(_: object) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shown(type("Stopping", (), {"__repr__": stop})())


def test_class_name__with_module__names_both_where_it_can() -> None:
    """A metaclass that raises cannot hide the name."""

    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            raise RuntimeError(name)

    assert class_name(ReadOnlyDict(), module=True) == "beaker.core.values.ReadOnlyDict"
    assert class_name(ReadOnlyDict()) == "ReadOnlyDict"
    hidden = Meta("Hidden", (), {})()
    assert class_name(hidden) == class_name(hidden, module=True) == "Hidden"


def test_plain__other_values__are_themselves() -> None:
    """Only the three kinds of scalars are made plain."""
    for value in (None, True, [1], Lying(), b"a"):
        assert plain(value) is value
    assert (plain(Positive(3)), type(plain(Positive(3)))) == (3, int)
    assert (plain(Half(3.0)), type(plain(Half(3.0)))) == (3.0, float)


def test_read_only__initialised_again__is_unchanged() -> None:
    """Calling its `__init__` changes nothing."""
    kept = ReadOnlyDict({"a": 1}, b=2)
    kept.__init__(q=1)  # type: ignore[misc]  # the trick
    assert kept == {"a": 1, "b": 2}
    assert ReadOnlyDict() == {} == ReadOnlyDict(())
