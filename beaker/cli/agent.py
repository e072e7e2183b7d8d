"""`beaker agent list|create|setup|edit|env`: the agents of an organization, and which of them a project belongs to."""

import argparse
from importlib import import_module
from typing import Any

from beaker.cli.agent_env import add_parser as add_env
from beaker.cli.login import add_waiting_options
from beaker.cli.parser import HELP, add_entry_options, add_leaf
from beaker.cli.shell import DONE, Io, Styled, one_line

ACTIONS = {
    "list": ("beaker.cli.agent", "listing"),
    "create": ("beaker.cli.agent_setup", "create"),
    "setup": ("beaker.cli.agent_setup", "setup"),
    "edit": ("beaker.cli.agent_setup", "edit"),
    "env": ("beaker.cli.agent_env", "run"),
}
"""Action -> the module and function that perform it."""


def add_parser(subparsers: Any) -> None:
    """Add `agent` with its actions."""
    group = subparsers.add_parser("agent", help=HELP["agent"])
    actions = group.add_subparsers(dest="action", metavar="ACTION", required=True)
    add_leaf(actions, "list", help="list the agents of the organization")
    setup = add_leaf(
        actions,
        "setup",
        help="find or make an agent for this project, and record its key",
        description="Finds the agent by its key or name, or makes one for --repo; sees to it that the Beaker App can "
        "read its repository; and records its key in the configuration.",
    )
    setup.add_argument("agent_name", metavar="NAME_OR_KEY", help="the agent")
    add_entry_options(setup)
    setup.add_argument("--repo", metavar="OWNER/NAME", help="the GitHub repository; a new agent needs one")
    add_waiting_options(setup)
    edit = add_leaf(
        actions,
        "edit",
        help="change an agent's name or the path of its configuration",
        description="Changes what can be changed: an agent's key and its repository stay as they are.",
    )
    edit.add_argument("agent_name", metavar="NAME_OR_KEY", help="the agent")
    edit.add_argument("--name", metavar="NAME", help="its new name")
    edit.add_argument("--config-path", metavar="PATH", help="its configuration, from the root of the repository")
    create = add_leaf(
        actions,
        "create",
        help="make an agent for a repository",
        description="Makes an agent for the configuration of this project. Nothing is recorded here: `beaker agent "
        "setup` does that too.",
    )
    create.add_argument("agent_name", metavar="NAME", help="what to call it")
    create.add_argument("--repo", required=True, metavar="OWNER/NAME", help="its GitHub repository")
    add_waiting_options(create)
    add_env(actions)


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Perform the action and return its exit code."""
    module, name = ACTIONS[arguments.action]
    code: int = getattr(import_module(module), name)(arguments, io)
    return code


def listing(arguments: argparse.Namespace, io: Io) -> int:
    """List the agents; exit code 0, also when there are none."""
    from beaker.cli.place import answered, opened
    from beaker.core.agent_matching import read_agents

    with opened(arguments, io, resume=False, needs_agent=False) as place:
        answer = place.call("list_agents")
        person = place.credential is not None and place.credential.names_a_person
    agents = answered(read_agents(answer))
    if io.json:
        io.json_line(answer)
        return DONE
    if not agents and place.local:
        io.out("no agents; one is made when it is first named")
    elif not agents:
        action = ("agent", "setup", "NAME", "--repo", "OWNER/NAME")
        made = io.command(*action) if person else io.command("agent", "create", *action[2:])
        io.out(f"no agents; make one: {made}")
    else:
        io.out(Styled("Agents", "heading"))
    for agent in agents:
        more = [("id", agent.id), ("repo", agent.repository), ("config", agent.config_path)]
        said = "".join(f"  {label}={one_line(text)}" for label, text in more if text)
        io.out(Styled(one_line(agent.key), "key"), "\t", one_line(agent.name), said)
    return DONE
