"""Where hooks call a model: the targets that this process was given, read from its environment."""

import os
import sys
from typing import Any

from returns.pipeline import is_successful

from beaker.core.inference import InferenceTarget, choose_inference_target, choose_scoring_target
from beaker.core.problems import Problem

__all__ = ["InferenceTarget", "inference_target", "scoring_inference_target"]


def inference_target(runtime: Any) -> InferenceTarget:
    """Where `run_case` calls the model of its `runtime`, of which only `model` is read.

    `RuntimeError` outside a rollout of a run, and when no model was selected or it does not read `provider:model`. A
    `RolloutContext` of the Spec generation is read as it was then.
    """
    contexts = sys.modules.get("beaker.sdk.spec04.contexts")
    if contexts is not None and isinstance(runtime, contexts.RolloutContext):
        from beaker.sdk.spec04.inference import inference_target as earlier

        return earlier(runtime)
    chosen = choose_inference_target(runtime.model, os.environ)
    if not is_successful(chosen):
        raise RuntimeError(told(chosen.failure()))
    return chosen.unwrap()


def scoring_inference_target() -> InferenceTarget | None:
    """Where `score_case` calls the judge; `None` outside a run, where scoring keeps a judge of its own.

    `RuntimeError` for a run that names no judge or lacks its credentials, `ValueError` for a judge that is not written
    `provider:model` with a lower-case provider.
    """
    chosen = choose_scoring_target(os.environ)
    if not is_successful(chosen):
        problem = chosen.failure()
        raise (ValueError if problem.code == "BK144" else RuntimeError)(told(problem))
    return chosen.unwrap()


def told(problem: Problem) -> str:
    """What a problem says, with its hint, as the text of an exception."""
    return f"{problem}; {problem.hint}" if problem.hint else str(problem)
