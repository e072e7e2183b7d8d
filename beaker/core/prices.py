"""What calls of a model cost: the price table of a run."""

from collections.abc import Mapping
from typing import TypeAlias

from beaker.core.values import value


@value
class Price:
    """US dollars per million tokens, of the prompt (`input`) and of the answer (`output`)."""

    input: float
    output: float


Prices: TypeAlias = Mapping[str, Price]
"""Prices by `provider:model`."""
