"""What codes and exit codes mean: `beaker explain`, `beaker help`, and the page about errors."""

import json
import re
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

import beaker as package
from beaker.cli import shell
from beaker.cli.exit_codes import EXIT_CODES
from beaker.core.error_catalogue import explanations

ROOT = Path(__file__).parents[2]
SOURCE = Path(package.__file__).parent
CODE = re.compile(r"""["'](BK\d{3})["']""")


def given_codes() -> set[str]:
    """Every code that the package names outside its catalogue."""
    found: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        if "error_catalogue" not in path.parts:
            found |= set(CODE.findall(path.read_text(encoding="utf-8")))
    return found | set(CODE.findall((SOURCE / "core/error_catalogue/__init__.py").read_text(encoding="utf-8")))


def test_catalogue__has_exactly_the_codes_that_are_given() -> None:
    """A code without an explanation is no help, and one that is never given is wrong."""
    assert {one.code for one in explanations()} == given_codes()


def test_page__published__is_made_from_the_catalogue() -> None:
    """`python docs/error_tables.py` would change nothing."""
    spec = spec_from_file_location("error_tables", ROOT / "docs" / "error_tables.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    assert made.PAGE.read_text(encoding="utf-8") == made.written()


def test_catalogue__commands_it_names__exist() -> None:
    """A remedy never names a command that there is not."""
    from beaker.cli.parser import build_parser, leaf_of

    tree = build_parser()
    for one in explanations():
        for words in re.findall(r"`beaker ((?:[a-z][a-z-]*(?: |(?=`)))+)", f"{one.reason} {one.remedy}"):
            assert leaf_of(tree, words.split()) is not None, f"{one.code}: {words}"


def test_catalogue__pages_it_names__exist() -> None:
    """A remedy never sends anybody to a page that there is not."""
    for one in explanations():
        for page in re.findall(r"docs/[\w-]+\.md", f"{one.reason} {one.remedy}"):
            assert (ROOT / page).is_file(), f"{one.code}: {page}"


def test_explain__codes__say_why_and_what_next(
    beaker: Callable[..., Any], conforms: Callable[[object, str], None]
) -> None:
    """A code says what it is about, why it comes, and what to do; with --json in one line."""
    done = beaker("explain", "bk806", "BK112")
    assert done.code == 0
    assert done.out.startswith("BK806  the API: transport, credentials, answers\n  why   ")
    assert "\n  next  Log in again (`beaker login`)" in done.out
    assert all(len(line) <= 110 for line in done.out.splitlines())
    wrapped = json.loads(beaker("explain", "806", "--json").out)
    conforms(wrapped, "cli-explain.json")
    assert [one["code"] for one in wrapped["explanations"]] == ["BK806"]


def test_explain__nothing__lists_every_code(beaker: Callable[..., Any]) -> None:
    """Without a code all are listed, one a line."""
    lines = beaker("explain").out.splitlines()
    assert [line.split()[0] for line in lines] == [one.code for one in explanations()]


def test_explain__unknown_code__is_refused(beaker: Callable[..., Any]) -> None:
    """What is no code ends with 2 and says where to look."""
    done = beaker("explain", "BK000")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: BK910 there is no code 'BK000'\nhint: ")


def test_help__exit_codes__names_each_that_there_is(
    beaker: Callable[..., Any], conforms: Callable[[object, str], None]
) -> None:
    """Every exit code of the shell is listed with its meaning."""
    done = beaker("help", "exit-codes")
    assert done.code == 0
    assert [int(line.split()[0]) for line in done.out.splitlines()] == list(EXIT_CODES)
    named = ("DONE", "NEGATIVE", "REFUSED", "UNFINISHED", "INTERRUPTED", "TERMINATED", "HUNG_UP")
    assert set(EXIT_CODES) == {getattr(shell, name) for name in named}
    wrapped = json.loads(beaker("help", "exit-codes", "--json").out)
    conforms(wrapped, "cli-help.json")
    assert wrapped["text"] + "\n" == done.out


@pytest.mark.parametrize("words", [(), ("run",), ("run", "trigger"), ("agent", "env", "set"), ("explain",)])
def test_help__command__is_its_help(words: tuple[str, ...], beaker: Callable[..., Any]) -> None:
    """`beaker help X` is `beaker X --help`."""
    assert beaker("help", *words).out.rstrip() == beaker(*words, "--help").out.rstrip()


@pytest.mark.parametrize("words", [("nonsense",), ("run", "nonsense"), ("run", "trigger", "x"), ("exit-codes", "x")])
def test_help__neither_command_nor_topic__is_refused(words: tuple[str, ...], beaker: Callable[..., Any]) -> None:
    """What there is no help for says where to look."""
    done = beaker("help", *words)
    assert (done.code, done.out) == (2, "")
    assert "BK900" in done.err
    assert "topics: exit-codes" in done.err
