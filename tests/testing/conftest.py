"""Integrations written for a test, loaded into its process and taken out of it again."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from beaker import Integration
from beaker.testing import load_integration

HOOKS = """
import asyncio, contextlib
from contextlib import asynccontextmanager
from beaker import *

TARGETS = repository()
open_candidate = None

class Setup(RunSetup[dict]):
    row_model = dict
    async def load_cases(self, row, *, runtime):
        yield Case(id=row["id"], input=row["x"], expected=row["x"])

async def run_case(*, case_input, runtime):
    return CaseResult(case_input)

async def score_case(*, case, result, case_files_dir):
    return CaseScore(float(case.expected == result.output), {})
"""

END = """
integration = Integration(
    targets=TARGETS, run_setup=Setup, run_case=run_case, score_case=score_case, open_candidate=open_candidate
)
"""


@pytest.fixture(autouse=True)
def imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test imports, and puts on the path, goes with it."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if not name.startswith("beaker"):
            del sys.modules[name]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes `app.py` (or another file) with plain hooks, `text` overriding some of them."""

    def make(text: str = "", name: str = "app.py") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HOOKS + dedent(text) + END, encoding="utf-8")
        return path

    return make


@pytest.fixture
def hooks(write: Callable[..., Path]) -> Callable[[str], Integration]:
    """The Integration of plain hooks, `text` overriding some of them."""
    return lambda text="": load_integration(write(text))
