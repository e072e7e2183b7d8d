"""What models have cost so far, kept exactly."""

import attrs

from beaker.core.exact import ONE, exact
from beaker.core.usage import Spend


@attrs.define
class Spending:
    """Sums over everything that was taken, evaluations and proposals, TEST included.

    `total` is in US dollars, exactly (`core.exact`); it leaves out what is not known, which `unpriced` names. Of
    `total`, `proposing` was spent by the proposer in the `proposed` proposals that came back.
    """

    total: int = 0
    unpriced: tuple[str, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    proposing: int = 0
    proposed: int = 0

    def add(self, spend: Spend | None) -> int:
        """Count `spend`; what it adds to `total`."""
        if spend is None:
            return 0
        self.input_tokens += spend.input_tokens
        self.output_tokens += spend.output_tokens
        self.calls += spend.calls
        if spend.usd is None:
            self.unpriced = tuple(sorted({*self.unpriced, *(spend.unpriced or ("a model",))}))
            return 0
        added = exact(spend.usd)
        self.total += added
        return added

    @property
    def usd(self) -> float | None:
        """The sum in US dollars, rounded once; `None` when the cost of any call is unknown, or no call was recorded."""
        return None if self.unpriced or not self.calls else self.total / ONE

    @property
    def tokens(self) -> int | None:
        """Tokens of prompts and answers together; `None` when no call was recorded."""
        return self.input_tokens + self.output_tokens if self.calls else None
