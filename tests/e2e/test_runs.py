"""Whole runs: the declaration check, the budget, cancelling, and what customer code may do wrong."""

import json
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.client.api import Api

pytestmark = pytest.mark.e2e


@pytest.mark.served
def test_declaration__differs_from_the_integration__fails_before_prepare_run(laboratory: Callable[..., Any]) -> None:
    """The run ends FAILED, no hook was called, and `run status` shows both declarations."""
    lab = laboratory()
    lab.write(".beaker/beaker.yaml", (lab.project / ".beaker/beaker.yaml").read_text().replace("book", "library"))
    run = lab.run(lab.launch())
    assert (run["status"], run["finish_reason"]) == ("FAILED", "error")
    assert run["targets"] == {"kind": "documents", "groups": ["library"]}
    assert run["targets_imported"] == {"kind": "documents", "groups": ["book"]}
    assert "library" in run["error_message"]
    assert "book" in run["error_message"]
    assert lab.notes("prepare") == lab.notes("run") == lab.notes("propose") == []


def test_declaration__absent__is_recorded_from_the_integration(laboratory: Callable[..., Any]) -> None:
    """An entry without targets runs under those of the Integration, and they are shown."""
    lab = laboratory(train=4, test=2)
    config = (lab.project / ".beaker/beaker.yaml").read_text()
    lab.write(".beaker/beaker.yaml", "\n".join(line for line in config.splitlines() if "targets" not in line))
    run = lab.run(lab.launch(max_proposals=1))
    assert run["status"] == "COMPLETED"
    assert run["targets"] == {"kind": "documents", "groups": ["book"]}
    assert "targets_imported" not in run


@pytest.mark.kill
def test_budget__parallel_and_resumed__is_never_exceeded(laboratory: Callable[..., Any]) -> None:
    """Distinct evaluations stay within `max_rollouts`, and the run says that the budget ended it."""
    lab = laboratory()
    lab.shut("atrain16")
    run_id = lab.launch(wait=False, max_rollouts=60, max_proposals=50, max_concurrency=4)
    lab.reach("atrain16")
    lab.kill()
    lab.free("atrain16")
    lab.resume()
    run = lab.run(run_id)
    assert (run["status"], run["finish_reason"]) == ("COMPLETED", "budget")
    (stored,) = lab.sql("SELECT count(*) FROM evaluations")
    distinct = {(word, rules) for _, word, rules, *_ in lab.notes("run")}
    assert len(distinct) == stored[0] == run["progress"]["rollouts"]["issued"] <= 60
    assert lab.rerun() <= 4


def test_budget__below_the_minimum__fails_before_any_rollout(laboratory: Callable[..., Any]) -> None:
    """The message names the smallest budget that would do."""
    lab = laboratory()
    run = lab.run(lab.launch(max_rollouts=20))
    assert (run["status"], run["finish_reason"]) == ("FAILED", "error")
    assert "needs 42" in run["error_message"]
    assert lab.notes("run") == []
    assert lab.notes("teardown") == [["teardown"]]


@pytest.mark.parametrize("moment", ["setup", "rollouts", "proposal", "TEST"])
def test_cancel__at_a_moment__leaves_nothing_alive_after_two_seconds(
    laboratory: Callable[..., Any], moment: str
) -> None:
    """Rollouts, scorers, proposers and what they started are gone; what was stored stays readable."""
    lab = laboratory(plan={"cases": {"ctrain2": "stray", "dtrain3": "hide", "dtest3": "hide"}})
    gate = {"setup": "setup", "rollouts": "etrain4", "proposal": "proposer", "TEST": "etest4"}[moment]
    lab.shut(gate)
    run_id = lab.launch(wait=False)
    lab.reach(gate)
    began = time.monotonic()
    answer = lab.open().call("cancel_optimization_run", run_id=run_id).unwrap()
    assert answer["status"] == "CANCELLED"
    while lab.alive() and time.monotonic() - began < 2.0:
        time.sleep(0.02)
    assert lab.alive() == lab.hiding() == []
    assert lab.wait() == 0
    run = lab.run(run_id)
    assert (run["status"], run["finish_reason"]) == ("CANCELLED", "cancelled")
    done = run["progress"]["rollouts"]["done"]
    assert done == lab.sql("SELECT count(*) FROM evaluations")[0][0]
    assert (done == 0) == (moment == "setup")
    assert bool(lab.candidates(run_id)["candidates"]) == (moment != "setup")
    assert bool([words for words in lab.notes("run") if "test" in words[1]]) == (moment == "TEST")
    lab.open()
    assert lab.transport.resume_unlocked_runs() == ()


def test_cancel__during_a_long_teardown__only_the_setup_process_lives_on(laboratory: Callable[..., Any]) -> None:
    """The setup leaves `prepare_run` in its own time, and everything else is gone."""
    lab = laboratory(plan={"teardown_seconds": 4})
    lab.shut("etrain4")
    run_id = lab.launch(wait=False)
    lab.reach("etrain4")
    lab.open().call("cancel_optimization_run", run_id=run_id).unwrap()
    time.sleep(2.0)
    assert [line for line in lab.alive() if "beaker.runtime.child setup" not in line] == []
    assert lab.wait() == 0
    assert lab.notes("teardown") == [["teardown"]]


@pytest.mark.embedded
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal__without_cancelling__leaves_the_run_to_be_resumed(laboratory: Callable[..., Any], number: int) -> None:
    """A stopped worker ends what it started, says so, and the next command takes the run up where it was."""
    lab = laboratory(train=5, test=2)
    lab.shut("etrain4")
    run_id = lab.launch(wait=False, max_proposals=1)
    lab.reach("etrain4")
    lab.workers[-1].send_signal(number)
    assert lab.wait() == 128 + number
    assert lab.alive() == []
    assert lab.notes("teardown") == [["teardown"]]
    assert lab.run(run_id)["status"] == "RUNNING"
    lab.free("etrain4")
    lab.resume()
    run = lab.run(run_id)
    assert (run["status"], run["attempts"]) == ("COMPLETED", 2)
    assert lab.rerun() <= run["progress"]["rollouts"]["lost"] <= 4


@pytest.mark.embedded
@pytest.mark.parametrize("moment", ["setup", "rollouts", "proposal", "replaced"])
def test_state_deleted__during_a_run__ends_it_once_and_leaves_nothing(
    laboratory: Callable[..., Any], moment: str
) -> None:
    """The worker notices, ends what it started, and removes its folder; nobody starts another or makes a new place."""
    lab = laboratory(plan={"cases": {"ctrain2": "stray"}})
    gate = {"setup": "setup", "proposal": "proposer"}.get(moment, "etrain4")
    lab.shut(gate)
    run_id = lab.launch(wait=False)
    lab.reach(gate)
    transport, state = lab.transport, lab.transport.place.state_dir
    work = Path(transport.place.work_note(run_id).read_text().strip())
    log = transport.place.log_path(run_id).open()
    assert work.is_dir()
    shutil.rmtree(state)
    if moment == "replaced":
        lab.open()
    answer = Api(transport, "local").once("get_optimization_run", run_id=run_id).failure()
    assert (answer.code, answer.status) == ("BK743", 410)
    assert transport.resume_unlocked_runs() == ()
    assert lab.wait(seconds=20) == 4
    with log:
        assert log.read().count("the run state was deleted") == 1
    assert (lab.alive(), work.exists(), state.exists()) == ([], False, moment == "replaced")
    assert len(lab.notes("teardown")) == (moment != "setup")


def test_three_attempts__without_a_result__fail_the_run(laboratory: Callable[..., Any]) -> None:
    """Killed three times in setup, the run is not begun a fourth time."""
    lab = laboratory()
    lab.shut("setup")
    run_id = lab.launch(wait=False)
    for attempt in range(3):
        lab.reach("setup")
        lab.kill()
        (lab.lab / "waiting-setup").unlink()
        lab.resume(wait=attempt == 2)
    run = lab.run(run_id)
    assert (run["status"], run["finish_reason"]) == ("FAILED", "error")
    assert run["error_message"] == "3 attempts in a row ended without a new result"
    assert len(lab.notes("prepare")) == 3


def test_three_attempts__killed_by_a_case__name_those_that_ran(laboratory: Callable[..., Any]) -> None:
    """Whoever ended the worker, it was in company: the message says what to look at."""
    lab = laboratory(train=4, test=2)
    words = [f"{letter}train{number}" for number, letter in enumerate("abcd")]
    for word in words:
        lab.shut(word)
    run_id = lab.launch(wait=False, max_concurrency=2)
    for attempt in range(3):
        lab.until(lambda: len(list(lab.lab.glob("waiting-*"))) == 2, "two cases wait")
        waiting = sorted(path.name.removeprefix("waiting-") for path in lab.lab.glob("waiting-*"))
        lab.kill()
        for path in lab.lab.glob("waiting-*"):
            path.unlink()
        lab.resume(wait=attempt == 2)
    message = lab.run(run_id)["error_message"]
    said = "3 attempts in a row ended without a new result; it ended while these cases ran: "
    assert message.startswith(said)
    assert sorted(message.removeprefix(said).split(", ")) == [f"train-{words.index(word)}" for word in waiting]


@pytest.mark.embedded
def test_machine__that_refuses__leaves_the_run_open_and_says_why_in_the_end(laboratory: Callable[..., Any]) -> None:
    """A disk that cannot be written is no fault of the run; after three attempts it ends with the reason."""
    lab = laboratory(train=4, test=2)
    lab.shut("setup")
    run_id = lab.launch(wait=False)
    lab.reach("setup")
    (lab.project / ".beaker/local/runs" / run_id / "in_flight.jsonl").mkdir()
    lab.free("setup")
    assert lab.wait() == 2
    for _ in range(2):
        assert lab.run(run_id)["status"] == "RUNNING"
        lab.resume()
        assert lab.wait() == 2
    lab.resume()
    assert lab.wait() == 0
    run = lab.run(run_id)
    assert run["status"] == "FAILED"
    assert "3 attempts in a row ended without a new result; the last one: IsADirectoryError" in run["error_message"]


@pytest.mark.soak
@pytest.mark.embedded
def test_worker__beside_another__leaves_the_run_alone(laboratory: Callable[..., Any]) -> None:
    """One worker has a run; a second one, and one that comes after the end, say nothing and end with 0."""
    lab = laboratory(train=4, test=2)
    lab.shut("setup")
    run_id = lab.launch(wait=False, max_proposals=1)
    lab.reach("setup")
    first = lab.workers[-1]
    for _ in range(2):
        lab.open()
        lab.transport.workers.start(run_id, {})
        second = lab.transport.workers.process(run_id)
        assert second is not None
        assert second.wait(30) == 0
        if first.poll() is None:
            lab.free("setup")
            assert first.wait(60) == 0
    run = lab.run(run_id)
    assert (run["status"], run["attempts"]) == ("COMPLETED", 1)
    assert lab.notes("prepare") == [["prepare"]]


def test_resume__with_other_seeds__fails_showing_both(laboratory: Callable[..., Any]) -> None:
    """A setup that gives something else the second time ends the run before anything is mixed up."""
    lab = laboratory()
    lab.shut("etrain4")
    run_id = lab.launch(wait=False)
    lab.reach("etrain4")
    lab.kill()
    lab.free("etrain4")
    (lab.lab / "plan.json").write_text(json.dumps({"seeds": {"rules.txt": "b=early\n"}}))
    lab.resume()
    run = lab.run(run_id)
    assert run["status"] == "FAILED"
    assert "seed documents are not those" in run["error_message"]
    before, after = run["error_message"].partition(": ")[2].split(" then, ")
    assert len(json.loads(before.replace("'", '"'))[0]) == 64
    assert not after.startswith(before)


def test_cases__that_fail_in_every_way__are_counted_and_shown(laboratory: Callable[..., Any]) -> None:
    """A crash, a hang, an exception and a case that asks for retries are errors of their kind; retries are counted."""
    cases = {"atrain0": "crash", "btrain1": "hang", "ctrain2": "raise", "dtrain3": "retry"}
    lab = laboratory(train=6, test=2, plan={"cases": cases})
    run_id = lab.launch(max_proposals=1, timeouts={"run_case": 1.0}, case_retry_limit=1)
    run = lab.run(run_id)
    assert run["status"] == "COMPLETED"
    reports = lab.open().call("list_eval_reports", run_id=run_id).unwrap()["eval_reports"]
    found = {case["id"]: case for case in reports[0]["cases"]}
    kinds = {case_id: case["error"] and case["error"]["kind"] for case_id, case in found.items()}
    assert kinds == {
        "train-0": "crashed",
        "train-1": "timed_out",
        "train-2": "raised",
        "train-3": "retryable",
        "train-4": None,
        "train-5": None,
    }
    assert found["train-2"]["error"]["message"] == "ValueError: no word: ctrain2"
    assert 'File "words.py", line' in found["train-2"]["error"]["traceback"]
    assert found["train-3"]["attempts"] == 2
    rollouts = run["progress"]["rollouts"]
    # The candidates are the baseline and, where the proposer learned something, its child: both try dtrain3 twice.
    assert rollouts["retried"] == len({rules for _, word, rules, *_ in lab.notes("run") if word == "dtrain3"})
    assert rollouts["failed"] == lab.sql("SELECT count(*) FROM evaluations WHERE failed")[0][0] >= 4
    assert reports[0]["failed"] == 4


def test_cases__that_share_a_process__are_not_blamed_for_each_other(laboratory: Callable[..., Any]) -> None:
    """The case that ends the process, or blocks it, is the one that fails; its neighbours are scored."""
    lab = laboratory(train=8, test=2, plan={"cases": {"btrain1": "crash", "ctrain2": "hang"}})
    run_id = lab.launch(max_proposals=1, cases_per_process=4, max_concurrency=4, timeouts={"run_case": 2.0})
    reports = lab.open().call("list_eval_reports", run_id=run_id).unwrap()["eval_reports"]
    kinds = {case["id"]: case["error"]["kind"] for case in reports[0]["cases"] if case["error"]}
    assert kinds == {"train-1": "crashed", "train-2": "timed_out"}
    assert reports[0]["cases_total"] == 8


def test_cases__after_one_that_ruins_its_process__do_not_pay_for_it(laboratory: Callable[..., Any]) -> None:
    """A process that ends a moment after its case, or its scoring, was done: one place finds what four do."""
    plan = {
        "cases": {"btrain1": "haunt", "ctest2": "haunt"},
        "scores": {"etrain4": "haunt", "atest0": "haunt"},
        "second": 0.1,
        "score_second": 0.1,
    }
    findings = []
    for places in (1, 4):
        lab = laboratory(f"with-{places}", train=7, test=4, plan=plan)
        run_id = lab.launch(max_proposals=1, max_concurrency=places)
        rollouts = lab.run(run_id)["progress"]["rollouts"]
        assert (rollouts["failed"], rollouts["retried"], rollouts["lost"]) == (0, 0, 0)
        findings.append(lab.findings(run_id))
    assert findings[0]["status"] == ["COMPLETED", "proposals", None]
    assert findings[0] == findings[1]


def test_baseline__that_runs_on_no_case__fails_with_the_last_error_and_test_unspent(
    laboratory: Callable[..., Any],
) -> None:
    """Nothing could be learned, so nothing is proposed and TEST stays unseen."""
    words = [f"{letter}train{number}" for number, letter in enumerate("abcd")]
    lab = laboratory(train=4, test=2, plan={"cases": dict.fromkeys(words, "raise")})
    run = lab.run(lab.launch())
    assert (run["status"], run["finish_reason"]) == ("FAILED", "error")
    assert "the baseline runs on no TRAIN case" in run["error_message"]
    assert "ValueError: no word" in run["error_message"]
    assert lab.notes("propose") == []
    assert [words for words in lab.notes("run") if "test" in words[1]] == []


def test_test_split__that_cannot_be_scored__ends_heldout_failed(laboratory: Callable[..., Any]) -> None:
    """TRAIN went well and no TEST case ran: the status says so."""
    lab = laboratory(train=4, test=2, plan={"cases": {"atest0": "raise", "btest1": "raise"}})
    run = lab.run(lab.launch(max_proposals=1))
    assert run["status"] == "HELDOUT_FAILED"
    assert "ValueError: no word: btest1" in run["error_message"]
    assert run["result"]["test"]["failed_winner"] == 2


def test_test_baseline__off__tests_the_winner_alone(laboratory: Callable[..., Any]) -> None:
    """Difference and interval are null, and half of TEST is spent."""
    lab = laboratory(train=4, test=2)
    run = lab.run(lab.launch(max_proposals=1, test_baseline=False))
    test = run["result"]["test"]
    assert run["result"]["winner_id"].endswith(".1")
    assert (test["baseline"], test["difference"], test["low"], test["high"]) == (None, None, None, None)
    assert test["winner"] is not None
    assert len([words for words in lab.notes("run") if "test" in words[1]]) == 2


def test_setup__that_fails_twice__names_the_cause_first(laboratory: Callable[..., Any]) -> None:
    """What `load_cases` raised is the failure, what the teardown raised comes after it; the log has the tracebacks."""
    lab = laboratory(train=4, test=2)
    code = (lab.project / "words.py").read_text()
    code = code.replace("        yield Case(", "        raise ValueError('no such store')\n        yield Case(")
    lab.write("words.py", code.replace('note("teardown")', "raise RuntimeError('still open')"))
    run_id = lab.launch()
    run = lab.run(run_id)
    assert (run["status"], run["finish_reason"]) == ("FAILED", "error")
    first, second = run["error_message"].splitlines()
    assert "ValueError: no such store" in first
    assert "RuntimeError: still open" in second
    log = (lab.project / ".beaker/local/runs" / run_id / "worker.log").read_text()
    assert log.index("no such store") < log.index("still open")
    assert "Traceback" in log
    assert lab.notes("run") == []


def test_teardown__that_fails_after_a_good_run__is_told_beside_the_result(laboratory: Callable[..., Any]) -> None:
    """The result stands."""
    lab = laboratory(train=4, test=2)
    code = (lab.project / "words.py").read_text()
    lab.write("words.py", code.replace('note("teardown")', "raise RuntimeError('still open')"))
    run = lab.run(lab.launch(max_proposals=1))
    assert run["status"] == "COMPLETED"
    assert run["result"]["test"]["winner"] is not None
    assert "RuntimeError: still open" in run["error_message"]


def test_scorer_code__changed_by_a_rollout__fails_the_run(laboratory: Callable[..., Any]) -> None:
    """A rollout that finds and edits the code that scores ends the run before its scores are believed."""
    lab = laboratory(train=4, test=2)
    code = (lab.project / "words.py").read_text()
    attack = "    for path in Path(__file__).parents[2].glob('checkouts/scorer/words.py'): path.write_text('x = 1')\n"
    lab.write("words.py", code.replace("    behaviour = ", f"{attack}    behaviour = "))
    run = lab.run(lab.launch())
    assert run["status"] == "FAILED"
    assert "words.py was changed" in run["error_message"]


@pytest.mark.served
def test_secrets__in_output_and_errors__are_never_stored(laboratory: Callable[..., Any]) -> None:
    """A granted value that customer code prints or raises shows up nowhere in the place."""
    secret = "sesame-open-8841"
    lab = laboratory(train=4, test=2)
    config = (lab.project / ".beaker/beaker.yaml").read_text()
    lab.write(".beaker/beaker.yaml", config.replace("[LAB]", "[LAB, TOKEN]"))
    code = (lab.project / "words.py").read_text()
    leak = (
        "    print(os.environ['TOKEN'], flush=True)\n    if '0' in case_input: raise ValueError(os.environ['TOKEN'])\n"
    )
    lab.write("words.py", code.replace("    behaviour = ", f"{leak}    behaviour = "))
    proposer = (lab.project / "propose.py").read_text()
    lab.write("propose.py", f"{proposer}print(os.environ['TOKEN'])\nraise SystemExit(os.environ['TOKEN'])\n")
    lab.environ["TOKEN"] = secret
    run_id = lab.launch(max_proposals=1, proposer_env=["LAB", "TOKEN"])
    assert lab.run(run_id)["status"] == "COMPLETED"
    assert lab.candidates(run_id)["proposals"][0]["message"].endswith("[redacted]")
    kept = [path.read_bytes() for path in (lab.project / ".beaker" / "local").rglob("*") if path.is_file()]
    assert kept
    assert not any(secret.encode() in data for data in kept)


def test_secrets__in_outputs_and_scores__reach_neither_the_store_nor_a_proposer(laboratory: Callable[..., Any]) -> None:
    """What is scored is the output as it is; what is stored, and shown to a proposer without the grant, is not."""
    secret = "sesame-open-8841"
    lab = laboratory(train=4, test=2)
    config = (lab.project / ".beaker/beaker.yaml").read_text()
    lab.write(".beaker/beaker.yaml", config.replace("[LAB]", "[LAB, TOKEN]"))
    code = (lab.project / "words.py").read_text()
    code = code.replace(
        'return CaseResult(known.get(case_input[0], "unknown"))',
        "return CaseResult({'key': os.environ['TOKEN'], 'place': str(runtime.targets_dir)})",
    )
    lab.write("words.py", code.replace("    right = ", "    note(f'scored {result.output[\"key\"]}')\n    right = "))
    copied = "import shutil\nshutil.copytree(evidence, lab / f'seen-{time.monotonic_ns()}')\n"
    lab.write("propose.py", (lab.project / "propose.py").read_text() + copied)
    lab.environ["TOKEN"] = secret
    run_id = lab.launch(max_proposals=2)
    assert lab.run(run_id)["status"] == "COMPLETED"
    assert {words[1] for words in lab.notes("scored")} == {secret}
    evidence = [path.read_text() for path in lab.lab.glob("seen-*/**/*.json")]
    assert len(evidence) > 2
    assert not any(secret in text for text in evidence)
    outputs = [json.loads(text)["output"] for text in evidence if '"minibatch": true' in text]
    assert outputs[0] == {"key": "[redacted]", "place": "{rollout}/targets"}
    assert all(output == outputs[0] for output in outputs)
    kept = [path.read_bytes() for path in (lab.project / ".beaker" / "local").rglob("*") if path.is_file()]
    assert not any(secret.encode() in data for data in kept)
