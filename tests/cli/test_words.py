"""Command lines that are shown: they work where they are copied to."""

import io
import shlex
import sys
from pathlib import Path

import pytest

from beaker.cli.demo.command import _show as show_demo
from beaker.cli.shell import Io
from beaker.cli.words import quoted


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A `beaker` that no shell finds by its name."""
    path = tmp_path / "my bin" / "beaker"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def view(program: str, **more: str) -> Io:
    return Io(
        stdout=io.StringIO(),
        stderr=io.StringIO(),
        stdin=io.StringIO(),
        environ={"PATH": more.pop("path", "/nowhere")},
        cwd=Path(),
        program=program,
        **more,  # type: ignore[arg-type]
    )


def test_command__program_outside_the_path__is_named_whole(program: Path) -> None:
    """Where the shell would not find this program by its name, the whole path stands there; else the name."""
    words = ("run", "status", "r 1")
    told = view(str(program), options="--local").command(*words)
    assert shlex.split(told) == [str(program), "--local", *words]
    assert view(str(program), path=str(program.parent)).command(*words) == "beaker run status 'r 1'"
    assert view("beaker").command("demo") == "beaker demo"
    assert view("/x/beaker/cli/__main__.py").command("demo") == f"{sys.executable} -m beaker.cli demo"


@pytest.mark.parametrize("word", ["", "a b", "it's", "$HOME", "invöices", "請求書", "a/b.c", "x;y", "*"])
def test_quoted__word__is_one_word_for_a_shell(word: str) -> None:
    """A shell takes a quoted word as it was; letters of any script stay readable."""
    assert shlex.split(quoted(word)) == [word]
    assert quoted("invöices") == "invöices"


def test_demo__last_words__name_the_program(program: Path, tmp_path: Path) -> None:
    """What the demo says to do next starts with the program that was started; one thing is not several."""
    part = {"train": 0.5, "test": 0.5, "candidate_id": "r.1", "low": 0.1, "high": 0.2}
    summary = dict.fromkeys(("baseline", "winner", "difference"), part)
    shown = view(str(program))
    told = {"run_id": "r", "status": "COMPLETED", "rollouts": 1, "changes": 1, "directory": str(tmp_path), **summary}
    show_demo(told, tmp_path / "results" / "r", shown)
    said = shown.stdout.getvalue()  # type: ignore[attr-defined]
    assert f"  '{program}' changes apply results/r/changes/playbooks.json --dir ." in said
    assert "  spent       1 rollout\n" in said
    assert "  changes     1 document in " in said
