"""Laws of cases, results and scores: what they store, how they behave as values, their JSON form, the fingerprint."""

import copy
import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.cases import (
    CapturedFile,
    Case,
    CaseFile,
    CaseResult,
    CaseScore,
    Check,
    FieldDiff,
    case_fingerprint,
)
from beaker.core.convert import from_json, to_json
from beaker.core.values import FrozenInstanceError

names = st.text(min_size=1).filter(lambda text: bool(text.strip()))
texts = st.text(st.characters(codec="utf-8"))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)
scores = st.floats(0, 1)
ids = texts.filter(lambda text: bool(text.strip()))
files = st.builds(
    CaseFile,
    name=st.sampled_from(["a", "a/b.txt", "ü/c d"]),
    path=st.sampled_from(["x", "/tmp/y"]),
    expected_sha256=st.none() | st.just("AB" * 32),
    expected_size_bytes=st.none() | st.integers(0, 10**12),
)
cases = st.builds(
    Case, id=ids, input=json_values, expected=json_values, files=st.lists(files, max_size=2), metadata=json_objects
)
results = st.builds(
    CaseResult,
    output=json_values,
    output_kind=st.sampled_from([None, "record", "value", "text", "none"]),
    context=json_objects,
)
checks = st.builds(
    Check,
    name=ids,
    verdict=st.sampled_from(["pass", "fail"]) | scores,
    expected=json_values,
    predicted=json_values,
    message=st.none() | texts,
    group=st.none() | texts,
    informational=st.booleans(),
    description=st.none() | texts,
)
diffs = st.builds(FieldDiff, field=ids, predicted=json_values, expected=json_values)
case_scores = st.builds(
    CaseScore,
    objective=scores,
    field_scores=st.dictionaries(st.sampled_from("abc"), scores),
    field_diffs=st.lists(diffs, max_size=2),
    checks=st.lists(checks, max_size=2),
)
values = cases | results | case_scores | checks | diffs | files


@given(values)
def test_value__every_way_of_copying__gives_an_equal_one(made: Any) -> None:
    """Copies, pickles and `replace` without changes are equal values of the same class."""
    for same in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made)), dataclasses.replace(made)):
        assert type(same) is type(made)
        assert same == made


@given(values)
def test_value__rebuilt_from_its_fields__changes_nothing_more(made: Any) -> None:
    """Every rule is idempotent: what is stored is stored the same when it is given again."""
    assert type(made)(**{field.name: getattr(made, field.name) for field in dataclasses.fields(made)}) == made


@given(values)
def test_value__json__round_trips(made: Any) -> None:
    """The JSON form is JSON, and reading it gives the value back."""
    form = json.loads(json.dumps(to_json(made)))
    read = from_json(form, type(made), code="BK000")
    assert is_successful(read), read
    assert read.unwrap() == made


@given(values)
def test_value__as_dict__is_the_json_form(made: Any) -> None:
    """`dataclasses.asdict` gives the shape that is stored, tuples and paths aside."""
    assert json.dumps(dataclasses.asdict(made), default=str) == json.dumps(to_json(made), default=str)


@given(values)
def test_value__is_frozen(made: Any) -> None:
    """No field can be assigned or deleted, known or not."""
    field = attrs.fields(type(made))[0].name
    with pytest.raises(FrozenInstanceError):
        setattr(made, field, 1)
    with pytest.raises(FrozenInstanceError):
        delattr(made, field)
    with pytest.raises(FrozenInstanceError):
        made.unknown = 1


def test_value__hash__follows_what_is_inside() -> None:
    """Values with a mapping inside have no hash; checks and diffs have one unless JSON containers are inside."""
    for unhashable in (Case("c", 1), CaseResult(1), CaseScore(1, {}), Check("c", "pass", [1]), FieldDiff("f", {}, 1)):
        with pytest.raises(TypeError):
            hash(unhashable)
    assert len({Check("c", "pass"), Check(" c ", "pass")}) == 1
    assert len({FieldDiff("f", 1, 2), FieldDiff("f", 1, 2)}) == 1
    assert len({CaseFile("a", "x"), CaseFile("a", Path("x"))}) == 1


def test_value__order__is_not_defined() -> None:
    """Values compare equal or not, and nothing else."""
    with pytest.raises(TypeError):
        Case("a", 1) < Case("b", 1)  # type: ignore[operator]  # noqa: B015  # the point of the test


@given(json_values, json_objects)
def test_case__caller_changes_its_own_object__case_is_untouched(value: Any, metadata: dict[str, Any]) -> None:
    """Containers are copied deeply, and stay plain lists and dicts."""
    given_input = {"kept": [copy.deepcopy(value)]}
    case = Case("c", given_input, metadata=metadata)
    given_input["kept"].append("changed")
    metadata["changed"] = True
    assert case.input == {"kept": [value]}
    assert type(case.input) is dict
    assert type(case.input["kept"]) is list
    assert "changed" not in case.metadata


@pytest.mark.parametrize("change", [lambda m: m.update(a=1), lambda m: m.__setitem__("a", 1), lambda m: m.clear()])
def test_case__metadata__is_read_only_and_still_a_dict(change: Any) -> None:
    """Metadata, context and field scores are dicts that refuse every change."""
    for mapping in (Case("c", 1, metadata={"k": 1}).metadata, CaseResult(1, context={"k": 1}).context):
        assert isinstance(mapping, dict)
        assert json.dumps(mapping) == '{"k": 1}'
        with pytest.raises(TypeError):
            change(mapping)


def test_case__fault__names_its_place() -> None:
    """An error says where inside which field the fault is."""
    with pytest.raises(TypeError, match=r"Case\.input\.a\[1\] must be JSON"):
        Case("c", {"a": [1, (2,)]})
    with pytest.raises(ValueError, match=r"CaseResult\.context\.a\.b must be a finite number"):
        CaseResult(1, context={"a": {"b": float("inf")}})
    with pytest.raises(TypeError, match=r"Case\.files\[0\] must be a CaseFile"):
        Case("c", 1, files=["a"])  # type: ignore[list-item]  # the point of the test
    with pytest.raises(ValueError, match=r"Case\.id must be a non-empty string"):
        Case(" ", 1)
    with pytest.raises(TypeError, match=r"CaseResult\.context must be a mapping, not list"):
        CaseResult(1, context=[("a", 1)])  # type: ignore[arg-type]  # the point of the test


@pytest.mark.parametrize("score", [True, None, [1]])
def test_check__verdict_that_is_no_number__is_refused(score: Any) -> None:
    """A verdict is `pass`, `fail` or a number; a bool or nothing at all is a wrong type."""
    with pytest.raises(TypeError, match="must be 'pass', 'fail' or a score"):
        Check("named", score)


@pytest.mark.parametrize("name", [None, 7, b"x"])
def test_check__name_that_is_no_text__is_a_wrong_type(name: Any) -> None:
    """The one text that is a wrong type, not a wrong value, when it is no string."""
    with pytest.raises(TypeError, match=r"Check\.name must be a string"):
        Check(name, "pass")


def test_case__lone_surrogate_or_depth__is_refused_at_once() -> None:
    """What could not be stored or sent later is refused where the case is made."""
    deep: Any = []
    for _ in range(300):
        deep = [deep]
    with pytest.raises(ValueError, match="surrogate"):
        Case("c", "\ud800")
    with pytest.raises(ValueError, match="nested deeper than 200"):
        Case("c", deep)


def test_case_result__kind__is_judged_before_the_output() -> None:
    """Faults of the kind come first, unhashable kinds are wrong types, then the output, then the context."""
    with pytest.raises(ValueError, match="output_kind must be one of record, value, text, none"):
        CaseResult((1,), "Record", context=3)  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(TypeError, match="unhashable"):
        CaseResult((1,), ["record"])  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(TypeError, match=r"CaseResult\.output must be JSON"):
        CaseResult((1,), context=3)  # type: ignore[arg-type]  # the point of the test
    assert CaseResult(output=1, output_kind="value").output_kind == "value"


def test_case_score__objective__is_a_float() -> None:
    """Scores are stored as floats, whatever numbers they were."""
    score = CaseScore(1, {"a": 0, "b": 1})
    assert [type(number) for number in (score.objective, *score.field_scores.values())] == [float] * 3
    with pytest.raises(ValueError, match=r"field_scores\['a'\]"):
        CaseScore(1, {"a": 2})
    with pytest.raises(TypeError, match=r"CaseScore\.checks\[0\] must be a Check"):
        CaseScore(1, {}, checks=[FieldDiff("f", 1, 1)])  # type: ignore[list-item]  # the point of the test


def test_check__texts__are_kept_as_they_are() -> None:
    """Only the name is trimmed."""
    check = Check(" n ", "pass", message=" m ", group="", description=None)
    assert (check.name, check.message, check.group) == ("n", " m ", "")
    for field in ("message", "group", "description"):
        with pytest.raises(TypeError, match=field):
            Check("n", "pass", **{field: 1})  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(TypeError, match="informational"):
        Check("n", "pass", informational=1)  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(ValueError, match="verdict"):
        Check("n", 1.5)


@pytest.mark.parametrize(
    "make",
    [
        lambda text: Case(text, 1),
        lambda text: FieldDiff(text, 1, 1),
        lambda text: Check(text, "pass"),
        lambda text: Check("c", "pass", message=text),
        lambda text: CaseScore(1, {text: 1}),
        lambda text: CaseFile(text, "x"),
    ],
)
def test_value__lone_surrogate_in_any_text__is_refused_at_once(make: Any) -> None:
    """Nothing gets as far as a store or a pipe that could not carry it."""
    with pytest.raises(ValueError, match="lone surrogate"):
        make("a\udc80")
    make("aé")


def test_case_file__path_that_is_none__names_the_field() -> None:
    """A number is no path."""
    with pytest.raises(TypeError, match=r"CaseFile\.path must be a path or a string, not int"):
        CaseFile("a", 7)  # type: ignore[arg-type]  # the point of the test


def test_case_file__path__is_never_looked_at() -> None:
    """Any path-like is a `Path`; nothing else is; a file that does not exist is fine."""
    assert CaseFile("a\\b", "").path == Path(".")
    assert CaseFile("a\\b", "").name == "a/b"
    with pytest.raises(TypeError):
        CaseFile("a", 3)  # type: ignore[arg-type]  # the point of the test


def test_from_json__unknown_verdict_or_kind__says_what_is_expected() -> None:
    """Reading a stored score refuses other JSON types with the place of the fault."""
    read = from_json({"name": "n", "verdict": True}, Check, code="BK000")
    assert [(fault.where, fault.message) for fault in read.failure()] == [
        ("$.verdict", "expected 'pass' or 'fail' or a number, found true")
    ]
    whole = from_json({"name": "n", "verdict": 1}, Check, code="BK000").unwrap()
    assert type(whole.verdict) is float
    read_result = from_json({"output": 1, "output_kind": "x"}, CaseResult, code="BK000")
    assert read_result.failure()[0].where == "$.output_kind"


def test_fingerprint__known_vector() -> None:
    """The fingerprint is the one other tools compute."""
    assert (
        case_fingerprint({"train": [Case("k1", {"q": "hi"}, expected="yo")]})
        == "dd40ae93bfd51c2164c37ae664f0f5268fdda37327a6b3900dbbaa32521ea84c"
    )


@given(
    st.dictionaries(st.sampled_from(["train", "test"]), st.lists(cases.map(lambda c: dataclasses.replace(c, files=()))))
)
def test_fingerprint__is_the_hash_of_the_canonical_whole(splits: dict[str, list[Case]]) -> None:
    """Hashing case by case equals hashing the canonical JSON of everything, in whatever order splits are given."""
    from beaker.core.strict_json import digest

    whole = [
        {
            "split": split,
            "cases": [
                {"id": c.id, "input": c.input, "expected": c.expected, "metadata": c.metadata, "files": []}
                for c in splits[split]
            ],
        }
        for split in sorted(splits)
    ]
    assert case_fingerprint(splits) == digest(whole)
    assert case_fingerprint(dict(reversed(splits.items()))) == digest(whole)


def test_fingerprint__tells_inputs_apart() -> None:
    """Types, order, and captured files count; what is declared must have been captured."""
    made = {case_fingerprint({"train": [Case("a", value), Case("b", 0)]}) for value in (1, 1.0, True, "1", None)}
    assert len(made) == 5
    one, two = Case("a", 1), Case("b", 1)
    assert case_fingerprint({"train": [one, two]}) != case_fingerprint({"train": [two, one]})
    filed = Case("f", 1, files=[CaseFile("x", "x")])
    with pytest.raises(ValueError, match="were not captured"):
        case_fingerprint({"train": [filed]})
    captured = {
        content: case_fingerprint({"train": [filed]}, captured={"f": [CapturedFile("x", 1, content * 32)]})
        for content in ("ab", "cd")
    }
    assert captured["ab"] != captured["cd"]
