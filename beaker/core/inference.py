"""Where a model is called: the gateway of a run, decided from the environment a process was given.

Two decisions: the target of the system under test, and the target of the judge, whose credentials are its own. Nothing
here says which credentials exist; the platform grants them by setting variables.
"""

from collections.abc import Mapping

import attrs
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.models import runtime_model, scorer_model
from beaker.core.problems import Problem
from beaker.core.values import value

BASE_URL_VARIABLE = "BEAKER_INFERENCE_BASE_URL"
API_KEY_VARIABLE = "BEAKER_INFERENCE_API_KEY"
SCORER_MODEL_VARIABLE = "BEAKER_SCORER_MODEL"
SCORER_API_KEY_VARIABLE = "BEAKER_SCORER_INFERENCE_API_KEY"
WRITEBACK_VARIABLE = "BEAKER_WRITEBACK_BASE_URL"
RUN_ID_VARIABLE = "BEAKER_RUN_ID"


@value
class InferenceTarget:
    """An OpenAI-compatible endpoint and the model to ask there.

    `base_url` suits clients that append `/chat/completions`. The key is in no representation of the value, but part of
    what makes two targets equal.
    """

    base_url: str
    api_key: str = attrs.field(repr=False)
    model: str


def choose_inference_target(model: object, environ: Mapping[str, str]) -> Result[InferenceTarget, Problem]:
    """Where a rollout calls `model`, the `runtime.model` it was given.

    BK146 without the gateway's address and key, which exist only inside a run; BK145 without a model, or with one that
    does not say its provider.
    """
    base_url, api_key = environ.get(BASE_URL_VARIABLE, ""), environ.get(API_KEY_VARIABLE, "")
    if not base_url or not api_key:
        message = "there are no credentials for inference: they exist only inside a rollout of a run"
        return Failure(Problem("BK146", message, hint="outside a run, call the provider with a key of your own"))
    chosen = runtime_model(model)
    if not is_successful(chosen):
        return Failure(chosen.failure())
    return Success(InferenceTarget(base_url.rstrip("/"), api_key, str(chosen.unwrap())))


def choose_scoring_target(environ: Mapping[str, str]) -> Result[InferenceTarget | None, Problem]:
    """Where scoring calls the judge; `None` outside a run, where scoring keeps a judge of its own.

    BK146 for a run without a judge, or a judge without credentials; BK144 for a judge in another than the canonical
    spelling.
    """
    model, api_key = environ.get(SCORER_MODEL_VARIABLE, ""), environ.get(SCORER_API_KEY_VARIABLE, "")
    base_url = _scoring_base_url(environ)
    reachable = bool(base_url and api_key)
    if not model:
        if not reachable and not environ.get(RUN_ID_VARIABLE):
            return Success(None)
        hint = "set scorer_model in the integration's entry of the configuration file"
        return Failure(Problem("BK146", "this run configures no scorer model", SCORER_MODEL_VARIABLE, hint))
    if not reachable:
        return Failure(Problem("BK146", f"the credentials of the scorer model {model} are not available"))
    judge = scorer_model(model, SCORER_MODEL_VARIABLE)
    if not is_successful(judge):
        return Failure(judge.failure())
    return Success(InferenceTarget(base_url, api_key, str(judge.unwrap())))


def _scoring_base_url(environ: Mapping[str, str]) -> str:
    if given := environ.get(BASE_URL_VARIABLE, ""):
        return given.rstrip("/")
    writeback = environ.get(WRITEBACK_VARIABLE, "").rstrip("/")
    return f"{writeback}/v1/llm" if writeback else ""
