"""The command proposer: what it is given, what it may do wrong, and what that costs."""

import json
import os
import re
import tempfile
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

HEAD = """\
import json, os, signal, subprocess, sys, time
from pathlib import Path
root = Path(os.environ["BEAKER_WORKSPACE"])
book = root / "documents" / "book"
"""

GOOD = "\n(book / 'rules.txt').write_text('a=vowel\\nb=early\\nc=early\\nd=early\\ne=vowel\\nf=early\\n')\n"

MISDEEDS = {
    "exits with 3": ("crashed", "print('half', flush=True); sys.exit('no idea')", "exit status 1: no idea"),
    "kills itself": ("crashed", "os.kill(os.getpid(), signal.SIGKILL)", "ended by SIGKILL"),
    "hangs": ("timed_out", "time.sleep(600)", "did not end within 2 seconds"),
    "hangs with children": (
        "timed_out",
        "subprocess.Popen(['setsid', 'sleep', '600']); signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
        "did not end within 2 seconds",
    ),
    "changes nothing": ("no_change", "", "changed no document"),
    "edits evidence only": ("no_change", "(root / 'evidence' / 'summary.json').write_text('{}')", ""),
    "leaves droppings": (
        "no_change",
        "(book / '__pycache__').mkdir(); (book / '__pycache__' / 'x.pyc').touch(); (root / 'agent.log').touch()",
        "",
    ),
    "writes beside its targets": ("outside_targets", "(root / 'notes.md').touch()", "notes.md"),
    "makes a group": (
        "outside_targets",
        "(root / 'documents' / 'new').mkdir(); (root / 'documents' / 'new' / 'x').touch()",
        "documents/new/x",
    ),
    "writes into documents": ("outside_targets", "(root / 'documents' / 'x.md').touch()", "documents/x.md"),
    "plants a link": ("special_file", "(book / 'link.md').symlink_to('/etc/passwd')", "documents/book/link.md"),
    "replaces a folder by a link": (
        "special_file",
        "import shutil; shutil.move(book, root / 'evidence' / 'b'); book.symlink_to(root / 'evidence' / 'b')",
        "documents/book",
    ),
    "plants a hard link": ("special_file", "os.link(book / 'rules.txt', book / 'again.txt')", "again.txt"),
    "plants a pipe": ("special_file", "os.mkfifo(book / 'pipe')", "documents/book/pipe"),
    "edits a locked document": (
        "invalid_tree",
        "(book / 'locked.txt').chmod(0o644); (book / 'locked.txt').write_text('mine')",
        "locked.txt",
    ),
    "deletes a locked document": ("invalid_tree", "(book / 'locked.txt').unlink()", "locked.txt"),
    "writes no text": ("invalid_tree", "(book / 'rules.txt').write_bytes(b'\\xff\\xfe')", "UTF-8"),
    "writes too much": ("invalid_tree", "(book / 'big.txt').write_text('x' * 1_000_001)", "1000001 bytes"),
    "renames by case": ("invalid_tree", "(book / 'rules.txt').rename(book / 'RULES.txt')", "RULES.txt"),
    "removes its documents": ("invalid_tree", "import shutil; shutil.rmtree(root / 'documents')", ""),
    "digs deep": (
        "invalid_tree",
        "os.chdir(book)\nfor _ in range(1500): os.mkdir('deep'); os.chdir('deep')\nopen('x', 'w').close()",
        "",
    ),
}
"""What the proposer does: its outcome, its code, and what the message says."""


def test_misdeeds__each__cost_one_proposal_and_are_named_by_kind(laboratory: Callable[..., Any]) -> None:
    """One run meets every misdeed, then a good proposal, which still wins."""
    lab = laboratory(train=6, test=2)
    lab.write(".gitignore", "*.log\n")
    cases = [f"MISDEEDS.append({code!r})" for _, code, _ in MISDEEDS.values()]
    # Proposals are told apart by how many there are left.
    choose = (
        "left = json.loads((root / 'evidence' / 'summary.json').read_text())['budget_left']['proposals']\n"
        "exec(MISDEEDS[len(MISDEEDS) - left] if left else GOOD)\n"
    )
    lab.write("propose.py", "\n".join([HEAD, "MISDEEDS = []", *cases, f"GOOD = {GOOD!r}", choose]))
    run_id = lab.launch(max_proposals=len(MISDEEDS) + 1, timeouts={"proposal": 2.0})
    run = lab.run(run_id)
    proposals = lab.candidates(run_id)["proposals"]
    assert (run["status"], run["finish_reason"]) == ("COMPLETED", "perfect"), (run["error_message"], proposals)
    assert run["result"]["winner_id"].endswith(".1")
    told = dict(zip([*MISDEEDS, "does well"], [one["outcome"] for one in proposals], strict=True))
    assert told == {**{name: outcome for name, (outcome, _, _) in MISDEEDS.items()}, "does well": "accepted"}
    for (name, (_, _, said)), proposal in zip(MISDEEDS.items(), proposals, strict=False):
        assert said in proposal["message"], name
        assert str(lab.root) not in proposal["message"], name
        assert tempfile.gettempdir() not in proposal["message"], name
    failed = [outcome for outcome, _, _ in MISDEEDS.values() if outcome != "no_change"]
    assert run["progress"]["proposals"]["failed"] == len(failed)
    assert lab.alive() == []


def test_messages__of_misdeeds__read_the_same_in_another_run(laboratory: Callable[..., Any]) -> None:
    """The same seed gives the same log, also where a message speaks of folders whose names are never the same."""
    code = (
        "import shutil\n"
        "left = json.loads((root / 'evidence' / 'summary.json').read_text())['budget_left']['proposals']\n"
        "if left: shutil.rmtree(root / 'documents')\n"
        "else: sys.exit(f'cannot read {book} of {__file__}')\n"
    )
    logs = []
    for name in ("first", "second"):
        lab = laboratory(name, train=6, test=2)
        lab.write("propose.py", HEAD + code)
        run_id = lab.launch(max_proposals=2)
        logs.append(json.dumps(lab.log(run_id)).replace(run_id, "RUN"))
    messages = [entry["message"] for entry in json.loads(logs[0]) if entry["type"] == "proposed"]
    assert "{workspace}/documents" in messages[0]
    assert messages[1] == "the command ended with exit status 1: cannot read {workspace}/documents/book of propose.py"
    assert logs[0] == logs[1]


def test_crashes__ten_in_a_row__end_the_run_with_the_last_one(laboratory: Callable[..., Any]) -> None:
    """A proposer that never works fails the run, with TEST unspent."""
    lab = laboratory(train=4, test=2)
    lab.write("propose.py", "raise SystemExit('broken proposer')\n")
    run = lab.run(lab.launch(max_proposals=50))
    assert (run["status"], run["finish_reason"]) == ("FAILED", "error")
    assert "broken proposer" in run["error_message"]
    assert run["progress"]["proposals"]["made"] == 10
    assert [words for words in lab.notes("run") if "test" in words[1]] == []


def test_command__that_does_not_exist__is_a_crash_that_says_so(laboratory: Callable[..., Any]) -> None:
    """The message names the program."""
    lab = laboratory(train=4, test=2)
    run_id = lab.launch(max_proposals=1, command=["no-such-agent"])
    (proposal,) = lab.candidates(run_id)["proposals"]
    assert proposal["outcome"] == "crashed"
    assert "no-such-agent" in proposal["message"]


SPY = """
import shutil
seen = Path(os.environ["LAB"]) / "seen" / str(len(list(Path(os.environ["LAB"]).glob("seen/*"))))
shutil.copytree(root, seen)
facts = {
    "environ": dict(os.environ), "cwd": os.getcwd(), "argv": sys.argv,
    "around": [name for _, _, names in os.walk("../..") for name in names],
    "modes": {name: (book / name).stat().st_mode & 0o777 for name in os.listdir(book)},
}
(seen / "facts.json").write_text(json.dumps(facts))
rules = book / "rules.txt"
rules.write_text(rules.read_text() + f"# {seen.name}\\nb=early\\n" + ("c=early\\n" if seen.name == "1" else ""))
"""


def test_working_copy__holds_what_is_documented_and_no_test_case(laboratory: Callable[..., Any]) -> None:
    """Documents with their modes, evidence of the evidence set alone, and exactly the promised environment."""
    lab = laboratory(train=40, test=8)
    lab.write("propose.py", HEAD + SPY)
    lab.environ |= {"SECRET_OF_MINE": "not for proposers", "GRANTED": "for proposers"}
    run_id = lab.launch(
        max_proposals=2, proposer_env=["LAB", "GRANTED"], command=["python", "{project}/propose.py", "-x"]
    )
    assert lab.run(run_id)["status"] == "COMPLETED"
    first, second = lab.lab / "seen" / "0", lab.lab / "seen" / "1"
    facts = json.loads((first / "facts.json").read_text())

    environ = facts["environ"]
    base = {"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "LAB", "GRANTED"}
    proxies = {name for name in environ if name.casefold().endswith("_proxy")}
    ours = {name for name in environ if name.startswith("BEAKER_")}
    # LC_CTYPE is set by Python itself where the locale is C.
    assert environ.keys() - base - proxies - ours - {"LC_CTYPE"} == set()
    assert {name: environ[name] for name in ("LAB", "GRANTED", "PATH")} == {
        "LAB": str(lab.lab), "GRANTED": "for proposers", "PATH": os.environ["PATH"],
    }  # fmt: skip
    assert json.loads(environ["BEAKER_TARGETS"]) == {"kind": "documents", "groups": ["book"]}
    assert environ["BEAKER_SOURCE_DIR"] == "."
    assert re.fullmatch(r"\d+", environ["BEAKER_PROPOSAL_SEED"])
    assert environ["BEAKER_WORKSPACE"] == facts["cwd"]
    assert environ["BEAKER_EVIDENCE"] == f"{facts['cwd']}/evidence"
    assert facts["modes"]["locked.txt"] == 0o444
    assert facts["modes"]["rules.txt"] & 0o200
    script = facts["argv"][0]
    assert script.endswith("/propose.py")
    assert facts["argv"][1] == "-x"
    assert not script.startswith(facts["cwd"])

    split = next(entry for entry in lab.log(run_id) if entry["type"] == "propose")
    summary = json.loads((first / "evidence" / "summary.json").read_text())
    assert summary["objective"] == 0.05
    assert summary["targets"] == {"kind": "documents", "groups": ["book"]}
    assert summary["read_only"] == ["book/locked.txt"]
    assert summary["budget_left"]["proposals"] == 1
    assert summary["history"] == []
    count = len(list((first / "evidence" / "cases").iterdir()))
    cases = [json.loads((first / "evidence" / "cases" / f"{n + 1}.json").read_text()) for n in range(count)]
    assert [case["id"] for case in cases] == [*split["minibatch"], *split["evidence"]]
    assert [case["minibatch"] for case in cases] == [True] * len(split["minibatch"]) + [False] * len(split["evidence"])
    assert cases[0]["output"] in ("unknown", "vowel")
    assert set(cases[0]) == {
        "id", "input", "expected", "output", "objective", "field_scores", "field_diffs", "checks", "error", "trace",
        "minibatch",
    }  # fmt: skip

    history = json.loads((second / "evidence" / "summary.json").read_text())["history"]
    assert [trial["outcome"] for trial in history] == [lab.candidates(run_id)["proposals"][0]["outcome"]]
    assert [path for path in facts["around"] if path.endswith(".jsonl")] == []
    evidence = "".join(path.read_text() for path in (lab.lab / "seen").glob("*/evidence/**/*.json"))
    assert "test-" not in evidence
    selected = set(_selection(lab, run_id))
    shown = set(re.findall(r'"id": "(train-\d+)"', evidence))
    assert shown
    assert not shown & selected


def _selection(lab: Any, run_id: str) -> list[str]:
    log = lab.log(run_id)
    baseline = log[0]["baseline_tree"]
    return [
        case_id
        for entry in log
        if entry["type"] == "evaluate" and entry["tree"] == baseline and entry["purpose"] == "selection"
        for case_id in entry["case_ids"]
    ]


def test_project_checkout__that_a_proposer_changed__is_made_anew(laboratory: Callable[..., Any]) -> None:
    """`{project}` is read-only; who writes there all the same changes nothing for the next proposal."""
    lab = laboratory(train=4, test=2)
    lab.write("learned.txt", "0")
    lab.write(
        "propose.py",
        HEAD
        + """
learned = Path(__file__).with_name("learned.txt")
(book / f"saw-{len(list(book.iterdir()))}.txt").write_text(learned.read_text())
learned.chmod(0o644)
learned.write_text("1")
(learned.parent / "extra.txt").touch()
""",
    )
    run_id = lab.launch(max_proposals=3)
    assert lab.run(run_id)["status"] == "COMPLETED"
    contents = {row[0] for row in lab.sql("SELECT content FROM documents")}
    assert "0" in contents
    assert "1" not in contents


def test_output__of_a_proposer__is_kept_up_to_64_kib(laboratory: Callable[..., Any]) -> None:
    """Both streams are stored with the proposal, bounded."""
    lab = laboratory(train=4, test=2)
    lab.write("propose.py", "import sys\nprint('begin' + 'x' * 300_000 + 'end')\nprint('careful', file=sys.stderr)\n")
    (record,) = lab.candidates(lab.launch(max_proposals=1))["proposals"]
    assert record["stdout"].startswith("begin")
    assert record["stdout"].rstrip().endswith("end")
    assert len(record["stdout"].encode()) < 65536 + 100
    assert record["stderr"] == "careful\n"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("{project}/propose.py", "cannot start {project}/propose.py: it is not executable; `chmod +x`"),
        ("{project}/tool", "cannot start {project}/tool: it is no program, and has no #! line; begin it"),
        ("/no/such/tool", "cannot start /no/such/tool: no such program was found"),
    ],
)
def test_command__that_cannot_start__is_named_as_it_was_given(
    laboratory: Callable[..., Any], command: str, said: str
) -> None:
    """The proposal's message names the program as the settings do, and says what to do."""
    lab = laboratory(train=3, test=1)
    lab.write("tool", "print(1)\n")
    (lab.project / "tool").chmod(0o755)
    run_id = lab.launch(command=[command], max_proposals=1)
    (proposal,) = lab.candidates(run_id)["proposals"]
    assert proposal["outcome"] == "crashed"
    assert proposal["message"].startswith(said)
    assert [warning["code"] for warning in lab.run(run_id)["warnings"]] == ["BK480", "BK486", "BK486"]
