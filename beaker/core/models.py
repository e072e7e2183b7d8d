"""Models by name: `provider:model` as three places read it, the models a launch compares, and the judge.

| text | to compare (`--optimization-model`) | of a rollout (`runtime.model`) | the judge (`scorer_model`) |
|---|---|---|---|
| `openai:gpt`, `openrouter:a/b:free` | taken, divided at the first `:` | taken | taken |
| blanks around either half | trimmed | those around the whole trimmed | refused around the whole |
| `OpenAI:gpt` | as typed | provider in lower case | refused |
| no `:`, an empty half | refused | refused | refused |
| a provider we do not know | taken | taken | taken |
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core import text
from beaker.core.options import shown
from beaker.core.problems import Problem, Problems
from beaker.core.values import value

MAX_OPTIMIZATION_MODELS = 8

SCORER_MODEL_KEYS = ("scorer_model", "scorerModel")
"""How people write a judge where launch settings stand; it is none."""

SCORER_MODEL_HINT = "set scorer_model in the integration's entry of the configuration file"


@value
class ModelName:
    """A model of a provider; its text is `provider:model`."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


def optimization_model(given: str) -> Result[ModelName, Problem]:
    """A model to compare, blanks around either half trimmed and the provider as typed; BK406 for anything else."""
    provider, _, model = (part.strip() for part in given.partition(":"))
    if not provider or not model:
        return Failure(_unfit(f"must read provider:model, not {given!r}"))
    return Success(ModelName(provider, model))


def available_models(models: Iterable[Any]) -> list[Any]:
    """Those of a catalogue whose provider's key the organization has: `credential_configured` is exactly true."""
    return [one for one in models if isinstance(one, Mapping) and one.get("credential_configured") is True]


def optimization_models(given: Sequence[str]) -> Result[tuple[ModelName, ...], Problem]:
    """The models to compare, at most 8, none twice ignoring case; BK406 otherwise."""
    if len(given) > MAX_OPTIMIZATION_MODELS:
        return Failure(_unfit(f"at most {MAX_OPTIMIZATION_MODELS} models can be compared, not {len(given)}"))
    models: list[ModelName] = []
    for one in given:
        read = optimization_model(one)
        if not is_successful(read):
            return Failure(read.failure())
        model = read.unwrap()
        if str(model).casefold() in (str(known).casefold() for known in models):
            return Failure(_unfit(f"names {model} twice"))
        models.append(model)
    return Success(tuple(models))


def runtime_model(given: object) -> Result[ModelName, Problem]:
    """The model that a rollout was given, its provider in lower case.

    BK145 for none at all or one that does not say its provider.
    """
    written = given.strip() if isinstance(given, str) else ""
    if not written:
        return Failure(Problem("BK145", "no model was selected for this run", "runtime.model"))
    provider, _, model = written.partition(":")
    if not provider or not model:
        message = f"{written!r} is ambiguous: it does not read provider:model"
        return Failure(Problem("BK145", message, "runtime.model"))
    return Success(ModelName(provider.lower(), model))


def scorer_model(given: object, where: str = "scorer_model") -> Result[ModelName, Problem]:
    """The judge in its canonical spelling; BK144 for any other."""
    try:
        provider, _, model = text.canonical_model(given, "the judge").partition(":")
    except ValueError as error:
        return Failure(Problem("BK144", str(error), where))
    return Success(ModelName(provider, model))


def choose_judge(given: object, *, required: bool, where: str = "scorer_model") -> Result[ModelName | None, Problem]:
    """The judge of an integration: what its entry names, `None` for none, which BK144 refuses where it is `required`.

    A judge that is named must be well-formed, required or not.
    """
    if given is not None:
        return scorer_model(given, where).map(_maybe)
    if required:
        hint = "add scorer_model: provider:model to the entry, or drop requires_scorer_model"
        return Failure(Problem("BK144", "the entry requires a judge and names none", where, hint))
    return Success(None)


def judges_in_settings(settings: Iterable[str], *, code: str) -> Problems:
    """A problem with `code` for each key of launch settings that names a judge, which only an entry can."""
    message = "the judge is no launch setting"
    return tuple(
        Problem(code, message, f"config.{key}", SCORER_MODEL_HINT) for key in settings if key in SCORER_MODEL_KEYS
    )


def with_models(
    config: Mapping[str, Any], models: Sequence[ModelName], *, selected: bool
) -> Result[dict[str, Any], Problem]:
    """A launch's `config` with the models to compare in its `optimization_config`; unchanged without any.

    BK406 when no integration is `selected` to compare them for, or `config` says something about models already.
    """
    spelled = [key for key in ("optimization_config", "optimizationConfig") if key in config]
    if not selected and (models or spelled):
        said = spelled[0] if spelled and not models else "--optimization-model"
        return Failure(Problem("BK406", "needs a selected integration", said, "pass --integration-id"))
    if not models:
        return Success(dict(config))
    if len(spelled) > 1:
        return Failure(Problem("BK406", "is given in both spellings", "config.optimizationConfig", "keep one spelling"))
    existing = config[spelled[0]] if spelled else {}
    if not isinstance(existing, Mapping):
        return Failure(Problem("BK406", f"must be an object, not {shown(existing)}", f"config.{spelled[0]}"))
    if taken := [key for key in ("optimization_models", "optimizationModels") if key in existing]:
        where = f"config.{spelled[0]}.{taken[0]}"
        return Failure(Problem("BK406", "names models beside --optimization-model", where, "keep one of them"))
    kept = {key: item for key, item in config.items() if key not in spelled}
    listed = [{"provider": one.provider, "model": one.model} for one in models]
    return Success(kept | {"optimization_config": {**existing, "optimization_models": listed}})


def _maybe(model: ModelName) -> ModelName | None:
    return model


def _unfit(message: str) -> Problem:
    return Problem("BK406", message, "--optimization-model")
