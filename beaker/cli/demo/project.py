"""Lays out the example project: its files, its dataset beside the commit, and the commit."""

import json
import shutil
import sys
from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Failure, Result

from beaker.cli.demo.invoices import Row, make_rows
from beaker.core.problems import Problem
from beaker.files.atomic import os_problem, write_text
from beaker.files.git import commit_all, init_repository

TEMPLATE = Path(__file__).parent / "template"

LAYOUT = {
    "project_readme.md": "README.md",
    "beaker.yaml": ".beaker/beaker.yaml",
    "invoice_reader.py": "invoice_reader.py",
    "invoice_integration.py": "invoice_integration.py",
    "learn_rules.py": "proposer/learn_rules.py",
}
"""File of the template -> its place in the project. The playbooks keep their names."""

IGNORED = "dataset/\nresults/\n__pycache__/\n"
BEAKER_IGNORED = ".env\n.env.*\nlocal/\ntraces/\n__pycache__/\n"


def create_project(directory: Path, *, python: str = sys.executable) -> Result[str, Problem]:
    """Fill `directory`, which is made when missing and must be empty, and return the id of its first commit.

    `python` runs the proposer. BK721 for a folder that holds something, BK701 for one that cannot be written, BK710
    when Git is missing; the folder is then as it was.
    """
    existed = directory.exists()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            hint = "name a folder that is empty or does not exist yet"
            return Failure(Problem("BK721", "the folder for the demo is not empty", str(directory), hint))
    except OSError as error:
        return Failure(os_problem(error, "make the folder for the demo", directory))
    made = _filled(directory, python)
    if not is_successful(made):
        _emptied(directory, remove=not existed)
    return made


def _filled(directory: Path, python: str) -> Result[str, Problem]:
    made = init_repository(directory)
    if not is_successful(made):
        return Failure(made.failure())
    try:
        _write_files(directory, python)
        write_dataset(directory / "dataset")
    except OSError as error:
        return Failure(os_problem(error, "write the demo project", directory))
    return commit_all(directory, "An invoice reader with a few playbooks")


def _emptied(directory: Path, *, remove: bool) -> None:
    for path in directory.iterdir():
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    if remove:
        directory.rmdir()


def write_dataset(directory: Path) -> None:
    """Write `train.jsonl` and `test.jsonl` below `directory`. Raises `OSError`."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, rows in zip(("train", "test"), make_rows(), strict=True):
        write_text(directory / f"{name}.jsonl", "".join(map(_line, rows)))


def _write_files(directory: Path, python: str) -> None:
    layout = LAYOUT | {f"playbooks/{path.name}": f"playbooks/{path.name}" for path in TEMPLATE.glob("playbooks/*.txt")}
    for source, place in layout.items():
        text = (TEMPLATE / source).read_text(encoding="utf-8").replace("@PYTHON@", json.dumps(python))
        (directory / place).parent.mkdir(parents=True, exist_ok=True)
        write_text(directory / place, text)
    write_text(directory / ".gitignore", IGNORED)
    write_text(directory / ".beaker" / ".gitignore", BEAKER_IGNORED)


def _line(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
