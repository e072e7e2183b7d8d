"""Whether code records what it asks its models, told from its text: nothing is imported or run."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.files.atomic import os_problem
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

ADAPTERS = "beaker.tracing.integrations"
_ADAPTER_CALLS = frozenset({"instrument", "capabilities", "config", "handler", "registered"})
_SIGNS = (b"model_call", ADAPTERS.encode(), b"tracing")


def find_recording(folder: Path) -> Result[str | None, Problem]:
    """`file:line` of the first place below `folder`, in order of paths, where model calls are recorded: `model_call` of
    a trace, or an adapter of Beaker's. `None` when there is none; tests do not count. BK701 for a folder that cannot be
    listed, BK749 for one with too many files.
    """
    try:
        for number, path in enumerate(_python_files(folder)):
            if number == MAX_FILES:
                hint = "name the folder of the code alone as source_dir"
                return Failure(Problem("BK749", f"has more than {MAX_FILES} Python files", str(folder), hint))
            line = _line(path)
            if line is not None:
                return Success(f"{path.relative_to(folder).as_posix()}:{line}")
    except OSError as error:
        return Failure(os_problem(error, "look through the code", error.filename or folder))
    return Success(None)


def recording_line(source: str) -> int | None:
    """The first line of a module's text that records model calls; `None` without one, and for what is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    adapters, traces = _names(tree)
    lines = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and (_is_model_call(node.func, traces) or _is_adapter(node.func, adapters))
    ]
    return min(lines, default=None)


def _python_files(folder: Path) -> Iterator[Path]:
    def unlisted(error: OSError) -> None:
        if error.filename == str(folder):
            raise error

    for root, folders, files in os.walk(folder, onerror=unlisted):
        folders[:] = sorted(one for one in folders if one not in SKIPPED_FOLDERS | TEST_FOLDERS)
        for name in sorted(files):
            is_test = name == "conftest.py" or name.startswith("test_") or name.endswith("_test.py")
            if name.endswith(".py") and not is_test:
                yield Path(root) / name


def _line(path: Path) -> int | None:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            return None
        data = read_regular(path)
    except OSError:
        return None  # a file that cannot be read records nothing
    if not any(sign in data for sign in _SIGNS):
        return None
    return recording_line(data.decode("utf-8", "replace"))


def _names(tree: ast.AST) -> tuple[frozenset[str], frozenset[str]]:
    """What a module calls Beaker's adapters, and what it calls traces beside `trace`."""
    adapters: set[str] = set()
    traces = {"trace"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(ADAPTERS):
            adapters.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            imported = [alias for alias in node.names if alias.name.startswith(f"{ADAPTERS}.")]
            adapters.update(alias.asname or alias.name for alias in imported)
        elif isinstance(node, ast.Assign) and _is_trace(node.value, frozenset(traces)):
            traces.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return frozenset(adapters), frozenset(traces)


def _is_model_call(function: ast.expr, traces: frozenset[str]) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "model_call" and _is_trace(function.value, traces)


def _is_trace(node: ast.expr, traces: frozenset[str]) -> bool:
    match node:
        case ast.Name(id=name):
            return name in traces
        case ast.Attribute(attr=name):
            return name == "trace"
        case ast.Call(func=ast.Name(id="current_trace") | ast.Attribute(attr="current_trace")):
            return True
    return False


def _is_adapter(function: ast.expr, adapters: frozenset[str]) -> bool:
    if isinstance(function, ast.Name):
        return function.id in adapters & _ADAPTER_CALLS
    if not isinstance(function, ast.Attribute) or function.attr not in _ADAPTER_CALLS:
        return False
    return ast.unparse(function.value) in adapters
