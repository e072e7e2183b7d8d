"""Which frameworks code asks models with, and whether it records that, told from its text: nothing is run."""

import os
from collections.abc import Iterator
from pathlib import Path

from returns.result import Failure, Result, Success

from beaker.core.frameworks import MODEL_ADAPTERS, MODEL_CALL, ModuleFacts, RepoScan, scanned
from beaker.core.problems import Problem
from beaker.files.atomic import os_problem
from beaker.files.module_facts import module_facts
from beaker.files.pyproject import declared_distributions
from beaker.files.reading import read_regular

SKIPPED_FOLDERS = frozenset(
    {
        ".venv", "venv", ".git", "node_modules", "build", "dist", "__pycache__", ".tox", ".mypy_cache", "site-packages",
        "local",
    }
)  # fmt: skip
TEST_FOLDERS = frozenset({"tests", "test", "tst", "testing", "e2e", "integration_tests"})

MAX_FILES, MAX_FILE_BYTES = 5000, 2 * 1024 * 1024
"""Files that are looked at, and the size of one; code that people write has fewer and smaller ones."""

_SIGNS = (b"model_call", b"tracing")


def find_recording(folder: Path) -> Result[str | None, Problem]:
    """`file:line` of the first place below `folder`, in order of paths, where model calls are recorded: `model_call` of
    a trace, or an adapter of Beaker's. `None` when there is none; tests do not count. BK701 for a folder that cannot be
    listed, BK749 for one with too many files.
    """
    try:
        code = (path for path, is_test in _python_files(folder) if not is_test)
        for number, path in enumerate(code):
            if number == MAX_FILES:
                return Failure(_too_many(folder))
            line = _line(path)
            if line is not None:
                return Success(f"{path.relative_to(folder).as_posix()}:{line}")
    except OSError as error:
        return Failure(os_problem(error, "look through the code", error.filename or folder))
    return Success(None)


def scan_repo(root: Path) -> Result[RepoScan, Problem]:
    """What the code below `root` says of models: its `pyproject.toml`, and every module that can be read as Python.

    BK701 for a folder that cannot be listed, BK749 for one with too many files.
    """
    modules: list[ModuleFacts] = []
    unread: list[str] = []
    try:
        for number, (path, is_test) in enumerate(_python_files(root)):
            if number == MAX_FILES:
                return Failure(_too_many(root))
            name = path.relative_to(root).as_posix()
            data = _data(path)
            facts = None if data is None else module_facts(data.decode("utf-8", "replace"), name, is_test=is_test)
            if facts is None:
                unread.append(name)
            else:
                modules.append(facts)
    except OSError as error:
        return Failure(os_problem(error, "look through the code", error.filename or root))
    return Success(scanned(str(root), declared_distributions(root), modules, unread=unread))


def recording_line(source: str) -> int | None:
    """The first line of a module's text that records model calls; `None` without one, and for what is no Python."""
    facts = module_facts(source, "")
    lines = () if facts is None else (line for what, line in facts.recorded if what in {MODEL_CALL, *MODEL_ADAPTERS})
    return min(lines, default=None)


def _python_files(folder: Path) -> Iterator[tuple[Path, bool]]:
    """The modules below a folder, in order of paths within each, and whether each is one of tests."""

    def unlisted(error: OSError) -> None:
        if error.filename == str(folder):
            raise error

    for root, folders, files in os.walk(folder, onerror=unlisted):
        folders[:] = sorted(one for one in folders if one not in SKIPPED_FOLDERS)
        among_tests = not TEST_FOLDERS.isdisjoint(Path(root).relative_to(folder).parts)
        for name in sorted(files):
            if name.endswith(".py"):
                is_test = name == "conftest.py" or name.startswith("test_") or name.endswith("_test.py")
                yield Path(root) / name, among_tests or is_test


def _line(path: Path) -> int | None:
    data = _data(path)
    if data is None or not any(sign in data for sign in _SIGNS):
        return None  # a file that cannot be read records nothing
    return recording_line(data.decode("utf-8", "replace"))


def _data(path: Path) -> bytes | None:
    """The bytes of a module; `None` for one that cannot be read or is larger than any that people write."""
    try:
        return None if path.stat().st_size > MAX_FILE_BYTES else read_regular(path)
    except OSError:
        return None


def _too_many(folder: Path) -> Problem:
    hint = "name the folder of the code alone, as source_dir or --dir"
    return Problem("BK749", f"has more than {MAX_FILES} Python files", str(folder), hint)
