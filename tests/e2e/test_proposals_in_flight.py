"""Several proposals at a time: part of the result, while workers and kills are not."""

from collections.abc import Callable
from typing import Any

import pytest
from returns.pipeline import is_successful

from beaker.runtime.sandbox import find_sandbox

pytestmark = pytest.mark.e2e

SETTINGS = {"max_proposals_in_flight": 3, "max_proposals": 4}


@pytest.fixture
def undisturbed_of_three(laboratory: Callable[..., Any]) -> Any:
    """The findings of a run with three proposals in flight that nothing disturbs, one case at a time."""
    lab = laboratory("undisturbed", test=2)
    return lab.findings(lab.launch(max_concurrency=1, **SETTINGS))


@pytest.mark.kill
def test_proposals_in_flight__with_four_places_and_a_kill__run_completes_as_undisturbed(
    laboratory: Callable[..., Any], undisturbed_of_three: Any
) -> None:
    """Three proposers work side by side; the run killed then gives the same log, candidates and result."""
    lab = laboratory(test=2)
    lab.shut("proposer")
    run_id = lab.launch(wait=False, max_concurrency=4, **SETTINGS)
    lab.until(lambda: len(lab.notes("propose")) == 3, "three proposers work")
    lab.kill()
    assert lab.alive() == []
    lab.free("proposer")
    lab.resume()
    findings = lab.findings(run_id)
    assert findings == undisturbed_of_three
    assert findings["status"][0] == "COMPLETED"
    assert len(findings["candidates"]["proposals"]) == 4
    seen = [entry["seen"] for entry in findings["log"] if entry["type"] == "propose"]
    assert seen[:3] == [0, 0, 0]


def test_proposals_in_flight__cancelled__leave_no_process(laboratory: Callable[..., Any]) -> None:
    """All proposers end with the run, and none is counted as made."""
    lab = laboratory(train=5, test=2)
    lab.shut("proposer")
    run_id = lab.launch(wait=False, **SETTINGS)
    lab.until(lambda: len(lab.notes("propose")) == 3, "three proposers work")
    lab.open().call("cancel_optimization_run", run_id=run_id).unwrap()
    lab.wait()
    assert lab.alive() == []
    run = lab.run(run_id)
    assert run["status"] == "CANCELLED"
    assert run["progress"]["proposals"]["accepted"] == 0


def test_score_repeats__of_a_noisy_judge__store_the_mean(laboratory: Callable[..., Any]) -> None:
    """Each result is run once and scored three times; objective and fields are means, a repeat costs no rollout."""
    lab = laboratory(train=4, test=2)
    code = (lab.project / "words.py").read_text()
    noisy = "    noisy = len((LAB / 'notes.txt').read_text().split(f'scored {case.input} ')) % 3 / 2\n"
    noisy += "    note(f'scored {case.input} {noisy}')\n    return CaseScore(noisy, {'kind': noisy})\n"
    lab.write("words.py", code.replace("    right = float(", f"{noisy}    right = float("))
    run_id = lab.launch(max_proposals=1, score_repeats=3)
    run = lab.run(run_id)
    assert run["status"] == "COMPLETED"
    reports = lab.open().call("list_eval_reports", run_id=run_id).unwrap()["eval_reports"]
    cases = [case for report in reports for case in report["cases"]]
    assert {case["objective"] for case in cases} == {0.5}
    assert {case["field_scores"]["kind"] for case in cases} == {0.5}
    assert len(lab.notes("scored")) == 3 * len(lab.notes("ran"))
    assert run["progress"]["rollouts"]["issued"] == len(lab.notes("ran"))


@pytest.mark.soak
def test_isolation_process__of_an_entry__gives_every_case_its_own(laboratory: Callable[..., Any]) -> None:
    """No two cases ever meet in a process."""
    lab = laboratory(train=5, test=1)
    config = (lab.project / ".beaker/beaker.yaml").read_text()
    lab.write(".beaker/beaker.yaml", f"{config}    isolation: process\n")
    assert lab.run(lab.launch(max_proposals=1, max_concurrency=2))["status"] == "COMPLETED"
    processes = [words[-2] for words in lab.notes("ran")]
    assert len(set(processes)) == len(processes) >= 6


@pytest.mark.skipif(not is_successful(find_sandbox()), reason="this machine has no sandbox")
def test_isolation_sandbox__of_an_entry__confines_cases_and_scores(laboratory: Callable[..., Any]) -> None:
    """What cases and scorer try to note outside of their folders is not there; setup and proposers are free to."""
    lab = laboratory(train=4, test=1)
    config = (lab.project / ".beaker/beaker.yaml").read_text()
    lab.write(".beaker/beaker.yaml", f"{config}    isolation: sandbox\n")
    code = (lab.project / "words.py").read_text()
    kept = "def note(text):\n    try:\n        _note(text)\n    except OSError:\n        pass\n\n\ndef _note(text):\n"
    lab.write("words.py", code.replace("def note(text):\n", kept))
    run = lab.run(lab.launch(max_proposals=1, max_concurrency=2))
    assert (run["status"], run["progress"]["rollouts"]["failed"]) == ("COMPLETED", 0)
    assert run["progress"]["rollouts"]["done"] >= 5
    assert (len(lab.notes("prepare")), len(lab.notes("propose"))) == (1, 1)
    assert lab.notes("ran") == lab.notes("run") == []
