"""Values that a place keeps for its agents (`agent env set`), and who gets which.

Kept by agent key. A provider's key counts as the organization's too, so that every other agent of the place has it,
unless two agents hold different ones: then each has its own alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from returns.result import Failure, Result, Success

from beaker.core.environment import dotenv_faults, parse_dotenv, reserved_environment_reason
from beaker.core.problems import Problem, Problems
from beaker.core.readiness import PROVIDER_ENV_VAR_NAMES
from beaker.core.values import ReadOnlyDict, value

FORMAT = "beaker.secrets/1"
"""What the stored file says of itself."""

MAX_VALUE_BYTES = 64 * 1024
"""An environment holds no longer ones everywhere."""

LAST_FOUR_FROM = 16
"""Characters that a value must have for its last four to be shown; of a shorter one they would tell too much."""

ValuesByAgent = Mapping[str, Mapping[str, str]]


@value
class AgentValues:
    """Agent key to name to value; the values are in no representation."""

    agents: ValuesByAgent = attrs.field(factory=ReadOnlyDict, repr=False)


def name_problem(name: str) -> Problem | None:
    """Why no value can be kept under `name` (BK147), `None` when one can: asked before a value is sent anywhere."""
    reason = reserved_environment_reason(name)
    if reason is None:
        return None
    hint = "a name that `required_env` may list, such as OPENAI_API_KEY"
    return Problem("BK147", f"no value can be set for {name!r}: {reason}", hint=hint)


def only_name(names: Sequence[str]) -> Result[str, Problem]:
    """The one name that goes with a value; BK905 for none and for several."""
    if len(names) == 1:
        return Success(names[0])
    said = f"{len(names)} names are given" if names else "no name is given"
    return Failure(Problem("BK905", f"{said}, and one value", "NAME", "several are set from a file: --from-file FILE"))


def empty_value(name: str, text: str) -> Problem | None:
    """A warning (BK147) when what standard input gave for `name` is nothing."""
    if text:
        return None
    return Problem("BK147", f"standard input is empty, so {name} is set to nothing", hint="give it its value")


def agent_id_in(answer: Mapping[str, Any], agent_key: str) -> Result[str, Problem]:
    """The id in the answer about an agent; BK804 when it has none."""
    found = answer.get("id")
    if isinstance(found, str) and found:
        return Success(found)
    return Failure(Problem("BK804", "the service did not say the id of the agent", agent_key))


def value_problem(name: str, text: str) -> Problem | None:
    """Why `text` cannot be the value of `name` (BK147), `None` when it can. The value is not in the problem."""
    if "\0" in text:
        return Problem("BK147", f"the value of {name} holds a NUL character, which no variable can")
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        return Problem("BK147", f"the value of {name} holds bytes that are no UTF-8 text")
    if size > MAX_VALUE_BYTES:
        return Problem("BK147", f"the value of {name} has {size} bytes; at most {MAX_VALUE_BYTES} can be set")
    return None


def checked_value(name: str, text: str) -> Result[str, Problem]:
    """`text` without one line end behind it, as the value of `name`; BK147 as by `value_problem`."""
    kept = text.removesuffix("\r\n") if text.endswith("\r\n") else text.removesuffix("\n")
    problem = value_problem(name, kept)
    return Success(kept) if problem is None else Failure(problem)


def values_in(text: str, names: Sequence[str], where: str) -> Result[dict[str, str], Problems]:
    """The assignments of a dotenv file that are to be set: those of `names`, or all of them when no name is given.

    Every fault is a BK147: a name that is not in the file, is set twice or cannot be set, a value that no variable can
    hold or that looks like another; without names, also a line that sets nothing. Nothing is to be sent when one of
    many cannot be.
    """
    found = parse_dotenv(text)
    wanted = tuple(dict.fromkeys(names)) or tuple(found)
    if not wanted and not dotenv_faults(text, where):
        hint = "write one NAME=value on each line"
        return Failure((Problem("BK147", "the file sets no variable", where, hint),))
    problems = [fault for name, fault in dotenv_faults(text, where) if (name in wanted if name else not names)]
    for name in wanted:
        fault = name_problem(name)
        if fault is None and name not in found:
            fault = Problem("BK147", f"the file does not set {name}", where)
        fault = fault or value_problem(name, found[name])
        if fault is not None:
            hint = fault.hint if names else "name those that are meant: beaker agent env set NAME... --from-file FILE"
            problems.append(Problem(fault.code, fault.message, where, hint))
    return Failure(tuple(problems)) if problems else Success({name: found[name] for name in wanted})


def read_agent_values(stored: object, where: str) -> Result[AgentValues, Problem]:
    """The values in a decoded file; BK748 for one that is not as it is written."""
    hint = "restore the file, or remove it and set the variables again"
    if not isinstance(stored, Mapping) or stored.get("format") != FORMAT:
        return Failure(Problem("BK748", "does not hold the values of agents", where, hint))
    agents = stored.get("agents")
    if not isinstance(agents, Mapping) or not all(map(_is_values, agents.values())):
        return Failure(Problem("BK748", "does not hold the values of agents", where, hint))
    return Success(AgentValues(ReadOnlyDict({key: ReadOnlyDict(held) for key, held in agents.items()})))


def agent_values_json(kept: AgentValues) -> dict[str, Any]:
    """What is stored."""
    return {"format": FORMAT, "agents": {key: dict(held) for key, held in kept.agents.items()}}


def with_value(kept: AgentValues, agent_key: str, name: str, text: str) -> AgentValues:
    """`kept` with a value more, or another."""
    held = {**kept.agents.get(agent_key, {}), name: text}
    return AgentValues(ReadOnlyDict({**kept.agents, agent_key: ReadOnlyDict(held)}))


def without_value(kept: AgentValues, agent_key: str, name: str) -> AgentValues:
    """`kept` without a value; an agent that has none left is forgotten."""
    held = {one: text for one, text in kept.agents.get(agent_key, {}).items() if one != name}
    others = {key: own for key, own in kept.agents.items() if key != agent_key}
    return AgentValues(ReadOnlyDict({**others, agent_key: ReadOnlyDict(held)} if held else others))


def organization_values(kept: AgentValues) -> dict[str, str]:
    """The providers' keys that count for every agent: those of which the agents hold one alone."""
    found: dict[str, str] = {}
    for name in PROVIDER_ENV_VAR_NAMES.values():
        held = {own[name] for own in kept.agents.values() if name in own}
        if len(held) == 1:
            (found[name],) = held
    return found


def values_of(kept: AgentValues, agent_key: str) -> dict[str, str]:
    """What a run of this agent may be granted: its own values, and the organization's keys where it has none."""
    return {**organization_values(kept), **kept.agents.get(agent_key, {})}


def described(name: str, text: str) -> dict[str, Any]:
    """A value as it is answered: `{name, value_last_four, value_length}`, the ending `None` when it is not shown."""
    shown = text[-4:] if len(text) >= LAST_FOUR_FROM else None
    return {"name": name, "value_last_four": shown, "value_length": len(text)}


def read_values(answer: Mapping[str, Any]) -> Result[tuple[Mapping[str, Any], ...], Problem]:
    """The variables in an answer of `list_agent_env_vars`, each with its name; BK804 when one has none, so that nobody
    is told of fewer than there are."""
    listed = answer.get("env_vars")
    items = listed if isinstance(listed, list | tuple) else (None,)
    named = tuple(item for item in items if isinstance(item, Mapping) and isinstance(item.get("name"), str))
    if len(named) < len(items):
        return Failure(Problem("BK804", "the answer has no list of variables, or one without a name in it"))
    return Success(named)


def described_value(item: Mapping[str, Any]) -> str:
    """An answered value for people: its ending behind asterisks, that it is empty, or that it is hidden."""
    ending = item.get("value_last_four")
    if item.get("value_length") == 0:
        return "(empty)"
    return f"{'*' * 12}{ending}" if isinstance(ending, str) and ending else "(hidden)"


def _is_values(held: object) -> bool:
    return isinstance(held, Mapping) and all(isinstance(text, str) for text in held.values())
