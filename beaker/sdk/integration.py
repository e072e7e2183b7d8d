"""The Integration: what a customer's module declares, and all that Beaker needs to know of it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

from beaker import sdk
from beaker.core.targets import OptimizationTarget, normalize_targets
from beaker.core.text import FOREIGN
from beaker.core.values import value
from beaker.sdk.earlier import setup_opener
from beaker.sdk.hooks import OpenCandidate, RunCase, ScoreCase
from beaker.sdk.setups import RunSetup
from beaker.sdk.validation import validate_integration


def __getattr__(name: str) -> Any:
    """The other names of an Integration, which had their home here before `beaker` had them."""
    if name in sdk.__all__ or name in sdk.EARLIER_NAMES:
        return getattr(sdk, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _normalized(targets: Any) -> Any:
    try:
        return normalize_targets(targets)
    except FOREIGN:
        return targets  # reported by validate_integration, together with every other fault


@value(kw_only=True)
class Integration:
    """Connects an AI system with the cases that judge it.

    `targets` is what may change: a target of `repository()` or `documents()`, or a tuple of them; stored as a tuple.
    `run_setup` is a `RunSetup` subclass; `run_case`, `score_case` and `open_candidate` are the hooks. Construction
    checks everything that can be checked without running it, as `validate_integration` says, so a wrong declaration
    fails where the customer's module is imported. It holds no state of a run.
    """

    targets: tuple[OptimizationTarget, ...] = attrs.field(converter=_normalized)
    run_setup: type[RunSetup[Any]]
    run_case: RunCase
    score_case: ScoreCase
    open_candidate: OpenCandidate | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            targets: OptimizationTarget | Sequence[OptimizationTarget],
            run_setup: type[RunSetup[Any]],
            run_case: RunCase,
            score_case: ScoreCase,
            open_candidate: OpenCandidate | None = None,
        ) -> None: ...

    def __attrs_post_init__(self) -> None:
        validate_integration(self)
        if self.open_candidate is None and (opener := setup_opener(self.run_setup)) is not None:
            opener.warn()
            object.__setattr__(self, "open_candidate", opener)
