"""What model calls used: what the application says against what a response says, and the sums by model."""

from collections.abc import Mapping
from typing import Any

from beaker.core.exact import ONE, exact
from beaker.core.options import LARGEST
from beaker.core.traces import MAX_MODELS
from beaker.core.usage import TokenCounts


def stated(given: Mapping[str, Any], inferred: TokenCounts | None) -> TokenCounts | None:
    """The counts when the application gave some itself: those it gave, else those of the response.

    Cache counters of the response do not outlive an `input_tokens` that comes without any. `None` when neither an
    input nor an output is known.
    """
    counts = {name: count for name, count in given.items() if is_count(count)}
    if inferred is not None:
        known = {
            "input_tokens": inferred.input_tokens,
            "output_tokens": inferred.output_tokens,
            "cached_input_tokens": inferred.cached_input_tokens,
            "cache_write_input_tokens": inferred.cache_write_input_tokens,
        }
        if "input_tokens" in counts:
            known["cached_input_tokens"] = known["cache_write_input_tokens"] = None
        counts = {**{name: count for name, count in known.items() if count is not None}, **counts}
    if "input_tokens" not in counts and "output_tokens" not in counts:
        return None
    into, out = counts.get("input_tokens", 0), counts.get("output_tokens", 0)
    return TokenCounts(
        input_tokens=into,
        output_tokens=out,
        total_tokens=counts.get("total_tokens", into + out),
        cached_input_tokens=counts.get("cached_input_tokens"),
        cache_write_input_tokens=counts.get("cache_write_input_tokens"),
        cost_usd=None if inferred is None else inferred.cost_usd,
    )


def is_count(given: object) -> bool:
    """Whether `given` can be a number of tokens."""
    return type(given) is int and 0 <= given <= LARGEST


def counts_json(counts: TokenCounts) -> dict[str, Any]:
    """The counts as a trace keeps them: what is not known is left out."""
    fields = {
        "input_tokens": counts.input_tokens,
        "output_tokens": counts.output_tokens,
        "total_tokens": counts.total_tokens,
        "cached_input_tokens": counts.cached_input_tokens,
        "cache_write_input_tokens": counts.cache_write_input_tokens,
        "cost_usd": counts.cost_usd,
    }
    return {name: count for name, count in fields.items() if count is not None}


class Tally:
    """Sums per model. One thread at a time uses it."""

    def __init__(self) -> None:
        # Per model: calls, input, output, uncounted, counted ones, those of them that state a cost, and the sum of it.
        self._sums: dict[str | None, list[int]] = {}

    def add(self, model: str | None, counts: TokenCounts | None, *, answered: bool) -> None:
        """One call; `answered` says that it was not cut short, so that missing counts are missing money."""
        if model not in self._sums and len(self._sums) >= MAX_MODELS - 1:
            model = None
        sums = self._sums.setdefault(model, [0] * 7)
        sums[0] += 1
        if counts is None:
            sums[3] += answered
            return
        sums[1] += counts.input_tokens
        sums[2] += counts.output_tokens
        sums[4] += 1
        if counts.cost_usd is not None:
            sums[5] += 1
            sums[6] += exact(counts.cost_usd)

    @property
    def calls(self) -> bool:
        """Whether there was any call."""
        return bool(self._sums)

    def to_json(self) -> list[dict[str, Any]]:
        """The sums as a trace states them (`usage_of` reads them), in the order in which the models came."""
        stated = []
        for model, (calls, given, answered, uncounted, counted, reporting, steps) in self._sums.items():
            one: dict[str, Any] = {"model": model, "calls": calls, "input_tokens": given, "output_tokens": answered}
            if uncounted:
                one["uncounted"] = uncounted
            if counted == reporting > 0:
                one["reported_usd"] = steps / ONE
            stated.append(one)
        return stated
