"""Which Integrations a module makes, asked in a process of its own: whatever the module does stays there."""

import asyncio
import os
from pathlib import Path

import pytest

from beaker.core.environment import base_environment
from beaker.runtime.discovery import discover_integrations
from beaker.runtime.failures import WorkerFailed
from beaker.runtime.supervisor import Supervisor

MAKE = """\
from beaker import Integration, RunSetup, repository
class Setup(RunSetup[dict]):
    row_model = dict
    async def load_cases(self, row, *, runtime):
        yield None
async def run_case(*, case_input, runtime): ...
async def score_case(*, case, result, case_files_dir): ...
def make():
    return Integration(
        targets=repository(), run_setup=Setup, run_case=run_case, score_case=score_case
    )
"""


def found(folder: Path, text: str, *, timeout: float = 60.0) -> tuple[str, ...]:
    (folder / "made.py").write_text(text)

    async def asked() -> tuple[str, ...]:
        async with Supervisor() as supervisor:
            env = base_environment(os.environ)
            return await discover_integrations(supervisor, folder, "made", env=env, timeout=timeout)

    return asyncio.run(asked())


def test_discover__public_values__are_named_once_in_order(tmp_path: Path) -> None:
    """Private names, other values and second names of one value do not count; no byte code stays."""
    text = f"{MAKE}print('noise')\nsecond = make()\nfirst = make()\nagain = second\n_hidden = make()\nother = 1\n"
    assert found(tmp_path, text) == ("second", "first")
    assert [path.name for path in tmp_path.iterdir()] == ["made.py"]
    assert found(tmp_path, "x = 1") == ()


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("raise KeyError('x')", "raised", "KeyError: 'x'"),
        ("def f(:", "raised", "SyntaxError"),
        ("import sys; sys.exit(0)", "raised", "SystemExit: 0"),
        ("import os; os._exit(0)", "raised", "ended with 0"),
        ("import time; time.sleep(60)", "timed_out", "longer than 0.5 s"),
    ],
)
def test_discover__module_that_fails__is_a_problem(tmp_path: Path, text: str, kind: str, said: str) -> None:
    """Neither an exit nor a hang reaches whoever asks."""
    with pytest.raises(WorkerFailed) as failed:
        found(tmp_path, text, timeout=0.5 if kind == "timed_out" else 60.0)
    assert failed.value.kind == kind
    assert said in failed.value.problems[0].message
