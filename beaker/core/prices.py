"""What calls of a model cost: the price table of a run, and how it is read from settings."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from beaker.core.options import OptionsRefused, Rule, nested, number, shown
from beaker.core.problems import Problem
from beaker.core.values import ReadOnlyDict, value

PRICES_HINT = 'write prices: {"openai:gpt-4.1-mini": {input: 0.4, output: 1.6}}, in US dollars per million tokens'

DEAREST = 1_000_000.0
"""The highest price, in US dollars per million tokens."""


@value
class Price:
    """US dollars per million tokens, of the prompt (`input`) and of the answer (`output`)."""

    input: float
    output: float


Prices: TypeAlias = Mapping[str, Price]
"""Prices by `provider:model`."""


def prices_rule(code: str) -> Rule:
    """The rule for an object of prices by `provider:model`; every fault has `code` and its place."""
    amount = number(f"an amount from 0 to {DEAREST:.0f}", lambda usd: 0 <= usd <= DEAREST)
    rules: dict[str, Rule] = {"input": amount, "output": amount}

    def price(values: dict[str, Any]) -> Price:
        if missing := [name for name in rules if name not in values]:
            raise OptionsRefused(Problem(code, f"has no {' and no '.join(missing)}", "", PRICES_HINT))
        return Price(**values)

    read_price = nested(rules, price, code=code)

    def read(given: object) -> ReadOnlyDict[str, Price]:
        if not isinstance(given, Mapping):
            raise ValueError(f"must be an object of prices by provider:model, not {shown(given)}")
        prices: dict[str, Price] = {}
        faults: list[Problem] = []
        for name, one in given.items():
            provider, _, model = str(name).partition(":")
            if not provider.strip() or not model.strip():
                message = f"names {shown(name)}, which does not read provider:model"
                faults.append(Problem(code, message, "", PRICES_HINT))
            try:
                prices[name] = read_price(one)
            except OptionsRefused as refused:
                faults.extend(refused.below(f".{name}"))
        if faults:
            raise OptionsRefused(*faults)
        return ReadOnlyDict(prices)

    return read
