"""`beaker agent create|setup|edit`: agents made, bound to a repository, and recorded in a project."""

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from returns.pipeline import is_successful

from beaker.cli.github_access import gain_access
from beaker.cli.place import Surroundings, answered, look_around, opened
from beaker.cli.session import Person, Target, logged_in, target
from beaker.cli.shell import DONE, Io, Styled, one_line
from beaker.core.agent_matching import (
    Adopt,
    Associate,
    Create,
    HostedAgent,
    created_agent,
    creation_refused,
    named_agent,
    plan_edit,
    plan_setup,
    read_agent,
    read_agents,
    the_agent,
)
from beaker.core.config_entry import entry_place
from beaker.core.credentials import overridden_key
from beaker.core.github_access import parse_repository
from beaker.core.needless import NO_AGENTS_HERE
from beaker.core.problems import Refused
from beaker.core.project_layout import BEAKER_CONFIG_PATH, BEAKER_DIR
from beaker.files.atomic import os_problem, write_bytes
from beaker.files.dotenv import read_dotenv
from beaker.files.git import remote_repository
from beaker.files.ignoring import completed_ignores
from beaker.files.project import Project, config_path_in_repository, find_git_root, leads_out
from beaker.files.reading import read_regular

if TYPE_CHECKING:
    from beaker.client.api import Api
    from beaker.core.config_entry import IntegrationEntry


def create(arguments: argparse.Namespace, io: Io) -> int:
    """Make an agent; with a login, after the App can read its repository."""
    repository = answered(parse_repository(arguments.repo))
    around = look_around(arguments, io)
    config_path = _config_path(around, io)
    with opened(arguments, io, around=around, resume=False, needs_agent=False) as place:
        if place.credential is not None and place.credential.names_a_person:
            repository = _accessible(place.api, arguments, io, repository)
        agent = _created(place.api, arguments.agent_name, repository, config_path)
    if io.json:
        io.json_line(_agent_json(agent))
        return DONE
    io.out(Styled("beaker agent create:", "ok"), f" {one_line(agent.name)} with the key {one_line(agent.key)}")
    io.out(f"  id  {one_line(agent.id) or '-'}")
    return DONE


def setup(arguments: argparse.Namespace, io: Io) -> int:
    """Find or make the agent, and record its key in the configuration."""
    around = look_around(arguments, io)
    where = _target(arguments, io, "agent setup", around)
    answered(where.login(io))
    if around.problems:
        raise Refused(around.problems)
    entry = _entry(arguments, around)
    config_path = _config_path(around, io)
    with logged_in(arguments, io, where) as person:
        agent = _set_up(person, arguments, io, around, config_path)
    recorded = None if entry is None else _record(agent, entry, io, around)
    if io.json:
        made = {"agent": _agent_json(agent), "integration_id": None if entry is None else entry.id}
        io.json_line(made | {"recorded": bool(recorded)})
        return DONE
    io.out(Styled("beaker agent setup:", "ok"), f" {one_line(agent.name)} with the key {one_line(agent.key)}")
    if entry is None:
        io.out("  no integration is configured here, so its key was not recorded")
    else:
        said = "recorded" if recorded else "was recorded already"
        io.out(f"  its key {said} as {one_line(entry_place(entry.section, entry.id))}.agent_key")
    if (overridden := overridden_key(io.environ, agent.key, dotenv=answered(read_dotenv(io.cwd)))) is not None:
        io.warn(overridden)
    io.note(Styled("Next:", "heading"))
    first = io.command("init") if entry is None else io.command("run", "smoke")
    io.note(f"  1. {'set the project up' if entry is None else 'check everything'}: {first}")
    io.note(f"  what is left then: {io.command('onboarding', 'status')}")
    return DONE


def edit(arguments: argparse.Namespace, io: Io) -> int:
    """Change an agent's name or the path of its configuration."""
    changes = answered(plan_edit(arguments.name, arguments.config_path))
    where = _target(arguments, io, "agent edit", None)
    with logged_in(arguments, io, where) as person:
        agent = answered(the_agent(answered(read_agents(person.call("list_user_agents"))), arguments.agent_name))
        answer = person.call("update_user_agent", agent_id=agent.id, **changes)
    told = {"key": agent.key, "name": agent.name, "beaker_config_path": agent.config_path} | changes
    told |= {key: answer[key] for key in told if isinstance(answer.get(key), str)}
    if io.json:
        io.json_line({"id": agent.id} | told)
        return DONE
    io.out(Styled("beaker agent edit:", "ok"), f" {one_line(told['key'])} is now {one_line(told['name'])}")
    io.out(f"  config  {one_line(told['beaker_config_path'])}")
    return DONE


def _target(arguments: argparse.Namespace, io: Io, command: str, around: Surroundings | None) -> Target:
    where = target(arguments, io, command=command, around=around)
    if where.local:
        raise Refused(NO_AGENTS_HERE)
    return where


def _entry(arguments: argparse.Namespace, around: Surroundings) -> "IntegrationEntry | None":
    from beaker.core.selection import choose

    return answered(choose(around.config, arguments.integration_id, arguments.spec_id))


def _config_path(around: Surroundings, io: Io) -> str:
    """The configuration's path from the root of the repository: of the one there is, or the one there would be."""
    if around.project is not None:
        return answered(config_path_in_repository(around.project))
    root = find_git_root(io.cwd.resolve())
    if root is None:
        return BEAKER_CONFIG_PATH
    return (io.cwd.resolve() / BEAKER_CONFIG_PATH).relative_to(root.resolve()).as_posix()


def _set_up(
    person: Person, arguments: argparse.Namespace, io: Io, around: Surroundings, config_path: str
) -> HostedAgent:
    """The agent, as it is once everything that it takes has been done."""
    agents = answered(read_agents(person.call("list_user_agents")))
    checkout = _checkout(around)
    plan = answered(
        plan_setup(agents, arguments.agent_name, repository=arguments.repo, config_path=config_path, checkout=checkout)
    )
    match plan:
        case Adopt(agent, repository):
            if repository is not None:
                _accessible(person.api, arguments, io, repository)
            return agent
        case Associate(agent, repository):
            repository = _accessible(person.api, arguments, io, repository)
            answer = person.call(
                "associate_user_agent_repository",
                agent_id=agent.id,
                github_repository=repository,
                beaker_config_path=config_path,
            )
            bound = replace(agent, repository=repository, config_path=config_path)
            return read_agent({**_agent_json(bound), **answer}) or bound
        case Create(name, repository):
            repository = _accessible(person.api, arguments, io, repository)
            return _created(person.api, name, repository, config_path)


def _accessible(api: "Api", arguments: argparse.Namespace, io: Io, repository: str) -> str:
    """`repository` as the service spells it, once the App can read it."""
    access = gain_access(api, io, repository=repository, timeout=arguments.timeout, no_browser=arguments.no_browser)
    assert access.found is not None  # or it would have been refused
    return access.found


def _created(api: "Api", name: str, repository: str, config_path: str) -> HostedAgent:
    called = answered(named_agent(name))
    made = api.call("create_agent", name=called, github_repository=repository, beaker_config_path=config_path)
    if not is_successful(made):
        raise Refused(creation_refused(made.failure(), repository))
    return answered(created_agent(called, made.unwrap()))


def _checkout(around: Surroundings) -> str | None:
    """The GitHub repository of this checkout, when Git knows one."""
    root = None if around.project is None else around.project.git_root
    found = None if root is None else remote_repository(root)
    return found.unwrap() if found is not None and is_successful(found) else None


def _record(agent: HostedAgent, entry: "IntegrationEntry", io: Io, around: Surroundings) -> bool:
    """Write the key into the entry, and keep secrets out of commits: whether the configuration was changed.

    `Refused` when it cannot be edited safely, with what to write by hand.
    """
    from beaker.files.config_edit import set_entry_value

    assert around.project is not None  # the entry is from there
    _keep_out(around.project)
    edited = set_entry_value(around.project.config_path, entry.id, "agent_key", agent.key, section=entry.section)
    if not is_successful(edited):
        io.tell(f"the agent {one_line(agent.key)} is ready, but its key was not recorded")
        raise Refused(edited.failure())
    return edited.unwrap().changed


def _keep_out(project: Project) -> None:
    """Complete `.beaker/.gitignore`."""
    path = project.root / BEAKER_DIR / ".gitignore"
    if (outside := leads_out(path)) is not None:
        raise Refused(outside)
    try:
        content = completed_ignores(read_regular(path) if path.exists() else None)
        if content is not None:
            path.parent.mkdir(exist_ok=True)
            write_bytes(path, content)
    except OSError as error:
        raise Refused(os_problem(error, "keep secrets out of commits", path)) from error


def _agent_json(agent: HostedAgent) -> dict[str, Any]:
    return {
        "id": agent.id,
        "key": agent.key,
        "name": agent.name,
        "github_repository": agent.repository,
        "beaker_config_path": agent.config_path,
    }
