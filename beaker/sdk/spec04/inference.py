"""Where hooks of the Spec generation call a model, and its way to average scores."""

import os
from collections.abc import Mapping
from typing import Any

from returns.pipeline import is_successful

from beaker.core.inference import SCORER_MODEL_VARIABLE, InferenceTarget, choose_spec_target, spec_model
from beaker.core.text import canonical_model
from beaker.sdk.inference import told


def inference_target(runtime: Any) -> InferenceTarget:
    """Where `run_case` calls the model of its `RolloutContext`.

    The model is `canonical_model_id`, else `model` when it reads `provider:model`, else made of `provider` and `model`,
    else of `provider/model`. `RuntimeError` outside a rollout of a run, and when no model can be told.
    """
    fields = (getattr(runtime, name, None) for name in ("canonical_model_id", "model", "provider"))
    chosen = choose_spec_target(spec_model(*fields), os.environ)
    if not is_successful(chosen):
        raise RuntimeError(told(chosen.failure()))
    return chosen.unwrap()


def configure_scoring_inference_model(model: str | None) -> None:
    """Have scoring in this process ask `model`, written `provider:model`; `None` takes the setting back.

    `ValueError` for another spelling.
    """
    if model is None:
        os.environ.pop(SCORER_MODEL_VARIABLE, None)
    else:
        os.environ[SCORER_MODEL_VARIABLE] = canonical_model(model, "the scorer model")


def objective_score(field_scores: Mapping[str, Any], field_weights: Mapping[str, Any] | None = None) -> float:
    """The weighted mean as this generation had it: a field without a score counts as 0, and nothing is capped at 1.

    Without weights every field counts alike. Weights that are not above 0 do not count; without any left it is 0.0.
    """
    weights = {name: float(weight) for name, weight in (field_weights or dict.fromkeys(field_scores, 1.0)).items()}
    kept = {name: weight for name, weight in weights.items() if weight > 0}
    whole = _added(kept.values())
    return _added(weight / whole * _clamped(field_scores.get(name)) for name, weight in kept.items())


def _clamped(score: Any) -> float:
    try:
        return max(0.0, min(1.0, float(score)))
    except (TypeError, ValueError):
        return 0.0


def _added(numbers: Any) -> float:
    whole = 0.0  # one addition after the other: `sum` compensates from Python 3.12 on
    for number in numbers:
        whole += number
    return whole
