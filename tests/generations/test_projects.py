"""Projects of every generation pass smoke and run as they are, with exactly the warnings that are promised."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

ALL = tuple(sorted(path.name for path in (Path(__file__).parent / "projects").iterdir()))
ONE_OF_EACH = ("0.4-resources", "0.5-repository", "0.6.4-documents", "0.6.5-both")

WARNING = re.compile(r"^(?:warning: )?(?:BK\d+ )?(?P<where>[\w/.]+:\d+): (?P<said>.*deprecated.*)$", re.MULTILINE)


def told(text: str) -> list[tuple[str, str]]:
    """Where and what the warnings of a text say, in their order."""
    return [(found["where"], found["said"]) for found in WARNING.finditer(text)]


def check(found: list[tuple[str, str]], *promised: Mapping[str, str]) -> None:
    """Each promised warning came once, at its place, with its change, and no other came."""
    expected = {where: said for part in promised for where, said in part.items()}
    assert sorted(where for where, _ in found) == sorted(expected)
    for where, said in found:
        assert expected[where] in said


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_smoke__earlier_project__passes_strictly_with_its_warnings(make: Any, beaker: Any, name: str) -> None:
    """`run smoke --strict` is green and tells each deprecated thing once, where it stands; no file changes."""
    made = make(name)
    before = {path: path.read_bytes() for path in made.folder.rglob("*.py")}
    done = beaker("run", "smoke", "--strict", cwd=made.folder)
    assert done.code == 0, done.out + done.err
    assert "Readiness: INTEGRATED" in done.out
    check(told(done.err), made.of_config, made.warnings)
    assert before == {path: path.read_bytes() for path in made.folder.rglob("*.py")}


def run_twenty(made: Any, drive: Callable[..., Any], python: str) -> None:
    """Smoke is green and a local run makes twenty rollouts; whatever is promised is told once, and nothing else."""
    smoke, upload, trigger = drive(
        python,
        ("run", "smoke", "--strict"),
        ("--local", "dataset", "upload", "dataset", "--name", "words"),
        ("--local", "run", "trigger", "--dataset", "words", "--watch", "--json"),
        cwd=made.folder,
    )
    assert (smoke.code, upload.code, trigger.code) == (0, 0, 0), (smoke, upload.err, trigger.err)
    check(told(smoke.err), made.of_config, made.warnings)
    run = json.loads(trigger.out.splitlines()[-1])
    assert run["status"] == "COMPLETED", run
    assert (run["progress"]["rollouts"]["done"], run["progress"]["rollouts"]["failed"]) == (20, 0)
    assert run["result"]["test"]["difference"] > 0
    deprecated = [(one["where"], one["message"]) for one in run["warnings"] if "deprecated" in one["message"]]
    check(deprecated, made.of_config)
    log = (made.folder / ".beaker" / "local" / "runs" / run["id"] / "worker.log").read_text()
    check(told(log), made.warnings, made.of_run_case)


def parameters(*usual: str) -> list[Any]:
    """All projects; those that are not usual run where there is time."""
    return [name if name in usual else pytest.param(name, marks=pytest.mark.soak) for name in ALL]


@pytest.mark.e2e
@pytest.mark.parametrize("name", parameters("0.4-prompts", "0.4-repository", *ONE_OF_EACH[1:3]))
def test_run__project_of_any_generation__is_optimized_with_its_warnings(
    make: Any, drive: Any, interpreter: Any, name: str
) -> None:
    """On the oldest interpreter."""
    run_twenty(make(name), drive, interpreter("3.11"))


@pytest.mark.e2e
@pytest.mark.parametrize("name", parameters("0.4-resources"))
def test_run__project_on_the_newest_interpreter__is_optimized_with_its_warnings(
    make: Any, drive: Any, interpreter: Any, name: str
) -> None:
    """On the newest interpreter."""
    run_twenty(make(name), drive, interpreter("3.13"))
