"""The environments of the processes that run a customer's code: what code finds, and what its scorer alone finds."""

from collections.abc import Iterable, Mapping

from beaker.core.config_entry import Kind
from beaker.core.environment import base_environment
from beaker.core.inference import (
    API_KEY_VARIABLE,
    BASE_URL_VARIABLE,
    RUN_ID_VARIABLE,
    SCORER_API_KEY_VARIABLE,
    SCORER_MODEL_VARIABLE,
)
from beaker.core.values import read_only, value

GATEWAY = (BASE_URL_VARIABLE, API_KEY_VARIABLE)
"""Where models are and the key for them: passed on to all code where they are set."""

KEYS = (API_KEY_VARIABLE, SCORER_API_KEY_VARIABLE)
"""What of it is a secret."""


@value(kw_only=True)
class ProcessEnvironments:
    """Variables and their values: of the code, and of its scorer. `judged` tells whether the scorer may ask a judge."""

    code: Mapping[str, str]
    scorer: Mapping[str, str]
    judged: bool


def process_environments(
    environ: Mapping[str, str], granted: Mapping[str, str], *, run_id: str, judge: str | None, kind: Kind
) -> ProcessEnvironments:
    """What processes of a run find: the base list of `environ`, what was `granted`, where models are, the run's id.

    The judge and its key are for the scorer alone, and the key only where there is a judge: one that the entry names,
    or any that a Spec may name itself.
    """
    code = {
        **base_environment(environ),
        **granted,
        **{name: environ[name] for name in GATEWAY if environ.get(name)},
        RUN_ID_VARIABLE: run_id,
    }
    judging = {} if judge is None else {SCORER_MODEL_VARIABLE: judge}
    judged = judge is not None or kind == "spec"
    if judged and environ.get(SCORER_API_KEY_VARIABLE):
        judging[SCORER_API_KEY_VARIABLE] = environ[SCORER_API_KEY_VARIABLE]
    return ProcessEnvironments(code=read_only(code), scorer=read_only({**code, **judging}), judged=judged)


def secret_values(environ: Mapping[str, str], granted: Iterable[str]) -> list[str]:
    """The values that must never be shown: those that were `granted`, and the keys for models."""
    return [*granted, *(environ[name] for name in KEYS if name in environ)]
