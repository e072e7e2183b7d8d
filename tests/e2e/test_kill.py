"""Kill -9 of the run worker at any moment: a later command finishes the run as if nothing had happened."""

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.kill]

# Evaluating this SQL keeps a statement busy for minutes: the worker can be killed inside it.
ENDLESS = (
    "SELECT count(*) FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 9000000000) "
    "SELECT x FROM c)"
)


GATES = {"setup": "setup", "rollouts": "etrain4", "proposal": "proposer", "TEST": "ctest2"}
"""Moments at which customer code waits."""

STALLS = {
    "stored evaluation": ("INSERT ON log", 'NEW.entry LIKE \'%"type":"evaluated"%\'', "evaluations", 8),
    "stored proposal": ("INSERT ON log", 'NEW.entry LIKE \'%"type":"proposed"%\'', "proposals", 1),
    "ended search": ("UPDATE ON runs", "NEW.status = 'COMPLETED'", 'log WHERE entry LIKE \'%"type":"finish"%\'', 1),
}
"""Moments at which the worker writes: before what, and the rows that show that it has come that far."""


def _hold(lab: Any, moment: str) -> Callable[[], None]:
    """Make the worker stop at a moment; what waits until it has."""
    if moment in GATES:
        lab.shut(GATES[moment])
        return lambda: lab.reach(GATES[moment])
    event, condition, table, rows = STALLS[moment]
    lab.open()
    lab.sql(f"CREATE TRIGGER stall BEFORE {event} WHEN {condition} BEGIN {ENDLESS}; END")
    return lambda: lab.until(lambda: lab.sql(f"SELECT count(*) FROM {table}")[0][0] >= rows, moment)


def _release(lab: Any, moment: str) -> None:
    if moment in GATES:
        lab.free(GATES[moment])
    else:
        lab.sql("DROP TRIGGER stall")


KILLS = [
    pytest.param("setup", 1, marks=pytest.mark.soak),
    ("rollouts", 4),
    ("proposal", 4),
    ("stored evaluation", 4),
    pytest.param("stored proposal", 1, marks=pytest.mark.soak),
    ("TEST", 1),
    pytest.param("ended search", 1, marks=pytest.mark.soak),
]
"""Each moment, with one or four places at a time; `soak` has the others."""


@pytest.mark.parametrize(("moment", "places"), KILLS)
def test_kill__at_a_moment__run_completes_as_undisturbed(
    laboratory: Callable[..., Any], undisturbed: Any, moment: str, places: int
) -> None:
    """Same log, winner, reports; what was in flight is run again, and nothing else."""
    lab = laboratory()
    reach = _hold(lab, moment)
    run_id = lab.launch(wait=False, max_concurrency=places)
    reach()
    lab.kill()
    _release(lab, moment)
    before = lab.sql("SELECT count(*) FROM evaluations")[0][0]
    lab.resume()
    assert lab.findings(run_id) == undisturbed
    run = lab.run(run_id)
    rollouts = run["progress"]["rollouts"]
    assert lab.rerun() <= rollouts["lost"] <= places
    assert rollouts["done"] == rollouts["issued"] >= before
    assert run["attempts"] == 2
    # A search that had ended needs no setup to say so.
    assert len(lab.notes("prepare")) == (1 if moment == "ended search" else 2)
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


@pytest.mark.parametrize("moment", ["rollouts", pytest.param("proposal", marks=pytest.mark.soak)])
def test_kill__descendants_that_hide__end_with_their_worker(laboratory: Callable[..., Any], moment: str) -> None:
    """What left its session and cleared its environment is gone as well, and the run ends as if it had never been."""
    words = [f"{letter}train{number}" for number, letter in enumerate("ab")]
    lab = laboratory(train=5, test=2, plan={"cases": dict.fromkeys(words, "hide")})
    if moment == "proposal":
        hide = (
            "import subprocess\nhidden = subprocess.Popen(['setsid', 'sleep', '987'], env={}, start_new_session=True)\n"
            "with open(Path(os.environ['LAB'], 'notes.txt'), 'a') as file: file.write(f'hidden {hidden.pid}\\n')\n"
        )
        code = (lab.project / "propose.py").read_text()
        lab.write("propose.py", code.replace("workspace, evidence =", f"{hide}workspace, evidence ="))
    else:
        lab.shut("hidden")  # a case that has ended takes with it what it left behind
    reach = _hold(lab, moment)
    run_id = lab.launch(wait=False, max_concurrency=4, max_proposals=1)
    reach()
    lab.until(lambda: bool(lab.hiding()), "somebody hides")
    lab.kill()
    assert lab.hiding() == []
    _release(lab, moment)
    if moment == "rollouts":
        lab.free("hidden")
    lab.resume()
    assert lab.run(run_id)["status"] == "COMPLETED"
    assert lab.alive() == lab.hiding() == []


@pytest.mark.soak
def test_kill__after_the_end__leaves_a_folder_that_the_next_worker_removes(laboratory: Callable[..., Any]) -> None:
    """Nobody resumes a run that has ended, so the worker of any other run clears up behind it."""
    lab = laboratory(train=4, test=2)
    lab.open()
    # Removing the folder is what the worker does last; here it does not come to that.
    code = (lab.project / "words.py").read_text()
    worker = "int(Path(f'/proc/{os.getppid()}/stat').read_text().rpartition(') ')[2].split()[1])"  # behind the guardian
    lab.write("words.py", code.replace('            note("teardown")', f"            os.kill({worker}, 9)"))
    lab.sql(
        "CREATE TRIGGER early AFTER INSERT ON log WHEN NEW.entry LIKE '%finish%' BEGIN UPDATE runs SET status = "
        "'COMPLETED', completed_at = 'now'; END"
    )
    run_id = lab.launch(max_proposals=1)
    note = lab.project / ".beaker/local/runs" / run_id / "work_folder"
    left = Path(note.read_text().strip())
    assert left.is_dir()
    lab.sql("DROP TRIGGER early")
    lab.write("words.py", code)
    lab.launch(max_proposals=1)
    assert not left.exists()
    assert not note.exists()


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
        if lab.run(run_id)["status"] == "COMPLETED":
            break
        lab.resume(wait=kill == kills - 1)
    lab.wait()
    assert lab.findings(run_id) == undisturbed
    assert lab.rerun() <= kills * places
