"""Writes `cli-reference.md` from the commands and their tables. Run `python docs/cli_reference.py` after these have
changed; a test fails until it was done."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from beaker.cli.access import ACCESS, WHO
from beaker.cli.endpoints import COMMAND_ENDPOINTS
from beaker.cli.exit_codes import exits_of
from beaker.cli.parser import HELP, build_parser
from beaker.cli.schema import COMMAND_SCHEMAS
from beaker.core.endpoints import ENDPOINT
from beaker.files.published import published_schemas

PAGE = Path(__file__).with_name("cli-reference.md")

INTRODUCTION = """\
# Commands

Every command, with what it takes, what it asks a service, who can run it, how it ends and what it prints with `--json`.
This page is made from the commands themselves.

- **Calls** are the only endpoints of the API that a command may call, in order; one that its options give no reason for
  is left out. [The OpenAPI document](schemas/openapi.json) describes each. Bytes of files travel to and from addresses
  that answers name. With `--local` the same calls are answered on this machine, without a network.
- **Who** says what has to be shown to the service: a login session is what `beaker login` gives, an API key what
  `--api-key` or `BEAKER_API_KEY` holds.
- **JSON** is one compact line on standard output, several where a command watches or has more to say; the schema holds
  all of it, `beaker schema COMMAND` prints it. Problems come as [one line](schemas/cli-error.json) on standard error.
- Exit codes that are the same everywhere are in [Errors and exit codes](errors.md).
"""


def leaves(parser: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command that does something, with its parser."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield " ".join(words), parser
    for group in groups:
        for name, child in group.choices.items():
            yield from leaves(child, (*words, name))


def written() -> str:
    """The page as it is published."""
    tree = build_parser()
    # A switch that a leaf takes as well stands here alone.
    everywhere = {option for action in tree._actions for option in action.option_strings}
    lines = [INTRODUCTION, "## Everywhere", "", *_options(tree), ""]
    lines += [
        "`--base-url`, `--api-key` and `--config-file` stand before the command, all others before or behind it.",
        "",
    ]
    group = ""
    schemas = published_schemas()
    for command, parser in leaves(tree):
        name = command.partition(" ")[0]
        if name != group:
            group = name
            lines += [f"## {name}", "", f"{_sentence(HELP[name])}", ""]
        lines += [f"### beaker {command}", "", *_described(command, parser, schemas), ""]
        options = list(_options(parser, without=everywhere))
        lines += [*options, ""] if options else []
    return "\n".join(lines).rstrip() + "\n"


def _described(command: str, parser: Any, schemas: Mapping[str, Any]) -> Iterator[str]:
    yield _sentence(parser.description or "")
    yield from ("", "```text", " ".join(["beaker", command, *_arguments(parser)]), "```", "", "| | |", "|---|---|")
    yield f"| calls | {_calls(command)} |"
    yield f"| who | {WHO[ACCESS[command]]} |"
    yield f"| exit codes | {'; '.join(_exits(command))} |"
    yield f"| JSON | {'; or '.join(_shape(name, schemas[name], schemas) for name in COMMAND_SCHEMAS[command])} |"


def _arguments(parser: Any) -> Iterator[str]:
    """What stands behind the command on its line."""
    yield "[OPTIONS]"
    for action in parser._actions:
        if not action.option_strings:
            name = action.metavar or action.dest.upper()
            yield {"*": f"[{name} ...]", "+": f"{name} [{name} ...]", "?": f"[{name}]"}.get(action.nargs, name)


def _calls(command: str) -> str:
    if command == "demo":
        return "what the commands call that it runs, on this machine"
    named = [ENDPOINT[name] for name in COMMAND_ENDPOINTS[command]]
    return "<br>".join(f"`{one.method} {one.path}` ({one.name})" for one in named) or "nothing"


def _exits(command: str) -> Iterator[str]:
    """0 and 2 mean the same everywhere, and so do signals."""
    for code, meaning in exits_of(command).items():
        if code < 100:
            yield f"{code} {meaning}" if code not in (0, 2) else f"{code}"


def _shape(name: str, schema: Any, schemas: Mapping[str, Any]) -> str:
    keys = ", ".join(f"`{key}`" for key in _keys(schema, schemas, schema)) or "any object"
    return f"[{name}](schemas/{name}): {keys}"


def _keys(schema: Any, schemas: Mapping[str, Any], root: Any) -> list[str]:
    """The keys at the top of what a schema takes, in order, those of each alternative included."""
    found = dict.fromkeys(schema.get("properties", {}))
    below = [one for word in ("anyOf", "oneOf", "allOf") for one in schema.get(word, ())]
    if "$ref" in schema:
        file, _, pointer = schema["$ref"].partition("#")
        base = schemas[file] if file else root
        target = base
        for step in filter(None, pointer.split("/")):
            target = target[step]
        found |= dict.fromkeys(_keys(target, schemas, base))
    for one in below:
        found |= dict.fromkeys(_keys(one, schemas, root))
    return list(found)


def _options(parser: Any, *, without: set[str] | frozenset[str] = frozenset()) -> Iterator[str]:
    """A table of what a parser takes; nothing when it takes nothing."""
    rows = []
    for action in parser._actions:
        hidden = action.help == argparse.SUPPRESS or isinstance(action, argparse._SubParsersAction)
        if hidden or (
            action.option_strings and (set(action.option_strings) <= without or "--help" in action.option_strings)
        ):
            continue
        told = parser._get_formatter()._expand_help(action) if action.help else ""
        if action.choices is not None:
            told = "; ".join(filter(None, (told, f"one of {', '.join(f'`{one}`' for one in action.choices)}")))
        name = action.metavar or (action.dest.upper() if action.choices is None else _value(action.dest))
        takes = f" {name}" if action.option_strings and action.nargs != 0 else ""
        shown = ", ".join(f"`{one}{takes}`" for one in action.option_strings) or f"`{name}`"
        if action.required and action.option_strings:
            told = f"{told} (required)"
        rows.append(f"| {_cell(shown)} | {_cell(told)} |")
    if rows:
        yield from ("| option | what it does |", "|---|---|", *rows)


def _value(dest: str) -> str:
    """What stands for one of several words."""
    return dest.rpartition("_")[2].upper()


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return f"{_cell(text[:1].upper() + text[1:]).rstrip('.')}." if text else ""


def _cell(text: str) -> str:
    """Text in a cell of a table: words in angle brackets are no HTML."""
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
