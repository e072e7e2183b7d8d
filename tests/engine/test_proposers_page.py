"""The proposer that `docs/proposers.md` shows is run, and its tables are held against the code."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from beaker.core.cases import Case, CaseScore
from beaker.core.environment import BASE_ENVIRONMENT
from beaker.core.evaluations import Evaluation
from beaker.core.search import Trial
from beaker.engine.evidence import Standing, build_evidence, write_evidence
from beaker.engine.proposal import Outcome
from beaker.runtime.processes import MARK

PAGE = Path(__file__).parents[2] / "docs" / "proposers.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here")


def test_small_proposer__of_the_page__learns_from_evidence(tmp_path: Path) -> None:
    """It adds the words of missed spam in the minibatch, and nothing else."""
    script, _ = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    words = tmp_path / "documents" / "lists" / "spam.txt"
    words.parent.mkdir(parents=True)
    words.write_text("win\n")
    said = {"a": ("cash now", "spam", 0.0), "b": ("hello there", "ham", 1.0), "c": ("pills here", "spam", 0.0)}
    evidence = build_evidence(
        Standing(parent=0, objective=0.3, history=(), rollouts_left=9, proposals_left=9),
        targets={"kind": "documents", "groups": ["lists"]},
        read_only=[],
        cases={name: Case(name, text, expected) for name, (text, expected, _) in said.items()},
        minibatch=("a", "b"),
        others=("c",),
        evaluations={name: Evaluation(name, score=CaseScore(score, {})) for name, (_, _, score) in said.items()},
        clean=lambda text: text,
    )
    write_evidence(tmp_path / "evidence", evidence)
    environ = {"BEAKER_WORKSPACE": str(tmp_path), "BEAKER_EVIDENCE": str(tmp_path / "evidence")}
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path, env={**os.environ, **environ})
    assert words.read_text() == "cash\nwin\n"
    summary = json.loads((tmp_path / "evidence" / "summary.json").read_text())
    table = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8").split("`summary.json`:")[1], re.MULTILINE)
    assert table[: len(summary)] == list(summary)


def test_page__lists__match_the_code() -> None:
    """Outcomes, the base environment, and the fields of a trial and a case."""
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert all(f"| `{outcome}` |" in text for outcome in get_args(Outcome) if outcome != "child")
    listed = text.split("Its environment holds")[1].split("and the proxy")[0]
    assert re.findall(r"`(\w+)`", listed) == list(BASE_ENVIRONMENT)
    assert f"| `{MARK}` |" in text
    fields = ", ".join(field for field in Trial.__match_args__)
    assert f"`{{{fields}}}`" in text
