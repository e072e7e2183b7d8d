"""`beaker completion bash|zsh|fish`: prints a completion script made from the parsers themselves.

A built package carries the scripts as files, so printing one there imports no command.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import HELP, add_leaf

if TYPE_CHECKING:
    from beaker.cli.shell import Io

SHIPPED = Path(__file__).parents[1] / "completions"
"""Where a built package has the scripts."""


def add_parser(subparsers: Any) -> None:
    """Add `beaker completion`."""
    parser = add_leaf(subparsers, "completion", help=HELP["completion"])
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help='e.g. eval "$(beaker completion bash)"')


def run(arguments: argparse.Namespace, io: "Io") -> int:
    """Print the script."""
    file = SHIPPED / f"beaker.{arguments.shell}"
    shipped = file.read_text(encoding="utf-8").rstrip("\n") if file.is_file() else None
    script = completion_script(arguments.shell) if shipped is None else shipped
    if io.json:
        io.json_line({"shell": arguments.shell, "script": script})
    else:
        # The text is ours and plain, and shells ask for it at their start: nothing is imported to look through it.
        io.plain(script)
    return 0


def completion_script(shell: str) -> str:
    """The script for `bash`, `zsh` or `fish`, made anew from the parsers."""
    from beaker.cli.parser import build_parser

    words = dict(_words(build_parser(), ()))
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](words)


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


def _cases(words: dict[tuple[str, ...], list[str]], variable: str) -> str:
    """What may follow each path, as cases of a shell; the path is in `where`, and is shortened until one fits."""
    cases = "\n".join(f'    "{" ".join(path)}") {variable}="{" ".join(found)}" ;;' for path, found in words.items())
    return f"""\
  while :; do
    case "$where" in
{cases}
    esac
    [ -n "${variable}" ] || [ -z "$where" ] && break
    case "$where" in *" "*) where="${{where% *}}" ;; *) where="" ;; esac
  done"""


def _bash(words: dict[tuple[str, ...], list[str]]) -> str:
    return f"""\
_beaker() {{
  local where="" word words=""
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in -*) ;; *) where="${{where:+$where }}$word" ;; esac
  done
{_cases(words, "words")}
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _beaker beaker"""


def _zsh(words: dict[tuple[str, ...], list[str]]) -> str:
    return f"""\
#compdef beaker
_beaker() {{
  local where="" word found=""
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$word" in -*) ;; *) where="${{where:+$where }}$word" ;; esac
  done
{_cases(words, "found")}
  compadd -- ${{=found}} || _files
}}
# Read as a file of $fpath this is the function itself; evaluated, it has to be bound to the command.
if [ "${{funcstack[1]}}" = "_beaker" ]; then
  _beaker "$@"
else
  (( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit }}
  compdef _beaker beaker
fi"""


def _fish(words: dict[tuple[str, ...], list[str]]) -> str:
    lines = ["function __beaker_path", "  string match -v -- '-*' (commandline -opc)[2..] | string join ' '", "end"]
    for path, found in words.items():
        lines.append(f'complete -c beaker -n \'test "$(__beaker_path)" = "{" ".join(path)}"\' -a "{" ".join(found)}"')
    return "\n".join(lines)
