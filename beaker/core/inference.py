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
RUN_TOKEN_VARIABLE = "BEAKER_RUN_TOKEN"


@value
class InferenceTarget:
    """An OpenAI-compatible endpoint and the `model` to ask there.

    `base_url` suits clients that append `/chat/completions`. The `api_key` is in no representation of the value and in
    no pickle of it, but part of what makes two targets equal. A target that was pickled has lost its key: ask for
    another one where it is needed.
    """

    base_url: str
    api_key: str = attrs.field(repr=False)
    model: str

    @property
    def litellm_model(self) -> str:
        """The model as LiteLLM wants it to be called for an OpenAI-compatible endpoint: `openai/<model>`.

        Pass it with `api_base=target.base_url` and `api_key=target.api_key`.
        """
        return f"openai/{self.model}"

    def openai_kwargs(self) -> dict[str, str]:
        """`base_url` and `api_key`, for `OpenAI(**target.openai_kwargs())`; the model goes into each request.

        `RuntimeError` for a target that lost its key.
        """
        return {"base_url": self.base_url, "api_key": self._key()}

    def env(self) -> dict[str, str]:
        """What a subprocess needs to find the endpoint: `OPENAI_BASE_URL`, `OPENAI_API_BASE` and `OPENAI_API_KEY`.

        `RuntimeError` for a target that lost its key.
        """
        return {"OPENAI_BASE_URL": self.base_url, "OPENAI_API_BASE": self.base_url, "OPENAI_API_KEY": self._key()}

    def _key(self) -> str:
        if not self.api_key:
            raise RuntimeError("this inference target has no key (pickling leaves it behind); ask for one here instead")
        return self.api_key

    def __copy__(self) -> "InferenceTarget":
        return self

    def __deepcopy__(self, memo: object) -> "InferenceTarget":
        return self

    def __reduce__(self) -> tuple[type["InferenceTarget"], tuple[str, str, str]]:
        return InferenceTarget, (self.base_url, "", self.model)


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


def choose_spec_target(model: object, environ: Mapping[str, str]) -> Result[InferenceTarget, Problem]:
    """As `choose_inference_target`, for the Spec generation: where the variables of the gateway are missing, those with
    which a run reports count.
    """
    found = dict(environ)
    if not found.get(BASE_URL_VARIABLE):
        found[BASE_URL_VARIABLE] = _scoring_base_url(environ)
    if not found.get(API_KEY_VARIABLE):
        found[API_KEY_VARIABLE] = environ.get(RUN_TOKEN_VARIABLE, "")
    return choose_inference_target(model, found)


def spec_model(canonical: object, model: object, provider: object) -> str | None:
    """The model `provider:model` that a rollout of the Spec generation was given; `None` when it cannot be told.

    It is the `canonical` one, else `model` when that has a colon, else made of `provider` and `model`, which may begin
    with the provider and a slash, else `model` split at its first slash.
    """
    canonical, model, provider = (one.strip() if isinstance(one, str) else "" for one in (canonical, model, provider))
    if canonical:
        return canonical
    if ":" in model:
        return model
    if provider and model:
        return f"{provider}:{model.removeprefix(f'{provider}/')}"
    owner, slash, name = model.partition("/")
    return f"{owner}:{name}" if slash else None


def choose_scoring_target(environ: Mapping[str, str]) -> Result[InferenceTarget | None, Problem]:
    """Where scoring calls the judge; `None` outside a run, where scoring keeps a judge of its own.

    BK146 for a run without a judge, or a judge without credentials; BK144 for a judge in another than the canonical
    spelling.
    """
    model, api_key = environ.get(SCORER_MODEL_VARIABLE, ""), environ.get(SCORER_API_KEY_VARIABLE, "")
    base_url = _scoring_base_url(environ)
    reachable = bool(base_url and api_key)
    if not model.strip():
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
