"""Agents as they are answered, and made on first use."""

import re
from dataclasses import replace

from beaker.core.api import MAX_AGENT_KEY, Response
from beaker.core.problems import Problem
from beaker.core.strict_json import JsonObject
from beaker.service.agent_table import Agent, find_agent, keep_agent, list_agents
from beaker.service.ports import Call, Caller, Ports, answer, refuse, timestamp

_NO_KEY = re.compile(r"[^a-z0-9]+")


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


def create_agent(call: Call) -> Response:
    """A new agent, known by a key made from its name. It takes its code from the checkout, like all agents here."""
    ports, given = call.ports, call.arguments
    name = given["name"].strip()
    key = _NO_KEY.sub("-", name.lower()).strip("-")[:MAX_AGENT_KEY]
    problems = []
    if not key or not name.isprintable():
        problems.append(Problem("BK450", "must be printable text with a letter or a digit in it", "name"))
    if given["github_repository"].strip().casefold() != (own := ports.repository.name()).casefold():
        problems.append(Problem("BK466", f"this place runs the checkout {own!r}", "github_repository", f"name {own}"))
    if given["beaker_config_path"] != (path := ports.repository.config_path()):
        problems.append(Problem("BK466", f"this place reads {path!r}", "beaker_config_path", f"name {path}"))
    if problems:
        return refuse(422, tuple(problems))
    if find_agent(ports.database, call.caller.organization, key) is not None:
        hint = "use it, or choose another name"
        return refuse(409, Problem("BK489", f"there is an agent {key!r} already", "name", hint))
    agent = replace(_described(ports, call.caller, key), name=name)
    return answer(agent_json(keep_agent(ports.database, agent)), status=201)


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
