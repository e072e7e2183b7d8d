"""Kill -9 of the run worker at any moment: a later command finishes the run as if nothing had happened."""

import random
import time
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.kill]

# Evaluating this SQL keeps a statement busy for minutes: the worker can be killed inside it.
ENDLESS = (
    "SELECT count(*) FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 9000000000) "
    "SELECT x FROM c)"
)


def _shut_gate(lab: Any, moment: str) -> Any:
    """Make the worker stop at a moment; a function that waits until it has."""
    if moment in ("stored evaluation", "stored proposal"):
        kind = "evaluated" if moment == "stored evaluation" else "proposed"
        table = "evaluations" if moment == "stored evaluation" else "proposals"
        lab.open()
        lab.sql(
            f"""CREATE TRIGGER stall BEFORE INSERT ON log WHEN NEW.entry LIKE '%"type":"{kind}"%'
            BEGIN {ENDLESS}; END"""
        )

        def reach() -> None:
            wanted = 8 if kind == "evaluated" else 1
            lab.until(lambda: lab.sql(f"SELECT count(*) FROM {table}")[0][0] >= wanted, moment)

        return reach
    gate = {"setup": "setup", "rollouts": "etrain4", "proposal": "proposer", "TEST": "ctest2"}[moment]
    lab.shut(gate)
    return lambda: lab.reach(gate)


@pytest.mark.parametrize("places", [1, 4])
@pytest.mark.parametrize("moment", ["setup", "rollouts", "proposal", "stored evaluation", "stored proposal", "TEST"])
def test_kill__at_a_moment__run_completes_as_undisturbed(
    laboratory: Callable[..., Any], undisturbed: Any, moment: str, places: int
) -> None:
    """Same log, winner, reports; what was in flight is run again, and nothing else."""
    lab = laboratory()
    reach = _shut_gate(lab, moment)
    run_id = lab.launch(wait=False, max_concurrency=places)
    reach()
    lab.kill()
    if moment.startswith("stored"):
        lab.sql("DROP TRIGGER stall")
    else:
        lab.free({"setup": "setup", "rollouts": "etrain4", "proposal": "proposer", "TEST": "ctest2"}[moment])
    before = lab.sql("SELECT count(*) FROM evaluations")[0][0]
    lab.resume()
    assert lab.findings(run_id) == undisturbed
    assert lab.rerun() <= places
    run = lab.run(run_id)
    assert run["attempts"] == 2
    assert run["progress"]["rollouts"]["lost"] <= places
    assert run["progress"]["rollouts"]["lost"] >= lab.rerun()
    assert run["progress"]["rollouts"]["done"] == run["progress"]["rollouts"]["issued"] >= before
    assert lab.alive() == []


def test_parallel__arrival_order__does_not_matter(laboratory: Callable[..., Any], undisturbed: Any) -> None:
    """Four at a time, the first ones slowest: at least three run at once, and the findings are those of one."""
    seconds = {
        f"{letter}{split}{number}": 0.3 - 0.01 * number
        for split in ("train", "test")
        for number in range(24)
        for letter in ["abcdefghijklmnop"[number % 16]]
    }
    lab = laboratory(plan={"seconds": seconds})
    run_id = lab.launch(max_concurrency=4)
    assert lab.findings(run_id) == undisturbed
    assert _most_at_once(lab) >= 3
    assert lab.rerun() == 0


def _most_at_once(lab: Any) -> int:
    begun = [(int(words[-1]), 1) for words in lab.notes("run")]
    ended = [(int(words[-1]), -1) for words in lab.notes("ran")]
    most = running = 0
    for _, change in sorted(begun + ended):
        running += change
        most = max(most, running)
    return most


@pytest.mark.soak
@pytest.mark.parametrize("number", range(50))
def test_kill__at_a_random_moment__run_completes_as_undisturbed(
    laboratory: Callable[..., Any], undisturbed: Any, number: int
) -> None:
    """Fifty random moments, with one and four places, some runs killed twice."""
    chance = random.Random(number)
    places = 1 if number % 2 else 4
    lab = laboratory()
    run_id = lab.launch(wait=False, max_concurrency=places)
    kills = chance.choice([1, 2])
    for kill in range(kills):
        time.sleep(chance.uniform(0, 6))
        if lab.workers[-1].poll() is not None:
            break
        lab.kill()
        lab.resume(wait=kill == kills - 1)
    lab.wait()
    assert lab.findings(run_id) == undisturbed
    assert lab.rerun() <= kills * places
