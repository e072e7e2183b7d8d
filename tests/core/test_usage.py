"""Tokens and money: what responses report, what traces state, and what it costs."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.options import LARGEST
from beaker.core.prices import Price
from beaker.core.usage import (
    ModelUsage,
    Spend,
    TokenCounts,
    cost,
    infer_usage,
    judge_usage_of,
    report_usage,
    spend_of,
    summed,
    unpriced,
    usage_of,
    usage_to_json,
)

PRICES = {"openai:a": Price(2.0, 10.0), "openai:free": Price(0.0, 0.0)}


def counts(into: int, out: int, total: int | None = None, **more: Any) -> TokenCounts:
    return TokenCounts(
        input_tokens=into, output_tokens=out, total_tokens=into + out if total is None else total, **more
    )


SHAPES: list[tuple[Any, TokenCounts | None]] = [
    # OpenAI chat completions
    (
        {
            "choices": [{"message": {"content": "hi"}}],
            "usage": {
                "prompt_tokens": 90,
                "completion_tokens": 10,
                "total_tokens": 100,
                "prompt_tokens_details": {"cached_tokens": 64},
            },
        },
        counts(90, 10, cached_input_tokens=64),
    ),
    # OpenAI responses
    (
        {
            "usage": {
                "input_tokens": 7,
                "output_tokens": 3,
                "total_tokens": 10,
                "input_tokens_details": {"cached_tokens": 0},
                "cache_read_input_tokens": 5,
            }
        },
        counts(7, 3, cached_input_tokens=0),
    ),
    # Anthropic: what the cache gave or took stands beside the input
    (
        {
            "usage": {
                "input_tokens": 10,
                "output_tokens": 5,
                "cache_read_input_tokens": 100,
                "cache_creation_input_tokens": 20,
            }
        },
        counts(130, 5, cached_input_tokens=100, cache_write_input_tokens=20),
    ),
    (
        {"usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100}},
        counts(110, 5, cached_input_tokens=100),
    ),
    (
        {"usage": {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 20}},
        counts(30, 5, cache_write_input_tokens=20),
    ),
    ({"usage": {"input_tokens": 10, "output_tokens": 5}}, counts(10, 5)),
    # ... but not where the total says that it stands within
    (
        {"usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "cache_read_input_tokens": 4}},
        counts(10, 5, cached_input_tokens=4),
    ),
    (
        {"usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 19, "cache_read_input_tokens": 4}},
        counts(14, 5, cached_input_tokens=4),
    ),
    # ... nor where the input came by another name
    (
        {"usage": {"prompt_tokens": 10, "completion_tokens": 5, "cache_read_input_tokens": 4}},
        counts(10, 5, cached_input_tokens=4),
    ),
    # Gemini, from its library and as plain JSON; what it thought is billed as output
    (
        {"usage_metadata": {"prompt_token_count": 8, "candidates_token_count": 2, "total_token_count": 10}},
        counts(8, 2),
    ),
    (
        {
            "usageMetadata": {
                "promptTokenCount": 8,
                "candidatesTokenCount": 2,
                "thoughtsTokenCount": 30,
                "totalTokenCount": 40,
                "cachedContentTokenCount": 6,
            }
        },
        counts(8, 32, cached_input_tokens=6),
    ),
    (
        {"usage_metadata": {"prompt_token_count": 8, "candidates_token_count": 2, "cached_content_token_count": 3}},
        counts(8, 2, cached_input_tokens=3),
    ),
    # Gemini, which thought until its tokens were used up: there are no candidates
    ({"usageMetadata": {"promptTokenCount": 10, "thoughtsTokenCount": 7, "totalTokenCount": 17}}, counts(10, 7)),
    (
        {"usage_metadata": {"prompt_token_count": 10, "candidates_token_count": None, "thoughts_token_count": 7}},
        counts(10, 7),
    ),
    # Gemini, whose own tools gave it something to read
    (
        {
            "usageMetadata": {
                "promptTokenCount": 10,
                "toolUsePromptTokenCount": 100,
                "candidatesTokenCount": 5,
                "totalTokenCount": 115,
            }
        },
        counts(110, 5),
    ),
    (
        {"usage_metadata": {"prompt_token_count": 1, "tool_use_prompt_token_count": 2, "thoughts_token_count": 3}},
        counts(3, 3),
    ),
    # Gateways that state what it cost
    (
        {"usage": {"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.25, "is_byok": False}},
        counts(1, 1, cost_usd=0.25),
    ),
    (
        {
            "usage": {
                "prompt_tokens": 1,
                "completion_tokens": 1,
                "cost": 0.25,
                "is_byok": True,
                "cost_details": {"upstream_inference_cost": 0.5},
            }
        },
        counts(1, 1, cost_usd=0.75),
    ),
    ({"usage": {"prompt_tokens": 1, "completion_tokens": 1, "cost": 1, "is_byok": True}}, counts(1, 1)),
    ({"usage": {"prompt_tokens": 1, "completion_tokens": 1, "cost": "0.25"}}, counts(1, 1)),
    ({"usage": {"prompt_tokens": 1, "completion_tokens": 1, "cost": True}}, counts(1, 1)),
    ({"usage": {"prompt_tokens": 1, "completion_tokens": 1, "cost": float("nan")}}, counts(1, 1)),
    ({"usage": {"prompt_tokens": 1, "completion_tokens": 1, "cost": -1}}, counts(1, 1)),
    # Our own names, a foreign total
    (
        {
            "usage": {
                "input_tokens": 5,
                "output_tokens": 0,
                "total_tokens": 9,
                "cached_input_tokens": 1,
                "cache_write_input_tokens": 2,
                "cache_creation_input_tokens": 3,
            }
        },
        counts(5, 0, 9, cached_input_tokens=1, cache_write_input_tokens=2),
    ),
    # The first block that has both counts
    (
        {"usage": {"total_tokens": 5}, "usage_metadata": {"prompt_token_count": 1, "candidates_token_count": 2}},
        counts(1, 2),
    ),
    # No usage
    ({"usage": {"total_tokens": 5}}, None),
    ({"usage": {"prompt_tokens": 5, "total_tokens": 5}}, None),
    ({"usage": {"completion_tokens": 5}}, None),
    ({"usage": {"prompt_tokens": True, "completion_tokens": 5}}, None),
    ({"usage": {"prompt_tokens": -1, "completion_tokens": 5}}, None),
    ({"usage": {"prompt_tokens": 1.0, "completion_tokens": 5}}, None),
    ({"usage": {"prompt_tokens": LARGEST + 1, "completion_tokens": 5}}, None),
    ({"usage": "much"}, None),
    ({"usage": None}, None),
    ({}, None),
    ("text", None),
    (None, None),
    ([{"usage": {"prompt_tokens": 1, "completion_tokens": 5}}], None),
]


@pytest.mark.parametrize("response, expected", SHAPES)
def test_infer_usage__shape__gives_the_counts(response: Any, expected: TokenCounts | None) -> None:
    """Responses of the three kinds, and what only looks like one."""
    assert infer_usage(response) == expected


@pytest.mark.parametrize("response, expected", SHAPES)
def test_infer_usage__objects_of_a_library__are_read_like_mappings(response: Any, expected: TokenCounts | None) -> None:
    """A library's object has attributes where its JSON has keys."""

    def as_object(found: Any) -> Any:
        return SimpleNamespace(**{k: as_object(v) for k, v in found.items()}) if isinstance(found, dict) else found

    assert infer_usage(as_object(response)) == expected


class Trap:
    """An object whose attributes raise, as a mapping does whose `get` is broken."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_infer_usage__code_behind_attributes__never_raises() -> None:
    """Whatever an object of the application does when it is looked at, there is only no usage."""
    assert infer_usage(Trap()) is None
    assert infer_usage({"usage": Trap()}) is None


# A trace


def test_usage_of__trace__is_read_by_model_in_order() -> None:
    """What a trace states, summed by model; calls of unknown models come first."""
    stated = [
        {"model": "openai:b", "calls": 2, "input_tokens": 10, "output_tokens": 1, "uncounted": 1},
        {"model": "openai:a", "calls": 1, "input_tokens": 5, "output_tokens": 2, "reported_usd": 0.5},
        {"model": None, "calls": 1, "input_tokens": 3, "output_tokens": 3},
        {"model": "openai:a", "input_tokens": 5, "output_tokens": 2, "reported_usd": 0.25},
    ]
    expected = (
        ModelUsage(None, 3, 3),
        ModelUsage("openai:a", 10, 4, 2, 0, 0.75),
        ModelUsage("openai:b", 10, 1, 2, 1),
    )
    assert usage_of({"usage": stated}) == expected
    assert judge_usage_of({"judge_usage": stated}) == expected
    assert usage_of({"usage": usage_to_json(expected)}) == expected


@pytest.mark.parametrize(
    "trace",
    [
        None,
        "text",
        [],
        {},
        {"usage": None},
        {"usage": {"model": "a"}},
        {"usage": [None, "a", 1, {}]},
        {"usage": [{"model": 7, "calls": 1, "input_tokens": 1, "output_tokens": 1}]},
        {"usage": [{"model": "a", "calls": 1, "input_tokens": "1", "output_tokens": 1}]},
        {"usage": [{"model": "a", "calls": 1, "input_tokens": 1}]},
    ],
)
def test_usage_of__what_states_none__is_empty(trace: Any) -> None:
    """A trace of another kind, or none, states no usage."""
    assert usage_of(trace) == judge_usage_of(trace) == ()


def test_usage_to_json__says_only_what_there_is() -> None:
    """Calls without counts and stated costs stand only where there are some."""
    assert usage_to_json([ModelUsage("a", 1, 2, 3), ModelUsage(None, 0, 0, 1, 1, 0.0)]) == [
        {"model": "a", "calls": 3, "input_tokens": 1, "output_tokens": 2},
        {"model": None, "calls": 1, "input_tokens": 0, "output_tokens": 0, "uncounted": 1, "reported_usd": 0.0},
    ]


def test_summed__stated_cost__only_when_every_counted_call_states_one() -> None:
    """One call that does not say what it cost, and the sum does not either; calls without tokens say nothing."""
    told, silent, failed = ModelUsage("a", 1, 1, 1, 0, 0.1), ModelUsage("a", 1, 1), ModelUsage("a", 0, 0)
    assert summed([told, told, failed]) == (ModelUsage("a", 2, 2, 3, 0, 0.2),)
    assert summed([told, silent]) == (ModelUsage("a", 2, 2, 2),)
    assert summed([failed]) == (failed,)
    uncounted = ModelUsage("a", 0, 0, 1, 1)
    assert summed([uncounted, told]) == (ModelUsage("a", 1, 1, 2, 1, 0.1),)
    assert summed([]) == ()


def test_summed__beyond_what_json_keeps__stays_readable() -> None:
    """Numbers that a process made up are cut at the largest that every reader of JSON keeps."""
    most = ModelUsage("a", LARGEST, LARGEST, LARGEST, LARGEST)
    (total,) = summed([most, most])
    assert total == most
    assert usage_of({"usage": usage_to_json([total])}) == (most,)


usages = st.builds(
    ModelUsage,
    st.sampled_from([None, "openai:a", "openai:free", "x:y"]),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.integers(1, 5),
    st.integers(0, 1),
    st.one_of(st.none(), st.floats(0, 10)),
)


@given(st.lists(usages, max_size=6), st.randoms())
def test_cost__order_and_grouping__do_not_matter(found: list[ModelUsage], chance: Any) -> None:
    """Sums are exact, so an evaluation, a block or a run may be added up in any order."""
    mixed = list(found)
    chance.shuffle(mixed)
    assert cost(mixed, PRICES) == cost(found, PRICES)
    assert summed(mixed) == summed(found)
    assert summed(summed(found)) == summed(found)


# Money


@pytest.mark.parametrize(
    "found, expected",
    [
        ([], 0.0),
        ([ModelUsage("openai:a", 1_000_000, 0)], 2.0),
        ([ModelUsage("openai:a", 500_000, 100_000)], 2.0),
        ([ModelUsage("openai:a", 1, 1), ModelUsage("openai:a", 2, 0)], 16e-6),
        ([ModelUsage("openai:free", 9, 9)], 0.0),
        ([ModelUsage("x:y", 9, 9)], None),
        ([ModelUsage("openai:a", 9, 9), ModelUsage(None, 9, 0)], None),
        ([ModelUsage(None, 0, 9)], None),
        ([ModelUsage("x:y", 0, 0, 2)], 0.0),  # calls that failed
        ([ModelUsage("openai:a", 9, 9, 2, 1)], None),  # a call that was answered without counts
        ([ModelUsage("x:y", 9, 9, 1, 0, 0.125)], 0.125),  # what the response says
        ([ModelUsage("openai:a", 1_000_000, 0, 1, 0, 0.125)], 2.0),  # a price that is listed comes first
    ],
)
def test_cost__usage_times_price(found: list[ModelUsage], expected: float | None) -> None:
    """Tokens at the listed price per million, else what responses state, else unknown."""
    assert cost(found, PRICES) == expected


def test_unpriced__names_what_has_no_price() -> None:
    """Why a cost is unknown: by model, `a model` where it has no name."""
    found = [ModelUsage(None, 1, 1), ModelUsage("openai:a", 1, 1), ModelUsage("x:y", 1, 1)]
    assert unpriced(found, PRICES) == ("a model", "x:y")


def test_spend_of__adds_everything_up() -> None:
    """Money, tokens and calls of all models; no calls are no spend."""
    found = (usage for usage in [ModelUsage("openai:a", 500_000, 0, 2), ModelUsage("openai:free", 1, 2)])
    assert spend_of(found, PRICES) == Spend(1.0, 500_001, 2, 3)
    assert spend_of([ModelUsage("x:y", 1, 2, 4), ModelUsage("x:y", 1, 2)], {}) == Spend(None, 2, 4, 5, ("x:y",))
    assert spend_of([], PRICES) is None


def test_report_usage__over_traces__is_that_of_the_application() -> None:
    """The judge's usage is not the candidate's; where nothing was recorded there are nulls, not zeros."""
    entry = {"model": "openai:a", "calls": 1, "input_tokens": 1_000_000, "output_tokens": 3}
    trace = {"usage": [entry], "judge_usage": [entry]}
    assert report_usage([trace, None, trace], PRICES) == {
        "input_tokens": 2_000_000,
        "output_tokens": 6,
        "cost_usd": 4.00006,
    }
    assert report_usage([trace], {}) == {"input_tokens": 1_000_000, "output_tokens": 3, "cost_usd": None}
    nothing = {"input_tokens": None, "output_tokens": None, "cost_usd": None}
    assert report_usage([], PRICES) == report_usage([None, {"judge_usage": [entry]}], PRICES) == nothing
