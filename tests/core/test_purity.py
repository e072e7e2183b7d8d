"""The core decides and never acts: held by its imports, and by a process in which acting is refused."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import beaker.core

CORE = Path(beaker.core.__file__).parent
MODULES = sorted(CORE.rglob("*.py"))
ALLOWED = {
    "attr", "attrs", "beaker", "cattrs", "returns", "typing_extensions",
    "abc", "ast", "bisect", "collections", "copy", "dataclasses", "datetime", "decimal", "difflib", "enum", "fractions",
    "functools", "hashlib", "heapq", "hmac", "ipaddress", "itertools", "json", "keyword", "math", "operator", "re",
    "statistics", "string", "struct", "textwrap", "types", "typing", "unicodedata", "urllib",
}  # fmt: skip
# `CaseFile.path` is a `pathlib.Path` by contract; the core builds one and never looks at the disk through it.
# What the kernel's refusals are called: `errno` is a table of numbers.
EXTRA = {"cases.py": {"pathlib"}, "sandbox_refusals.py": {"errno"}}


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports absolutely"
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_core_module__imports_only_what_decides(path: Path) -> None:
    """A core module imports the core, attrs, cattrs, returns and pure parts of the standard library."""
    names = imported(path)
    assert {name.split(".")[0] for name in names} <= ALLOWED | EXTRA.get(path.name, set())
    assert all(name.startswith("beaker.core") for name in names if name.split(".")[0] == "beaker")
    assert all(name in {"urllib.parse"} for name in names if name.split(".")[0] == "urllib")


POISONED = """
import importlib, os, pkgutil, random, sys, time, tempfile
import beaker.core

for module in pkgutil.walk_packages(beaker.core.__path__, "beaker.core."):
    importlib.import_module(module.name)

class Poison:
    def __getattribute__(self, name):
        raise AssertionError(f"the core touched {name}")
    def __getitem__(self, name):
        raise AssertionError(f"the core read {name}")

def refuse(event, args):
    if event in {"open", "socket.connect", "socket.bind", "subprocess.Popen", "os.system", "os.remove", "os.mkdir"}:
        raise AssertionError(f"the core did {event} {args!r}")

from beaker.core import convert, strict_json
from beaker.core.problems import Problem
convert.converter()
os.environ = Poison()
for name in ("time", "random"):
    real = sys.modules[name]
    for attribute in dir(real):
        if callable(getattr(real, attribute)) and not attribute.startswith("__"):
            def raiser(*args, _name=f"{name}.{attribute}", **kwargs):
                raise AssertionError(f"the core called {_name}")
            setattr(real, attribute, raiser)
sys.addaudithook(refuse)

assert strict_json.parse('{"a": [1, 2.5, null]}').unwrap() == {"a": [1, 2.5, None]}
problem = Problem("BK000", "message")
assert convert.from_json(convert.to_json(problem), Problem, code="BK000").unwrap() == problem
sys.stdout.write("clean")
"""


def test_core__runs_where_the_world_is_refused() -> None:
    """With files, sockets, processes, the environment, the clock and chance refused, the core still works."""
    done = subprocess.run([sys.executable, "-c", POISONED], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.returncode) == ("clean", 0), done.stderr
