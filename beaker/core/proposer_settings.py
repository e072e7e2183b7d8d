"""Which proposer the settings of a run choose, what each kind takes, and which variables it needs."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from beaker.core.options import OptionsRefused, shown
from beaker.core.problems import Problem
from beaker.core.strict_json import JsonObject, json_object
from beaker.core.values import ReadOnlyDict, value

COMMAND, REFLECTION = "command", "reflection"
"""The proposers that Beaker brings; any other name is one that a package registers."""

PARETO = "pareto"
"""The engine that Beaker brings: the search of `core.search`."""

PROPOSER_HINT = (
    'write harness_optimization: {command: ["{python}", "{project}/propose.py"]}, with the program and arguments of '
    "your proposer, or reflection: {base_url: ..., model: ...} to ask a language model"
)

Values: TypeAlias = dict[str, Any]
"""The optimizer's settings by key, each read by its own rule."""


@value
class NoProposer(Problem):
    """The settings do not say what makes candidates; another place may have a proposer of its own."""


def choose_proposer(values: Values, *, code: str) -> str:
    """The proposer that the settings name, or imply by `command` or `reflection`.

    `OptionsRefused` when none is named, when the one named lacks what it needs, and for a setting that belongs to
    another one: nothing that was written is silently left out.
    """
    implied = [name for name in (COMMAND, REFLECTION) if name in values]
    named = values.get("proposer")
    if named is None and len(implied) > 1:
        message = "names two proposers, command and reflection"
        raise OptionsRefused(Problem(code, message, "", "keep one of them"))
    if named is None and not implied:
        raise OptionsRefused(NoProposer(code, "names no proposer, so no candidate could be made", "", PROPOSER_HINT))
    proposer = str(implied[0] if named is None else named)
    if proposer in (COMMAND, REFLECTION) and proposer not in values:
        what = "a command" if proposer == COMMAND else "to know which model to ask"
        raise OptionsRefused(Problem(code, f"the {proposer} proposer needs {what}", f".{proposer}", PROPOSER_HINT))
    if faults := [*_foreign(values, proposer, code)]:
        raise OptionsRefused(*faults)
    return proposer


def options(given: object) -> ReadOnlyDict[str, Any]:
    """The rule of `proposer_options` and `engine_options`: an object of JSON."""
    if not isinstance(given, Mapping):
        raise ValueError(f"must be an object, not {shown(given)}")
    try:
        return json_object(given, "the options")
    except TypeError as error:
        raise ValueError(str(error)) from error


def proposer_variables(optimizer: object) -> tuple[str, ...]:
    """The names of the caller's variables that a run's proposer needs, from the stored `harness_optimization`: what is
    passed on to it, and the key of the model that is asked.
    """
    settings: JsonObject = optimizer if isinstance(optimizer, dict) else {}
    passed, reflection = settings.get("proposer_env"), settings.get(REFLECTION)
    names = [name for name in passed if isinstance(name, str)] if isinstance(passed, list) else []
    key = reflection.get("api_key_env") if isinstance(reflection, dict) else None
    return (*names, key) if isinstance(key, str) else tuple(names)


def _foreign(values: Values, proposer: str, code: str) -> list[Problem]:
    """Settings that the chosen proposer or engine would leave out."""
    found = []
    for name in (COMMAND, REFLECTION):
        if name in values and name != proposer:
            found.append(Problem(code, f"belongs to the {name} proposer, and {proposer!r} is chosen", f".{name}"))
    if proposer == REFLECTION and values.get("proposer_env"):
        hint = "name the variable with the model's key in reflection.api_key_env"
        found.append(Problem(code, "is for a proposer that is a program; a model gets none", ".proposer_env", hint))
    if proposer in (COMMAND, REFLECTION) and values.get("proposer_options"):
        message = f"is for a proposer that a package registers, and {proposer!r} is chosen"
        found.append(Problem(code, message, ".proposer_options"))
    if values.get("engine", PARETO) == PARETO and values.get("engine_options"):
        message = f"is for an engine that a package registers, and {PARETO!r} is chosen"
        found.append(Problem(code, message, ".engine_options"))
    return found
