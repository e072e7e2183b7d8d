"""Projects of earlier generations pass smoke and run as they are, with exactly the warnings that are promised."""

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

Beaker = Callable[..., "subprocess.CompletedProcess[str]"]

WARNING = re.compile(r"^warning: (?:BK351 )?(?P<where>\w+\.py:\d+): (?P<said>.*deprecated.*)$", re.MULTILINE)


def told(text: str) -> list[tuple[str, str]]:
    """Where and what the warnings of a text say, in their order."""
    return [(found["where"], found["said"]) for found in WARNING.finditer(text)]


def check(found: list[tuple[str, str]], promised: Mapping[str, str]) -> None:
    """Each promised warning came once, at its place, with its change, and no other came."""
    assert sorted(where for where, _ in found) == sorted(promised)
    for where, said in found:
        assert promised[where] in said


def test_smoke__earlier_project__passes_strictly_with_its_warnings(beaker: Beaker, made: Path, earlier: Any) -> None:
    """`run smoke --strict` is green and tells each deprecated thing once, where it stands; no file changes."""
    before = {path: path.read_bytes() for path in made.glob("*.py")}
    done = beaker("run", "smoke", "--strict")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Readiness: INTEGRATED" in done.stdout
    check(told(done.stderr), earlier.warnings)
    assert before == {path: path.read_bytes() for path in made.glob("*.py")}


@pytest.mark.e2e
def test_run__earlier_project__is_optimized_with_its_warnings(beaker: Beaker, made: Path, earlier: Any) -> None:
    """Smoke runs one case, a local run makes twenty rollouts in as many processes; each warns once all the same."""
    done = beaker("run", "smoke", "--strict", "--run-one", "--json")
    assert done.returncode == 0, done.stderr
    warnings = [one for one in json.loads(done.stdout)["warnings"] if one["code"] == "BK351"]
    check([(one["where"], one["message"]) for one in warnings], {**earlier.warnings, **earlier.of_run_case})

    assert beaker("--local", "dataset", "upload", "dataset", "--name", "words").returncode == 0
    done = beaker("--local", "run", "trigger", "--dataset", "words", "--watch", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    (run_id,) = (folder.name for folder in (made / ".beaker" / "local" / "runs").iterdir())
    run = json.loads(beaker("--local", "run", "status", run_id, "--json").stdout)
    assert run["status"] == "COMPLETED", run
    assert run["progress"]["rollouts"]["done"] == 20
    assert run["result"]["test"]["difference"] > 0
    log = (made / ".beaker" / "local" / "runs" / run_id / "worker.log").read_text()
    check(told(log), {**earlier.warnings, **earlier.of_run_case})
