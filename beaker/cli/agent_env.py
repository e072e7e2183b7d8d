"""`beaker agent env list|check|set|delete`: the variables of an agent, which its runs are granted."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import add_agent_option, add_entry_options, add_leaf
from beaker.cli.shell import DONE, NEGATIVE, Io, Styled, one_line

if TYPE_CHECKING:
    from beaker.cli.place import Place, Surroundings
    from beaker.core.config_entry import IntegrationEntry

MAX_FILE_BYTES = 8 * 1024 * 1024
"""More than any file of variables has; a wrong one is refused before it is read whole."""


def add_parser(subparsers: Any) -> None:
    """Add `env` with its actions to the group `agent`."""
    group = subparsers.add_parser(
        "env",
        help="list, check, set and delete the variables of an agent",
        description="Runs of an agent are granted those of its variables that the integration's required_env names.",
    )
    actions = group.add_subparsers(dest="env_action", metavar="ACTION", required=True)
    _add_agent(add_leaf(actions, "list", help="list the variables of an agent, without their values"))
    check = add_leaf(
        actions,
        "check",
        help="tell whether everything that required_env names is set",
        description="Tells for every name in the integration's required_env where a run gets it from. The exit code is "
        "1 when one is set nowhere. The environment here and .beaker/.env count for runs on this machine alone.",
    )
    _add_agent(check)
    add_entry_options(check)
    setting = add_leaf(
        actions,
        "set",
        help="set variables of an agent",
        description="Sets one variable, or those of a file with lines NAME=value. Names are checked before anything is "
        "sent. A value given with --value can be seen by others on this machine while the command runs.",
    )
    setting.add_argument("names", nargs="*", metavar="NAME", help="the variable; with --from-file those that are meant")
    given = setting.add_mutually_exclusive_group(required=True)
    given.add_argument("--value", metavar="V", help="the value")
    given.add_argument("--value-stdin", action="store_true", help="read it from standard input, without its line end")
    given.add_argument("--from-file", metavar="FILE", help="set what FILE says (NAME=value), or NAME... of it")
    _add_agent(setting)
    delete = add_leaf(actions, "delete", help="delete a variable of an agent")
    delete.add_argument("name", metavar="NAME", help="the variable")
    _add_agent(delete)


def _add_agent(leaf: argparse.ArgumentParser) -> None:
    add_agent_option(leaf)
    leaf.add_argument("--agent-id", metavar="ID", help="the agent by its id; --agent is not looked at then")


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Perform the action and return its exit code."""
    actions = {"list": listing, "check": check, "set": set_values, "delete": delete}
    return actions[arguments.env_action](arguments, io)


def listing(arguments: argparse.Namespace, io: Io) -> int:
    """Show what is set, and nothing of the values but their ending."""
    from beaker.cli.place import answered
    from beaker.core.agent_values import described_value, read_values

    with _agent(arguments, io) as (place, agent_id, _):
        answer = place.call("list_agent_env_vars", agent_id=agent_id)
    listed = answered(read_values(answer))
    if io.json:
        io.json_line(answer)
        return DONE
    if not listed:
        io.out("beaker agent env list: no variable is set")
        return DONE
    io.out(Styled("Variables of the agent", "heading"))
    for item in listed:
        io.out(Styled(one_line(item["name"]), "key"), "\t", one_line(described_value(item)))
    return DONE


def check(arguments: argparse.Namespace, io: Io) -> int:
    """Tell where every declared name is set; exit code 1 when one is missing."""
    from beaker.cli.place import answered, look_around
    from beaker.core.readiness import SOURCE_TEXTS, check_readiness

    around = look_around(arguments, io)
    entry = _entry(arguments, io, around)
    with _agent(arguments, io, around) as (place, agent_id, _):
        readiness = answered(check_readiness(entry.required_env, available(place, agent_id, io)))
    if io.json:
        names = [{"name": name, "source": readiness.sources.get(name)} for name in entry.required_env]
        io.json_line({"integration_id": entry.id, "agent_id": agent_id, "ready": readiness.ready, "names": names})
        return DONE if readiness.ready else NEGATIVE
    for name in entry.required_env:
        source = readiness.sources.get(name)
        if source is None:
            io.out("  ", Styled("UNSET", "error"), f" {name}")
        else:
            io.out("  ", Styled("SET", "ok"), f"   {name}\t{SOURCE_TEXTS[source]}")
    if not entry.required_env:
        io.out(f"beaker agent env check: the integration {one_line(entry.id)} needs no variable")
    elif readiness.ready:
        io.out(Styled("beaker agent env check:", "ok"), " everything that is needed is set")
    else:
        return io.fail(readiness.problems(), code=NEGATIVE)
    return DONE


def available(place: "Place", agent_id: str, io: Io) -> Any:
    """What runs of the agent can be granted, as the place says; on this machine also what is set here."""
    from beaker.cli.place import answered
    from beaker.core.readiness import read_available, with_this_machine
    from beaker.files.dotenv import read_dotenv

    env_vars = place.call("list_agent_env_vars", agent_id=agent_id)
    found = read_available(env_vars, place.call("list_llm_credentials"))
    return with_this_machine(found, io.environ, answered(read_dotenv(io.cwd))) if place.local else found


def set_values(arguments: argparse.Namespace, io: Io) -> int:
    """Set what is given, after all of it was checked."""
    from beaker.core.problems import Refused

    values = _given(arguments, io)
    done: list[str] = []
    with _agent(arguments, io) as (place, agent_id, name_of_agent):
        try:
            for name, text in values.items():
                place.call("set_agent_env_var", agent_id=agent_id, name=name, value=text)
                done.append(name)
        except Refused:
            if done:
                io.tell(f"set before that: {', '.join(done)}")
            raise
    if io.json:
        io.json_line({"agent_id": agent_id, "set": done})
        return DONE
    for name in done:
        io.out(Styled("beaker agent env set:", "ok"), f" {name} is set for {name_of_agent} (its value is hidden)")
    return DONE


def delete(arguments: argparse.Namespace, io: Io) -> int:
    """Delete one variable."""
    with _agent(arguments, io) as (place, agent_id, name_of_agent):
        place.call("delete_agent_env_var", agent_id=agent_id, name=arguments.name)
    if io.json:
        io.json_line({"agent_id": agent_id, "deleted": arguments.name})
        return DONE
    name = one_line(arguments.name)
    io.out(Styled("beaker agent env delete:", "ok"), f" {name} is no longer set for {name_of_agent}")
    return DONE


def _given(arguments: argparse.Namespace, io: Io) -> dict[str, str]:
    """Names and values as they are to be set; nothing is read before the names are known to be good."""
    from beaker.cli.place import answered
    from beaker.core.agent_values import (
        checked_value,
        empty_value,
        name_problem,
        only_name,
        value_problem,
        values_in,
    )
    from beaker.core.problems import Refused

    problems = tuple(filter(None, map(name_problem, arguments.names)))
    if problems:
        raise Refused(problems)
    if arguments.from_file is not None:
        return answered(values_in(_file(arguments.from_file, io), arguments.names, arguments.from_file))
    name = answered(only_name(arguments.names))
    if arguments.value is not None:
        if (problem := value_problem(name, arguments.value)) is not None:
            raise Refused(problem)
        return {name: arguments.value}
    text = answered(checked_value(name, _standard_input(io)))
    if (warning := empty_value(name, text)) is not None:
        io.warn(warning)
    return {name: text}


def _standard_input(io: Io) -> str:
    from beaker.core.problems import Problem, Refused

    try:
        return io.stdin.read()
    except UnicodeDecodeError:
        raise Refused(Problem("BK147", "what standard input holds is no UTF-8 text")) from None


def _file(name: str, io: Io) -> str:
    from beaker.core.problems import Problem, Refused
    from beaker.files.atomic import os_problem
    from beaker.files.reading import open_regular

    try:
        with open_regular(io.cwd / name) as file:
            data = file.read(MAX_FILE_BYTES + 1)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused(Problem("BK147", "is not UTF-8", name, "save the file as UTF-8")) from None
    except OSError as error:
        raise Refused(os_problem(error, "read the variables", name)) from None
    if len(data) > MAX_FILE_BYTES:
        raise Refused(Problem("BK147", f"has more than {MAX_FILE_BYTES} bytes", name, "name another file"))
    return text


def _entry(arguments: argparse.Namespace, io: Io, around: "Surroundings") -> "IntegrationEntry":
    """The integration whose declaration is asked about; `Refused` when there is none or its entry is no good."""
    from beaker.cli.place import answered
    from beaker.core.problems import Problem, Refused
    from beaker.core.selection import select

    if around.problems:
        raise Refused(around.problems)
    entry = answered(select(around.config, arguments.integration_id, arguments.spec_id))
    if entry is None:
        where = str(io.cwd) if around.config is None else around.config.file
        raise Refused(Problem("BK119", "no integration is configured here", where, "`beaker init` makes one"))
    return entry


@contextmanager
def _agent(
    arguments: argparse.Namespace, io: Io, around: "Surroundings | None" = None
) -> "Iterator[tuple[Place, str, str]]":
    """The place, the agent's id, and what to call the agent."""
    from beaker.cli.place import answered, opened
    from beaker.core.agent_values import agent_id_in

    given = (arguments.agent_id or "").strip()
    # No key is sent with these calls, so that none has to be known beside an id.
    with opened(arguments, io, around=around, resume=False, needs_agent=not given) as place:
        if given:
            yield place, given, f"the agent {one_line(given)}"
            return
        agent_id = answered(agent_id_in(place.call("get_current_agent"), place.agent_key))
        yield place, agent_id, f"the agent {one_line(place.agent_key)}"
