"""Agents as they are answered, and made on first use."""

from beaker.core.api import Response
from beaker.core.strict_json import JsonObject
from beaker.service.agent_table import Agent, find_agent, keep_agent, list_agents
from beaker.service.ports import Call, Caller, Ports, answer, timestamp


def agent_of(ports: Ports, caller: Caller, key: str) -> Agent:
    """The caller's agent with this key. One that was never named before is not kept: whatever succeeds keeps it, so
    that refused calls leave none behind."""
    return find_agent(ports.database, caller.organization, key) or _described(ports, caller, key)


def current_agent(ports: Ports, caller: Caller, key: str) -> Agent:
    """The caller's agent with this key, made if need be, its repository and configuration as they now are."""
    return keep_agent(ports.database, _described(ports, caller, key))


def _described(ports: Ports, caller: Caller, key: str) -> Agent:
    return Agent(
        id=ports.new_id("agent"),
        organization=caller.organization,
        key=key,
        name=key,
        github_repository=ports.repository.name(),
        beaker_config_path=ports.repository.config_path(),
        created_at=timestamp(ports.now()),
    )


def get_current_agent(call: Call) -> Response:
    """The agent that the key selects."""
    return answer(agent_json(current_agent(call.ports, call.caller, call.the_agent().key)))


def list_all_agents(call: Call) -> Response:
    """Every agent of the caller's organization."""
    agents = [agent_json(agent) for agent in list_agents(call.ports.database, call.caller.organization)]
    return answer({"agents": agents})


def agent_json(agent: Agent) -> JsonObject:
    """An agent as it is answered."""
    return {
        "id": agent.id,
        "key": agent.key,
        "name": agent.name,
        "github_repository": agent.github_repository,
        "beaker_config_path": agent.beaker_config_path,
    }
