"""The cases that a model is shown."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from beaker.core.reflection.budget import tokens
from beaker.core.reflection.failures import in_order, render_cases


def case(name: str, objective: float | None, *, minibatch: bool = False, **fields: Any) -> dict[str, Any]:
    """A case as evidence tells of it."""
    error = fields.pop("error", None)
    if error is not None:
        error = {"kind": "raised", "message": error, "traceback": ""}
    return {"id": name, "objective": objective, "error": error, "minibatch": minibatch, "input": name, **fields}


def ids(cases: list[Any]) -> list[str]:
    """The ids, in their order."""
    return [str(one["id"]) for one in cases]


def test_in_order__of_a_mixture__deciding_failures_come_first_and_solved_ones_last() -> None:
    """The minibatch before others, the worst before the better, at most two solved ones."""
    cases = [
        case("solved 1", 1.0, minibatch=True),
        case("other poor", 0.2),
        case("half", 0.5, minibatch=True),
        case("other failed", None, error="boom"),
        case("poor", 0.25, minibatch=True),
        case("solved 2", 1.0),
        case("solved 3", 1.0),
    ]
    assert ids(in_order(cases)) == ["poor", "half", "other failed", "other poor", "solved 1", "solved 2"]


def test_in_order__failures_of_one_kind__wait_for_the_other_kinds() -> None:
    """Numbers in a message make no new kind; fields and checks that fail do."""
    cases = [
        case("a", None, error="no page 1"),
        case("b", None, error="no page 22"),
        case("c", None, error="no word"),
        case("d", 0.0, field_scores={"kind": 0.0, "size": 1.0}),
        case("e", 0.0, field_scores={"kind": 0.5}),
        case("f", 0.0, field_scores={"size": 0.0}),
        case("g", 0.0, checks=[{"name": "polite", "verdict": "fail"}]),
        case("h", 0.0, checks=[{"name": "polite", "verdict": 0.5}, {"name": "x", "verdict": "pass"}]),
        case(
            "i", 0.0, checks=[{"name": "long", "verdict": "fail", "informational": True}, {"name": "y", "verdict": 1.0}]
        ),
        case("j", 0.0),
    ]
    assert ids(in_order(cases)) == ["a", "c", "d", "f", "g", "i", "b", "e", "h", "j"]


def test_render_cases__a_scored_failure__says_what_was_not_met() -> None:
    """Text as it is, other values as compact JSON; a field is told once; what passed is not."""
    told, count = render_cases(
        [
            case(
                "a",
                1 / 3,
                minibatch=True,
                expected={"kind": "vowel"},
                output=["x", 1],
                field_scores={"kind": 0.0, "size": 0.5, "good": 1.0},
                field_diffs=[{"field": "kind", "predicted": "y", "expected": "vowel"}],
                checks=[
                    {"name": "polite", "verdict": "fail", "message": "says damn"},
                    {"name": "short", "verdict": 0.25, "message": None},
                    {"name": "fine", "verdict": "pass"},
                ],
                trace={
                    "model_calls": [
                        {"output": {"choices": [{"message": {"content": "let me look"}}]}},
                        {"output": {"choices": [{"message": {"content": None}}]}},
                        {"output": {"choices": [7]}},
                        {"output": "plain"},
                        {},
                    ],
                    "tool_calls": [{"name": "find", "arguments": {"page": 3}, "output": "nothing"}],
                    "errors": [{"n": 2, "message": "ConnectionError: gone"}],
                },
            )
        ],
        limit=1000,
    )
    assert count == 1
    assert told == (
        "## Case 1 (one of those that the edit must improve)\n"
        "input: a\n"
        'expected: {"kind":"vowel"}\n'
        'output: ["x",1]\n'
        "objective: 0.333\n"
        "kind: got y, expected vowel\n"
        "size: scored 0.5\n"
        "check polite: fail: says damn\n"
        "check short: 0.25\n"
        "a model said: let me look\n"
        'a model said: {"choices":[{"message":{"content":null}}]}\n'
        'a model said: {"choices":[7]}\n'
        "a model said: plain\n"
        "a model said: null\n"
        'tool find({"page":3}): nothing\n'
        "error on the way: ConnectionError: gone\n"
    )


def test_render_cases__a_case_that_failed_to_run__shows_its_error() -> None:
    """There is no output then."""
    failed = case("a", None, error="no such word")
    failed["error"]["traceback"] = "\n  File x.py, line 3\n"
    told, _ = render_cases([failed], limit=1000)
    assert told == "## Case 1\ninput: a\nit failed (raised): no such word\nFile x.py, line 3\n"


def test_render_cases__one_model_call__says_no_more_than_the_output() -> None:
    """Nothing is told twice."""
    told, _ = render_cases([case("a", 0.0, output="x", trace={"model_calls": [{"output": "x"}]})], limit=1000)
    assert told == "## Case 1\ninput: a\noutput: x\nobjective: 0\n"


def test_render_cases__short_fields__leave_their_room_to_long_ones() -> None:
    """What is long is cut, and only as far as the case as a whole is too long."""
    told, _ = render_cases([case("a" * 300, 0.0, output="b" * 900, expected="c" * 30)], limit=300)
    lines = told.splitlines()
    assert lines[1] == "input: " + "a" * 300
    assert lines[2] == "expected: " + "c" * 30
    assert lines[3].startswith("output: " + "b" * 200)
    assert "characters left out" in told
    assert 270 < tokens(told) <= 300


def test_render_cases__a_solved_case__shows_no_trace() -> None:
    """It only says what works."""
    told, _ = render_cases([case("a", 1.0, output="é", trace={"errors": [{"message": "x"}]})], limit=1000)
    assert told == "## Case 1\ninput: a\noutput: é\nobjective: 1\n"


def test_render_cases__many_shortcomings__are_cut_to_ten() -> None:
    """A score of hundreds of fields does not hide the other cases."""
    told, _ = render_cases([case("a", 0.0, field_scores={f"f{n:02}": 0.0 for n in range(30)})], limit=2000)
    assert told.count("scored 0") == 10


def test_render_cases__little_room__keeps_whole_cases_and_says_how_many() -> None:
    """Long inputs are cut; a case that does not fit ends the list."""
    cases = [case("x" * 3000, 0.0, minibatch=True), case("y" * 3000, 0.1), case("z", 0.2)]
    told, count = render_cases(cases, limit=450)
    assert count == 3
    assert "characters left out" in told
    assert tokens(told) <= 450
    assert render_cases(cases, limit=10) == ("", 0)
    assert render_cases([], limit=10) == ("", 0)
    assert render_cases(cases, limit=150)[1] == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(0, 1) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
KEYS = [
    "input",
    "expected",
    "output",
    "objective",
    "field_scores",
    "field_diffs",
    "checks",
    "error",
    "trace",
    "minibatch",
]


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), JSON), max_size=5), st.integers(0, 800))
def test_render_cases__any_json__fits_the_limit(cases: list[dict[str, Any]], limit: int) -> None:
    """Whatever a case is made of, the section is text within its room, or empty."""
    told, count = render_cases(cases, limit=limit)
    assert tokens(told) <= limit + count
    assert told.count("## Case") >= count
