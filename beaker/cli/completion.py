"""`beaker completion bash|zsh|fish`: prints a completion script made from the parsers themselves."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import HELP, add_leaf

if TYPE_CHECKING:
    from beaker.cli.shell import Io


def add_parser(subparsers: Any) -> None:
    """Add `beaker completion`."""
    parser = add_leaf(subparsers, "completion", help=HELP["completion"])
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help='e.g. eval "$(beaker completion bash)"')


def run(arguments: argparse.Namespace, io: "Io") -> int:
    """Print the script."""
    from beaker.cli.parser import build_parser

    words = dict(_words(build_parser(), ()))
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell](words)
    if io.json:
        io.json_line({"shell": arguments.shell, "script": script})
    else:
        io.out(script)
    return 0


def _words(parser: argparse.ArgumentParser, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Every command path with the sub-commands and options that may follow it."""
    following: list[str] = []
    below: list[tuple[tuple[str, ...], argparse.ArgumentParser]] = []
    # argparse offers no public way to walk its own tree.
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            following += action.choices
            below += [((*path, name), child) for name, child in action.choices.items()]
        elif action.help != argparse.SUPPRESS:
            following += [option for option in action.option_strings if option.startswith("--")]
            following += [str(choice) for choice in action.choices or ()] if not action.option_strings else []
    yield path, following
    for child_path, child in below:
        yield from _words(child, child_path)


def _bash(words: dict[tuple[str, ...], list[str]]) -> str:
    cases = "\n".join(f'    "{" ".join(path)}") words="{" ".join(found)}" ;;' for path, found in words.items())
    return f"""\
_beaker() {{
  local where="" word words=""
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in -*) ;; *) where="${{where:+$where }}$word" ;; esac
  done
  while :; do
    case "$where" in
{cases}
    esac
    [ -n "$words" ] || [ -z "$where" ] && break
    case "$where" in *" "*) where="${{where% *}}" ;; *) where="" ;; esac
  done
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _beaker beaker"""


def _zsh(words: dict[tuple[str, ...], list[str]]) -> str:
    return "autoload -U +X bashcompinit && bashcompinit\n" + _bash(words)


def _fish(words: dict[tuple[str, ...], list[str]]) -> str:
    lines = ["function __beaker_path", "  string match -v -- '-*' (commandline -opc)[2..] | string join ' '", "end"]
    for path, found in words.items():
        lines.append(f'complete -c beaker -n \'test "$(__beaker_path)" = "{" ".join(path)}"\' -a "{" ".join(found)}"')
    return "\n".join(lines)
