"""What type checkers say of customers' modules: the right ones pass, and each wrong line is found.

A line of `modules` that is wrong on purpose says what mypy and pyright call it: `# E code, ... | rule, ...`.
"""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Error: TypeAlias = tuple[str, int, str]
"""File, line and code of an error; a line that has several of one code counts once."""

MODULES = sorted((Path(__file__).parent / "modules").glob("*.py"))
EXPECTED = re.compile(r"  # E (?P<mypy>[^|]*)\|(?P<pyright>.*)$")
PYTHON = "3.11"  # the oldest one that customers may have


def expected(checker: str) -> set[Error]:
    """What the modules say of one checker."""
    found: set[Error] = set()
    for module in MODULES:
        for number, line in enumerate(module.read_text(encoding="utf-8").splitlines(), start=1):
            if (said := EXPECTED.search(line)) is not None:
                found |= {(module.name, number, code) for code in said[checker].replace(",", " ").split()}
    return found


def run(argv: list[str], folder: Path, seconds: int = 300) -> "subprocess.CompletedProcess[str]":
    # In a folder of its own: Beaker is found as it is installed, and no settings of this repository are.
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False)


def compare(found: dict[Error, str], checker: str) -> None:
    """What was found, with its messages, against what the modules say."""
    wanted = expected(checker)
    unexpected = "\n".join(f"{at}: {message}" for at, message in found.items() if at not in wanted)
    assert not unexpected, unexpected
    assert set(found) == wanted


def test_mypy__strict__finds_what_is_wrong_and_nothing_else(tmp_path: Path) -> None:
    """A customer's module under `mypy --strict`, without our plugins."""
    if find_spec("mypy") is None:
        pytest.skip("mypy is not installed here; tox -e types has it")
    options = ["--strict", "--config-file=", f"--python-version={PYTHON}", f"--cache-dir={tmp_path}", "--output=json"]
    done = run([sys.executable, "-m", "mypy", *options, *map(str, MODULES)], tmp_path)
    assert not done.stderr, done.stderr
    told: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    found = {(Path(one["file"]).name, one["line"], one["code"]): one["message"]
             for one in told if one["severity"] == "error"}  # fmt: skip
    compare(found, "mypy")


def test_pyright__finds_what_is_wrong_and_nothing_else(tmp_path: Path) -> None:
    """The same modules under pyright."""
    pyright = [sys.executable, "-m", "pyright"]
    if find_spec("pyright") is None:
        pytest.skip("pyright is not installed here; tox -e types has it")
    try:
        tried = run([*pyright, "--version"], tmp_path, seconds=180)
    except subprocess.TimeoutExpired:
        pytest.skip("pyright could not fetch its program within three minutes")
    if tried.returncode != 0:
        said = (tried.stderr or tried.stdout).strip().splitlines()[-1:] or ["it says nothing"]
        pytest.skip(f"pyright needs Node and its package from an npm registry: {said[0]}")
    done = run([*pyright, "--outputjson", f"--pythonpath={sys.executable}", f"--pythonversion={PYTHON}",
                *map(str, MODULES)], tmp_path)  # fmt: skip
    told: list[dict[str, Any]] = json.loads(done.stdout)["generalDiagnostics"]
    found = {(Path(one["file"]).name, one["range"]["start"]["line"] + 1, one.get("rule", "")): one["message"]
             for one in told if one["severity"] == "error"}  # fmt: skip
    compare(found, "pyright")


def test_modules__say_what_is_wrong_in_them() -> None:
    """The expectations are read: each module with faults names some for both checkers."""
    for checker in ("mypy", "pyright"):
        assert {name for name, _, _ in expected(checker)} == {module.name for module in MODULES}
