"""The values of agents: `secrets.json` of a place, and the endpoints that list, set and delete what is in it."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from returns.pipeline import is_successful

from beaker.core import strict_json
from beaker.core.agent_values import (
    AgentValues,
    agent_values_json,
    described,
    name_problem,
    organization_values,
    read_agent_values,
    value_problem,
    values_of,
    with_value,
    without_value,
)
from beaker.core.api import Response
from beaker.core.problems import Problem, Refused
from beaker.core.readiness import PROVIDER_ENV_VAR_NAMES
from beaker.files.atomic import os_problem, write_text
from beaker.files.reading import read_regular
from beaker.service.agent_table import Agent, agent_by_id
from beaker.service.place import state_folder
from beaker.service.ports import Call, answer, refuse

SECRETS = "secrets.json"


class SecretsFile:
    """The values that a place keeps in `path`, readable by its owner only. Several processes may change them."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> AgentValues:
        """What is kept, nothing when there is no file. `Refused`: BK748 for a damaged one, BK701 for an unreadable."""
        try:
            data = read_regular(self.path)
        except FileNotFoundError:
            return AgentValues()
        except OSError as error:
            raise Refused(os_problem(error, "read the values of agents", self.path)) from error
        # What is wrong with the text is not shown: it holds secrets.
        found = read_agent_values(strict_json.parse(data).value_or(None), str(self.path))
        if not is_successful(found):
            raise Refused(found.failure())
        return found.unwrap()

    def change(self, edit: Callable[[AgentValues], AgentValues]) -> AgentValues:
        """Keep what `edit` makes of what is kept, and give that. `Refused` as by `read`, and when it cannot be
        written."""
        try:
            with self._alone():
                changed = edit(self.read())
                write_text(self.path, f"{strict_json.dumps(agent_values_json(changed))}\n", mode=0o600)
                return changed
        except OSError as error:
            raise Refused(os_problem(error, "keep the values of agents", self.path)) from error

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the lock among those who change the file; the system gives it up with the process."""
        import fcntl

        descriptor = os.open(self.path.with_name(f"{self.path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def kept_values(root: Path, environ: Mapping[str, str], agent_key: str) -> dict[str, str]:
    """What the place of the project at `root` keeps for an agent, found without opening its store. `Refused` as by
    `SecretsFile.read`."""
    return values_of(SecretsFile(state_folder(root, environ) / SECRETS).read(), agent_key)


def list_agent_env_vars(call: Call) -> Response:
    """The agent's variables, by name; what they hold is not answered."""
    agent = _agent(call)
    if isinstance(agent, Response):
        return agent
    held = call.ports.secrets.read().agents.get(agent.key, {})
    return answer({"env_vars": [described(name, text) for name, text in sorted(held.items())]})


def set_agent_env_var(call: Call) -> Response:
    """Keep a value for an agent; 422 for a name that no integration could declare, or a value no process could get."""
    agent, name, text = _agent(call), call.arguments["name"], call.arguments["value"]
    if isinstance(agent, Response):
        return agent
    if (problem := name_problem(name) or value_problem(name, text)) is not None:
        return refuse(422, problem)
    call.ports.secrets.change(lambda kept: with_value(kept, agent.key, name, text))
    return answer(described(name, text))


def delete_agent_env_var(call: Call) -> Response:
    """Forget a value of an agent; 404 when it has none of this name."""
    agent, name = _agent(call), call.arguments["name"]
    if isinstance(agent, Response):
        return agent
    found: list[bool] = []

    def edit(kept: AgentValues) -> AgentValues:
        found.append(name in kept.agents.get(agent.key, {}))
        return without_value(kept, agent.key, name)

    call.ports.secrets.change(edit)
    if not found[0]:
        hint = "`beaker agent env list` shows what is set"
        return refuse(404, Problem("BK453", f"the agent {agent.key} has no variable {name!r}", hint=hint))
    return answer({})


def list_llm_credentials(call: Call) -> Response:
    """Which providers' keys the organization has: those set for an agent. Nothing is routed."""
    held = organization_values(call.ports.secrets.read())
    credentials = [
        {"provider": provider, "configured": name in held} for provider, name in PROVIDER_ENV_VAR_NAMES.items()
    ]
    return answer({"credentials": credentials, "platform_routing_providers": []})


def _agent(call: Call) -> Agent | Response:
    agent_id = call.arguments["agent_id"]
    agent = agent_by_id(call.ports.database, call.caller.organization, agent_id)
    if agent is None:
        hint = "`beaker agent list` shows the ids of this place's agents"
        return refuse(404, Problem("BK453", f"there is no agent with the id {agent_id!r}", hint=hint))
    return agent
