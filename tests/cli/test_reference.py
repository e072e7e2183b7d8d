"""The reference of commands: made from them, whole, and true to the tables that the shell and the API go by."""

import ast
import re
from argparse import SUPPRESS
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from beaker.cli.access import ACCESS, WHO, takes_key
from beaker.cli.endpoints import COMMAND_ENDPOINTS
from beaker.cli.exit_codes import COMMAND_EXITS, EXIT_CODES, exits_of
from beaker.cli.parser import COMMANDS, build_parser
from beaker.cli.schema import COMMAND_SCHEMAS, ERROR
from beaker.core.endpoints import ENDPOINT, ENDPOINTS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def reference() -> Any:
    """The script that writes the page."""
    spec = spec_from_file_location("cli_reference", ROOT / "docs" / "cli_reference.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_page__published__is_made_from_the_commands(reference: Any) -> None:
    """`python docs/cli_reference.py` would change nothing."""
    assert reference.PAGE.read_text(encoding="utf-8") == reference.written()


def test_tables__every_command__has_a_row(reference: Any) -> None:
    """Who can run it, what it calls and what it prints: none is forgotten, and none is there that does not exist."""
    commands = {command for command, _ in reference.leaves(build_parser())}
    assert ACCESS.keys() == commands
    assert COMMAND_ENDPOINTS.keys() == commands - {"demo"}
    assert COMMAND_SCHEMAS.keys() - {ERROR} == commands
    assert COMMAND_EXITS.keys() <= commands


def test_page__every_command__says_everything(reference: Any) -> None:
    """Each has a section with its calls, who, exit codes and JSON, and every option that it takes."""
    page = reference.PAGE.read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### beaker ([a-z -]+)\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL))
    everywhere = page.partition("\n## run\n")[0]
    for command, parser in reference.leaves(build_parser()):
        section = sections.pop(command)
        assert [row for row in ("| calls |", "| who |", "| exit codes |", "| JSON |") if row not in section] == []
        shown = [
            action for action in parser._actions if action.help != SUPPRESS and "--help" not in action.option_strings
        ]
        for option in (option for action in shown for option in action.option_strings):
            assert f"`{option}" in section + everywhere, f"{command} {option}"
    assert sections == {}


def test_page__endpoints__are_those_of_the_api(reference: Any) -> None:
    """Every route that the page names exists, with the method and under the name that it gives."""
    named = re.findall(r"`([A-Z]+) (/v1/[^`]*)` \((\w+)\)", reference.PAGE.read_text(encoding="utf-8"))
    assert named
    assert {name for _, _, name in named} == {name for names in COMMAND_ENDPOINTS.values() for name in names}
    assert set(named) <= {(one.method, one.path, one.name) for one in ENDPOINTS}


@pytest.mark.parametrize("command", sorted(COMMAND_ENDPOINTS))
def test_access__fits_the_endpoints(command: str) -> None:
    """Who calls nothing is offline; what takes a key calls something that takes one, others something for people."""
    auths = {ENDPOINT[name].auth for name in COMMAND_ENDPOINTS[command]}
    access = ACCESS[command]
    assert (access == "offline") == (not auths)
    assert (access == "nobody") == ("none" in auths and command != "github connect")
    if access == "session":
        assert "session" in auths
    assert not takes_key(command) or "either" in auths
    assert access in WHO


def test_exits__of_every_command__are_those_of_the_scheme() -> None:
    """Only 1 and 3 say something of their own; all commands share the others."""
    for command in ACCESS:
        codes = exits_of(command)
        assert codes.keys() <= EXIT_CODES.keys()
        assert codes.keys() >= EXIT_CODES.keys() - {1, 3}
        assert COMMAND_EXITS.get(command, {}).keys() <= {1, 3}


def test_exits__modules_that_say_no__have_a_command_that_does() -> None:
    """A module that ends with 1 or 3 belongs to a command whose exit codes tell of it."""
    source = ROOT / "beaker" / "cli"
    saying = {
        path.relative_to(source).with_suffix("").as_posix()
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Return) and "NEGATIVE" in ast.unparse(node)
    }
    groups = {COMMANDS[command.partition(" ")[0]].removeprefix("beaker.cli.") for command in COMMAND_EXITS}
    first = {command.partition(" ")[0] for command in COMMAND_EXITS}
    known = {group.replace(".", "/") for group in groups} | first
    # `watch` and `evaluate` belong to `run`, the others are named after their command.
    stray = {name for name in saying if name.split("_")[0] not in known | {"watch", "evaluate"} and name not in known}
    assert stray == set()


@pytest.mark.parametrize("command", ["login", "logout", "auth status", "github status", "agent edit"])
def test_key__for_a_command_of_a_person__is_refused(command: str, beaker: Any) -> None:
    """The table is what the shell goes by: a key is refused where it has no use."""
    more = ("x", "--name", "y") if command == "agent edit" else ()
    done = beaker("--api-key", "k", *command.split(), *more)
    assert (done.code, "error: BK904 --api-key has no use here" in done.err) == (2, True)
