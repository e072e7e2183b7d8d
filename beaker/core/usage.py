"""Tokens and money: what a model's response says it used, what a trace sums up to, and what that costs.

`infer_usage` knows the shapes of OpenAI (chat and responses), Anthropic and Gemini, as mappings or as the objects of
their libraries.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from beaker.core.exact import ONE, exact
from beaker.core.options import LARGEST
from beaker.core.prices import Prices
from beaker.core.strict_json import JsonObject
from beaker.core.text import FOREIGN
from beaker.core.values import value

PER_MILLION = 1_000_000


@value(kw_only=True)
class TokenCounts:
    """What one response reports. `input_tokens` is the whole prompt; the two cache counters are slices of it.

    `cost_usd` is the price that the response itself states, in US dollars.
    """

    input_tokens: int
    output_tokens: int
    total_tokens: int
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    cost_usd: float | None = None


@value
class ModelUsage:
    """Calls of one model, summed. `model` is `provider:model` where both are known, `None` where neither is.

    `uncounted` of the `calls` were answered without token counts, so their cost is not known. `reported_usd` is what
    the responses themselves say they cost, `None` unless every counted one says so.
    """

    model: str | None
    input_tokens: int
    output_tokens: int
    calls: int = 1
    uncounted: int = 0
    reported_usd: float | None = None


@value
class Spend:
    """What calls of models came to, whatever the models. `usd` is `None` when the cost of any of them is unknown.

    `unpriced` names the models of which it is unknown: without a price, or without token counts.
    """

    usd: float | None
    input_tokens: int
    output_tokens: int
    calls: int
    unpriced: tuple[str, ...] = ()


def usage_of(trace: Any) -> tuple[ModelUsage, ...]:
    """The usage that a recorded trace (the JSON of `Evaluation.trace`) states, one entry a model, in name order.

    It is that of the application, all attempts at the case included. `()` for `None` and for what states none.
    """
    return _read(trace, "usage")


def judge_usage_of(trace: Any) -> tuple[ModelUsage, ...]:
    """The usage of the models that scored the case, as `usage_of`."""
    return _read(trace, "judge_usage")


def spend_of(usages: Iterable[ModelUsage], prices: Prices) -> Spend | None:
    """What `usages` come to, `None` for no calls at all."""
    kept = tuple(usages)
    if not kept:
        return None
    return Spend(
        usd=cost(kept, prices),
        input_tokens=sum(usage.input_tokens for usage in kept),
        output_tokens=sum(usage.output_tokens for usage in kept),
        calls=sum(usage.calls for usage in kept),
        unpriced=tuple(sorted(set(unpriced(kept, prices)))),
    )


def report_usage(traces: Iterable[Any], prices: Prices) -> JsonObject:
    """The `usage` of an eval report over these traces: `{"input_tokens", "output_tokens", "cost_usd"}` of the
    application; null where no call was recorded, the cost also when that of any call is unknown.
    """
    spend = spend_of((usage for trace in traces for usage in usage_of(trace)), prices)
    if spend is None:
        return {"input_tokens": None, "output_tokens": None, "cost_usd": None}
    return {"input_tokens": spend.input_tokens, "output_tokens": spend.output_tokens, "cost_usd": spend.usd}


def summed(usages: Iterable[ModelUsage]) -> tuple[ModelUsage, ...]:
    """`usages` with one entry a model, in name order (calls of unknown models first). The order given is no matter."""
    by_model: dict[str | None, list[ModelUsage]] = {}
    for usage in usages:
        by_model.setdefault(usage.model, []).append(usage)
    ordered = sorted(by_model, key=lambda model: (model is not None, model or ""))
    return tuple(_sum(model, by_model[model]) for model in ordered)


def usage_to_json(usages: Iterable[ModelUsage]) -> list[JsonObject]:
    """The JSON form that `usage_of` reads from the key `usage` of a trace."""
    return [
        {
            "model": one.model,
            "calls": one.calls,
            "input_tokens": one.input_tokens,
            "output_tokens": one.output_tokens,
            **({"uncounted": one.uncounted} if one.uncounted else {}),
            **({} if one.reported_usd is None else {"reported_usd": one.reported_usd}),
        }
        for one in usages
    ]


def cost(usages: Iterable[ModelUsage], prices: Prices) -> float | None:
    """What the calls cost in US dollars; `None` when that of any is unknown. No calls cost 0.

    A listed price beats the cost that responses state. The sum is exact and rounded once, so the order is no matter.
    """
    total = 0  # millionths of a dollar, in steps of `exact`
    for usage in usages:
        if usage.uncounted:
            return None
        price = prices.get(usage.model or "")
        if price is not None:
            total += usage.input_tokens * exact(price.input) + usage.output_tokens * exact(price.output)
        elif usage.reported_usd is not None:
            total += exact(usage.reported_usd) * PER_MILLION
        elif usage.input_tokens or usage.output_tokens:
            return None
    return total / (ONE * PER_MILLION)


def unpriced(usages: Iterable[ModelUsage], prices: Prices) -> tuple[str, ...]:
    """Why the cost is unknown: the models (`a model` without a name) whose calls have no price or no token counts."""
    return tuple(usage.model or "a model" for usage in usages if cost((usage,), prices) is None)


def infer_usage(response: Any) -> TokenCounts | None:
    """The token counts that a model's response reports, `None` when it reports none. Never raises.

    Both an input and an output count are needed: a block with only a total, or only an input, is no usage.
    """
    get = _reader(response)
    for name in ("usage", "usage_metadata", "usageMetadata"):
        block = get(name)
        counts = None if block is None else _counts(block)
        if counts is not None:
            return counts
    return None


_INPUT = ("input_tokens", "prompt_tokens", "prompt_token_count", "promptTokenCount")
_OUTPUT = ("output_tokens", "completion_tokens", "candidates_token_count", "candidatesTokenCount")
_TOTAL = ("total_tokens", "total_token_count", "totalTokenCount")
_CACHED = ("cached_input_tokens", "cached_content_token_count", "cachedContentTokenCount")
_DETAILS = ("input_tokens_details", "prompt_tokens_details")
_WRITTEN = ("cache_write_input_tokens", "cache_creation_input_tokens")
# Gemini bills what it thought as output, and leaves it out of the count of its candidates, which may be none; what its
# own tools gave it is input beside the prompt.
_TOOL_USE = ("tool_use_prompt_token_count", "toolUsePromptTokenCount")
_THOUGHTS = ("thoughts_token_count", "thoughtsTokenCount")


def _counts(block: Any) -> TokenCounts | None:
    get = _reader(block)
    given, answered, thought = _first(get, _INPUT), _first(get, _OUTPUT), _first(get, _THOUGHTS)
    if given is None or (answered is None and thought is None):
        return None
    given += _first(get, _TOOL_USE) or 0
    answered = (answered or 0) + (thought or 0)
    total = _first(get, _TOTAL)
    cached = _first(get, _CACHED)
    for name in _DETAILS:
        if cached is None and (details := get(name)) is not None:
            cached = _count(_reader(details)("cached_tokens"))
    read, made = _count(get("cache_read_input_tokens")), _count(get("cache_creation_input_tokens"))
    # Anthropic counts what it read from or wrote to its cache beside `input_tokens`, others within it.
    beside = cached is None and (read is not None or made is not None)
    if beside and _count(get("input_tokens")) is not None and total != given + answered:
        given += (read or 0) + (made or 0)
        total = given + answered
    return TokenCounts(
        input_tokens=given,
        output_tokens=answered,
        total_tokens=given + answered if total is None else total,
        cached_input_tokens=read if cached is None else cached,
        cache_write_input_tokens=_first(get, _WRITTEN),
        cost_usd=_reported(get),
    )


def _reported(get: "_Get") -> float | None:
    """The cost that a usage block states; with a key of one's own, what the provider behind charges is added."""
    stated = _amount(get("cost"))
    if stated is None or get("is_byok") is not True:
        return stated
    upstream = _amount(_reader(get("cost_details"))("upstream_inference_cost"))
    return None if upstream is None else stated + upstream


_Get: TypeAlias = Callable[[str], Any]


def _reader(holder: Any) -> _Get:
    """Reads the keys of a mapping or the attributes of an object, `None` without one, whatever code is behind it."""
    if type(holder) is dict:
        return holder.get

    def get(name: str) -> Any:
        try:
            return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
        except FOREIGN:
            return None

    return get


def _first(get: _Get, names: tuple[str, ...]) -> int | None:
    for name in names:
        found = get(name)  # most are not there
        if found is not None and _count(found) is not None:
            return int(found)
    return None


def _count(found: Any) -> int | None:
    return found if type(found) is int and 0 <= found <= LARGEST else None


def _amount(found: Any) -> float | None:
    if type(found) is bool or not issubclass(type(found), int | float):
        return None
    amount = found if issubclass(type(found), int) else float.__float__(found)
    return float(amount) if 0 <= amount <= LARGEST and math.isfinite(amount) else None


def _read(holder: Any, key: str) -> tuple[ModelUsage, ...]:
    stated = holder.get(key) if isinstance(holder, Mapping) else None
    return summed(filter(None, map(_stated, stated))) if isinstance(stated, list | tuple) else ()


def _stated(entry: Any) -> ModelUsage | None:
    """One entry of a stored `usage`; `None` for what is none. Without `calls` it is one."""
    get = _reader(entry)
    model, given, answered = get("model"), _count(get("input_tokens")), _count(get("output_tokens"))
    if not isinstance(model, str | None) or given is None or answered is None:
        return None
    calls = _count(get("calls"))
    return ModelUsage(
        model,
        given,
        answered,
        1 if calls is None else calls,
        _count(get("uncounted")) or 0,
        _amount(get("reported_usd")),
    )


def _sum(model: str | None, usages: list[ModelUsage]) -> ModelUsage:
    counted = [one for one in usages if one.calls > one.uncounted and (one.input_tokens or one.output_tokens)]
    reported = [one.reported_usd for one in counted if one.reported_usd is not None]
    known = bool(reported) and len(reported) == len(counted)
    return ModelUsage(
        model,
        min(sum(one.input_tokens for one in usages), LARGEST),
        min(sum(one.output_tokens for one in usages), LARGEST),
        min(sum(one.calls for one in usages), LARGEST),
        min(sum(one.uncounted for one in usages), LARGEST),
        sum(map(exact, reported)) / ONE if known else None,
    )
