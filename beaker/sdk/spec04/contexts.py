"""What the Spec generation hands to factories, loaders and hooks: the contexts of a run, a row and a rollout."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import attrs

from beaker.core.reasoning_effort import nearest_effort
from beaker.core.values import read_only, value
from beaker.sdk.trace import NOOP_TRACE, Trace

USER_ID = "__prompt_optimizer__"
"""The user that an optimization runs as."""


class SpecContextRequiredError(RuntimeError):
    """Raised by a factory that can build its Spec only with the context of a run."""


@dataclass
class OptimizationContext:
    """What a factory is called with. Without a run all fields have their defaults."""

    user_id: str = USER_ID
    model: str | None = None
    run_id: str | None = None
    config: dict[str, Any] = field(default_factory=dict)
    input_artifacts: list[Any] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    workspace_dir: Path | None = None


@value
class DatasetRowContext:
    """Where a row comes from: its split, and where known its file and line, counted from 1."""

    split: str
    path: str | None = None
    line_number: int | None = None

    def label(self) -> str:
        """`file:line`, as far as known; the split stands for a file that is not."""
        place = str(self.path or self.split)
        return place if self.line_number is None else f"{place}:{self.line_number}"


@value
class RolloutModelCapabilities:
    """What the model of a rollout can do. Windows and outputs are counted in tokens."""

    reasoning_supported: bool = False
    reasoning_efforts: tuple[str, ...] = ()
    default_reasoning_effort: str | None = None
    reasoning_effort: str | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None

    def effort_for_budget(self, budget: float, *, max_tokens: int | None = None) -> str | None:
        """The word for reasoning effort nearest to `budget` tokens of `max_tokens`, or of the model's largest output.

        `None` for a model that does not reason; the default effort when there is nothing to compare with.
        """
        if not self.reasoning_supported:
            return None
        base = self.max_output_tokens if max_tokens is None else max_tokens
        if not base or base < 0:
            return self.default_reasoning_effort
        nearest = nearest_effort(budget, base=base, supported=self.reasoning_efforts)
        return self.default_reasoning_effort if nearest is None else nearest


def _resources(given: Mapping[str, Path]) -> Mapping[str, Path]:
    return read_only(dict(given))


@value
class RolloutContext:
    """What `run_case` is given besides the case and the targets.

    `resources` maps the names of resources to their folders, read-only; `ValueError` when there are any without a
    `candidate_id`. `trace` is always usable.
    """

    model: str | None
    user_id: str
    run_id: str | None = None
    provider: str | None = None
    canonical_model_id: str | None = None
    model_target_id: str | None = None
    seed: int | None = None
    candidate_id: str | None = None
    resources: Mapping[str, Path] = attrs.field(factory=dict, converter=_resources)
    candidate_runtime: Any = None
    trace: Trace = NOOP_TRACE
    model_capabilities: RolloutModelCapabilities | None = None

    def __attrs_post_init__(self) -> None:
        if self.resources and not self.candidate_id:
            raise ValueError("RolloutContext.resources need a candidate_id, whose files they are")

    def resource_root(self, name: str) -> Path:
        """The folder of a resource. `KeyError` for one that the candidate does not have."""
        try:
            return Path(self.resources[name])
        except KeyError:
            known = ", ".join(sorted(self.resources)) or "none"
            raise KeyError(f"there is no resource {name!r} (known: {known})") from None
