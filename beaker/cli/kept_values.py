"""The values that `agent env set --local` keeps, for commands that run an integration's code here."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beaker.cli.place import Surroundings
    from beaker.cli.shell import Io
    from beaker.core.config_entry import IntegrationEntry
    from beaker.core.environment import GrantedEnvironment


def granted_here(
    arguments: argparse.Namespace, io: "Io", around: "Surroundings", entry: "IntegrationEntry"
) -> "GrantedEnvironment":
    """What the code of `entry` is granted on this machine: values kept for the agent, the environment, `.beaker/.env`.

    `Refused` when one of the files cannot be read.
    """
    from beaker.cli.place import answered
    from beaker.core.credentials import LOCAL, choose_agent_key
    from beaker.core.environment import granted_environment
    from beaker.files.dotenv import read_dotenv

    dotenv = answered(read_dotenv(io.cwd))
    kept: Mapping[str, str] = {}
    if entry.required_env and around.project is not None:
        from beaker.service.agent_values import kept_values

        flag = arguments.agent if "agent" in arguments else None
        chosen = choose_agent_key(flag, io.environ, entry.agent_key, dotenv=dotenv).map(lambda agent: agent.key)
        kept = kept_values(around.project.root.resolve(), io.environ, chosen.value_or(LOCAL))
    return granted_environment(entry.required_env, secrets=kept, caller=io.environ, dotenv=dotenv)
