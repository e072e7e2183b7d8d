"""Projects of every generation as their authors left them, in `projects`; `promised.json` has every warning of each."""

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from beaker.cli.__main__ import run
from beaker.cli.shell import Io
from beaker.files.git import commit_all, init_repository

PROJECTS = Path(__file__).parent / "projects"
NAMES = tuple(sorted(path.name for path in PROJECTS.iterdir()))

DATASET = {"train": "apple bee ice owl cat ox", "test": "ear dog urn emu"}


@dataclass(frozen=True)
class Made:
    """A project in a folder of its own, committed, with its dataset; the warnings it is promised, each by its place.

    `warnings` show when the project is loaded, `of_run_case` when a case runs, `of_config` when the file is read.
    """

    name: str
    folder: Path
    warnings: Mapping[str, str]
    of_run_case: Mapping[str, str]
    of_config: Mapping[str, str]


@pytest.fixture
def make(tmp_path: Path) -> Callable[[str], Made]:
    """Make the project of a name."""

    def made(name: str) -> Made:
        source, folder = PROJECTS / name, tmp_path / name
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("promised.json", "beaker.yaml", "__pycache__"))
        (folder / ".beaker").mkdir()
        shutil.copy(source / "beaker.yaml", folder / ".beaker")
        (folder / ".gitignore").write_text("dataset/\n__pycache__/\n")
        (folder / "dataset").mkdir()
        for split, words in DATASET.items():
            kinds = {word: "vowel" if word[0] in "aeiou" else "other" for word in words.split()}
            rows = ({"id": word, "word": word, "kind": kind} for word, kind in kinds.items())
            (folder / "dataset" / f"{split}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        init_repository(folder).unwrap()
        commit_all(folder, "as it was").unwrap()
        return Made(name, folder, **json.loads((source / "promised.json").read_text(encoding="utf-8")))

    return made


@dataclass(frozen=True)
class Outcome:
    """What one command line did."""

    code: int
    out: str
    err: str


@pytest.fixture
def beaker(tmp_path: Path) -> Callable[..., Outcome]:
    """Run `beaker` with these arguments in this process, without Beaker's variables of this machine."""

    def call(*argv: str, cwd: Path) -> Outcome:
        out, err = io.StringIO(), io.StringIO()
        environ = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
        code = run(argv, Io(stdout=out, stderr=err, stdin=io.StringIO(), environ=environ, cwd=cwd))
        return Outcome(code, out.getvalue(), err.getvalue())

    return call


@pytest.fixture(scope="session")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """A Python of this version (`3.13`) that has Beaker and its dependencies; skips where there is no such version."""

    def found(version: str) -> str:
        if version == f"{sys.version_info[0]}.{sys.version_info[1]}":
            return sys.executable
        python = _installed(version)
        if python is None:
            pytest.skip(f"there is no Python {version} here")
        folder = tmp_path_factory.mktemp("python") / version
        subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
        names = ("beaker", "attrs", "cattrs", "httpx", "yaml", "returns")
        places = {str(Path(str(import_module(name).__file__)).parents[1]) for name in names}
        (libraries,) = folder.glob("lib/python*/site-packages")
        (libraries / "beaker.pth").write_text("".join(f"{place}\n" for place in sorted(places)))
        return str(folder / "bin" / "python")

    return found


def _installed(version: str) -> str | None:
    """An interpreter of this version on the path, or where pyenv keeps those that are not."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(f"python{version}"), *sorted(map(str, kept.glob(f"{version}.*/bin/python{version}")))]
    for candidate in filter(None, candidates):
        done = subprocess.run([candidate, "-c", ""], capture_output=True, check=False)
        if done.returncode == 0:
            return candidate
    return None


DRIVER = """
import io, json, os, sys
from pathlib import Path
from beaker.cli.__main__ import run
from beaker.cli.shell import Io

said = []
for argv in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    code = run(argv, Io(stdout=out, stderr=err, stdin=io.StringIO(), environ=dict(os.environ), cwd=Path.cwd()))
    said.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(said))
"""


@pytest.fixture
def drive(tmp_path: Path) -> Callable[..., list[Outcome]]:
    """Run several command lines with another interpreter, in one process of it."""

    def call(python: str, *lines: tuple[str, ...], cwd: Path) -> list[Outcome]:
        environ = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
        done = subprocess.run(
            [python, "-c", DRIVER, json.dumps(lines)], cwd=cwd, env=environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        answers: list[Any] = json.loads(done.stdout.splitlines()[-1])
        return [Outcome(*answer) for answer in answers]

    return call
