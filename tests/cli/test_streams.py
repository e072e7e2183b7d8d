"""Every command on every kind of stream: ASCII, without colour, as JSON, and when nobody reads any more."""

import argparse
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from beaker.cli.__main__ import run
from beaker.cli.parser import build_parser
from beaker.cli.shell import Io

pytestmark = pytest.mark.once

ODD = "x-é請\x1b[31m"
"""What stands in place of every id, name and path: letters that ASCII lacks, and an attempt to colour."""

ROOT = build_parser()


def leaves(parser: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command, with something odd for whatever it needs."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for group in groups:
        for name, below in group.choices.items():
            yield from leaves(below, (*words, name))
    if not groups:
        needed = []
        for action in parser._actions:
            given = [str(next(iter(action.choices)))] if action.choices else [ODD]
            if action.option_strings and action.required:
                needed += [action.option_strings[0], *given]
            elif not action.option_strings and action.nargs not in ("?", "*"):
                needed += given
        for exclusive in (group for group in parser._mutually_exclusive_groups if group.required):
            needed += [exclusive._group_actions[0].option_strings[0], ODD]
        yield (*words, *needed)


MORE = {("demo",): (ODD,)}
"""What is given besides, so that a command does not set out on what takes long."""

COMMANDS = [(*argv, *MORE.get(argv, ())) for argv in leaves(ROOT)]


class Stream(io.TextIOWrapper):
    """A stream that carries ASCII alone."""

    def __init__(self, *, terminal: bool = False) -> None:
        super().__init__(io.BytesIO(), encoding="ascii", write_through=True)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def text(self) -> str:
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode("ascii")


class Gone(Stream):
    """A stream whose reader has gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


@pytest.fixture
def at(tmp_path: Path) -> Any:
    """Run a command in an empty repository, for somebody whose API does not answer."""
    for folder in (tmp_path / "project", tmp_path / "project/.git", tmp_path / "home"):
        folder.mkdir()
    (tmp_path / "project" / ODD).write_text("in the way")

    def call(*argv: str, out: Stream, err: Stream, **environ: str) -> int:
        place = {"HOME": str(tmp_path / "home"), "BEAKER_API_BASE_URL": "http://127.0.0.1:1", "BEAKER_API_KEY": "k"}
        view = Io(
            stdout=out,
            stderr=err,
            stdin=io.StringIO(),
            environ={**place, "BEAKER_AGENT_KEY": "a", "TERM": "xterm", **environ},
            cwd=tmp_path / "project",
            sleep=lambda _: None,
            clock=lambda: 0.0,
        )
        return run(argv, view)

    return call


@pytest.mark.parametrize("argv", COMMANDS, ids=lambda argv: " ".join(word for word in argv if word != ODD))
def test_command__any_stream__gets_what_it_can_show(argv: tuple[str, ...], at: Any) -> None:
    """Nothing breaks a stream of ASCII; colour comes from us alone and only where it is wanted; under --json every line
    is JSON; a reader that has gone ends the command with 2 and no word."""
    plain_out, plain_err = Stream(), Stream()
    code = at(*argv, out=plain_out, err=plain_err)
    said = plain_out.text() + plain_err.text()
    assert code in (0, 1, 2, 3)
    assert "an error inside Beaker:" not in said
    assert "Traceback" not in said
    assert "\x1b" not in said
    assert said

    out, err = Stream(terminal=True), Stream(terminal=True)
    at(*argv, out=out, err=err, NO_COLOR="1")
    assert "\x1b[3" not in out.text() + err.text()

    out, err = Stream(terminal=True), Stream(terminal=True)
    at(*argv, out=out, err=err)
    assert "x-\\xe9\x1b[31m" not in out.text() + err.text()

    out, err = Stream(), Stream()
    at(*argv, "--json", out=out, err=err)
    for line in (out.text() + err.text()).splitlines():
        assert isinstance(json.loads(line), dict)

    for out, err, wrote in ((Gone(), Stream(), plain_out.text()), (Stream(), Gone(), plain_err.text())):
        ended = at(*argv, out=out, err=err)
        assert ended == 2 if wrote else ended in (0, 1, 2, 3)
        assert "Traceback" not in err.text()
        assert "an error inside Beaker:" not in err.text()
