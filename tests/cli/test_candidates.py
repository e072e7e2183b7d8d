"""Looking at candidates, fetching them, and putting one on a branch: what is called, shown and made."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.core.changesets import change_set_to_json, derive
from beaker.core.documents import TargetDocument
from beaker.core.repository_tree import RepositoryFile
from beaker.files.patches import make_patch

pytestmark = pytest.mark.processes

Conforms = Callable[[object, str], None]

SCORES = {"objective": 0.5, "objective_scored": 0.5, "cases": 4, "scored": 4, "failed": 0}


def candidate(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"r1.{number}",
        "tree": "0" * 64,
        "parent_id": "r1.0" if number else None,
        "origin": "command" if number else "baseline",
        "proposal": number or None,
        "status": "accepted" if number else "baseline",
        "reason": "better on the minibatch",
        "rollouts": 4,
        "created_at": "2026-01-02T03:04:05Z",
        "summary": {"created": ["new.py"], "updated": ["faq/a.md"], "deleted": []} if number else
        {"created": [], "updated": [], "deleted": []},
        "scores": {"train": SCORES, "test": None},
        **changes,
    }  # fmt: skip


PROPOSAL = {"n": 1, "parent_id": "r1.0", "outcome": "no_change", "candidate_id": None, "message": ""}
CANDIDATES = {
    "candidates": [candidate(0), candidate(1), candidate(2, status="rejected", scores={"train": None, "test": None})],
    "winner_id": "r1.1",
    "proposals": [{**PROPOSAL, "outcome": "accepted"}, PROPOSAL, PROPOSAL],
}
REPORT = {
    "id": "r1.1.train",
    "candidate_id": "r1.1",
    "split": "train",
    "set": "selection",
    "objective": 0.5,
    "objective_scored": 0.5,
    "cases_total": 1,
    "scored": 1,
    "failed": 0,
    "field_scores": {"total": {"mean": 0.25, "n": 1}},
    "usage": {"input_tokens": None, "output_tokens": None, "cost_usd": None},
    "latency_ms": {"p50": 1.0, "p95": 1.0},
    "cases": [],
}
SEED = TargetDocument(source_id="1", group="faq", name="a.md", content="old line\n")
BEFORE = {"app.py": RepositoryFile("100644", b"broken\n")}
PATCH = make_patch(BEFORE, {"app.py": RepositoryFile("100755", b"fixed \r\n")}).unwrap()


def change_set(content: str) -> bytes:
    derived = derive("r1", ["faq"], [SEED], {("faq", "a.md"): content}).unwrap()
    return json.dumps(change_set_to_json(derived)).encode()


@pytest.fixture
def run(service: Any) -> Any:
    """A run with a winner that changes a document and a file."""
    service.on("GET /v1/optimization-runs/r1/candidates", (200, CANDIDATES))
    service.on("GET /v1/optimization-candidates/r1.1", (200, candidate(1)))
    service.on("GET /v1/optimization-candidates/r1.1/eval-reports", (200, {"eval_reports": [REPORT]}))
    service.offer("r1.0", {"changes/faq.json": change_set("old line\n"), "tree/documents/faq/a.md": b"old line\n"})
    service.offer(
        "r1.1",
        {
            "patch.diff": PATCH,
            "changes/faq.json": change_set("new line\n"),
            "tree/documents/faq/a.md": b"new line\n",
            "tree/repository/app.py": b"fixed \r\n",
        },
    )
    return service


def test_candidates__of_a_run__are_a_table_in_order_of_decision(run: Any, remote: Any) -> None:
    """Parents by number, scores where there are any, the winner named, and what became of the proposals."""
    done = remote("run", "candidates", "r1")
    rows = [line.split() for line in done.out.splitlines()]
    assert rows[0] == ["CANDIDATE", "STATUS", "PARENT", "ORIGIN", "TRAIN", "TEST", "CHANGED"]
    assert rows[1] == ["r1.0", "baseline", "-", "baseline", "0.500", "-", "-"]
    assert rows[2] == ["r1.1", "winner", "0", "command", "0.500", "-", "+new.py,", "~faq/a.md"]
    assert rows[3][:6] == ["r1.2", "rejected", "0", "command", "-", "-"]
    assert done.out.splitlines()[4] == "3 proposals: 1 accepted, 2 without a change"


def test_candidates__json__is_the_answer(run: Any, remote: Any) -> None:
    """A script gets what the place said."""
    assert json.loads(remote("run", "candidates", "r1", "--json").out) == CANDIDATES


def test_candidates__none_yet__says_so(service: Any, remote: Any) -> None:
    """Before the search begins there is nothing to list."""
    service.on("GET /v1/optimization-runs/r1/candidates", (200, {"candidates": [], "winner_id": None, "proposals": []}))
    assert remote("run", "candidates", "r1").out == "no candidates yet\n"


def test_show__candidate__tells_where_it_comes_from_and_its_scores(run: Any, remote: Any, conforms: Conforms) -> None:
    """Without --diff no file is fetched."""
    done = remote("candidate", "show", "r1.1")
    assert done.code == 0
    assert "parent     r1.0\n" in done.out
    assert "changed    +new.py, ~faq/a.md\n" in done.out
    assert done.out.endswith("TRAIN  0.500 over 1 case, 1 scored, 0 failed; total 0.250\n")
    assert not any("downloads" in request["call"] for request in run.requests)
    answer = json.loads(remote("candidate", "show", "r1.1", "--json").out)
    conforms(answer, "cli-candidate-show.json")
    assert "diff" not in answer


def test_show__winner__is_called_one(run: Any, remote: Any) -> None:
    """What the table of candidates says, this says too."""
    assert "status     accepted, the winner of its run\n" in remote("candidate", "show", "r1.1").out
    assert json.loads(remote("candidate", "show", "r1.1", "--json").out)["is_winner"] is True
    run.on("GET /v1/optimization-candidates/r1.2", (200, candidate(2)))
    run.on("GET /v1/optimization-candidates/r1.2/eval-reports", (200, {"eval_reports": []}))
    assert "status     accepted\n" in remote("candidate", "show", "r1.2").out


@pytest.mark.parametrize("named", [["r1"], ["r1.1"], ["r1", "--candidate", "1"], ["r1", "--candidate", "r1.1"]])
@pytest.mark.parametrize("command", [["show"], ["download"], ["branch", "--name", "b"]])
def test_candidate__every_command__takes_every_way_to_name_it(
    checkout: dict[str, Any], remote: Any, command: list[str], named: list[str]
) -> None:
    """RUN means the winner; RUN.N, or a number beside RUN, one of its candidates."""
    done = remote("candidate", command[0], *named, *command[1:], "--json")
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    assert answer.get("candidate_id", answer.get("candidate", {}).get("id")) == "r1.1"


def test_candidate__name_that_is_no_run__is_taken_for_an_id(service: Any, remote: Any, tmp_path: Path) -> None:
    """Another place may form ids otherwise."""
    service.offer("cand-x", {"patch.diff": PATCH})
    assert remote("candidate", "download", "cand-x").code == 0
    assert (tmp_path / "cand-x" / "patch.diff").read_bytes() == PATCH


def test_show__diff__holds_patch_and_documents_with_their_old_lines(run: Any, remote: Any, conforms: Conforms) -> None:
    """Control characters of either are made visible; under JSON they are as they are."""
    done = remote("candidate", "show", "r1.1", "--diff")
    assert "diff --git a/app.py b/app.py\nold mode 100644\nnew mode 100755\n" in done.out
    assert "-broken\n+fixed \\r\n" in done.out
    assert "update faq/a.md\n--- faq/a.md\n+++ faq/a.md\n@@ -1 +1 @@\n-old line\n+new line\n" in done.out
    answer = json.loads(remote("candidate", "show", "r1.1", "--diff", "--json").out)
    conforms(answer, "cli-candidate-show.json")
    assert "+fixed \r\n" in answer["diff"]


def test_download__candidate__lands_in_a_folder_of_its_own(
    run: Any, remote: Any, tmp_path: Path, conforms: Conforms
) -> None:
    """An earlier download is replaced as a whole."""
    (tmp_path / "out/r1.1").mkdir(parents=True)
    (tmp_path / "out/r1.1/old").write_text("old")
    done = remote("candidate", "download", "r1.1", "--output-dir", "out")
    folder = tmp_path / "out/r1.1"
    assert done.out.splitlines() == [
        f"beaker candidate download: 4 files in {folder}",
        f"  patch      {folder}/patch.diff",
        f"  changes    {folder}/changes/faq.json",
    ]
    assert done.err.splitlines() == [
        "Next:",
        f"  1. take its code: git apply {folder}/patch.diff",
        f"  2. or put it on a branch: beaker --base-url {run.url} candidate branch r1.1 --name NAME",
        f"  3. take its documents: beaker changes apply {folder}/changes/faq.json --dir DIR",
    ]
    assert (folder / "patch.diff").read_bytes() == PATCH
    assert not (folder / "old").exists()
    answer = json.loads(remote("candidate", "download", "r1.1", "--output-dir", "out", "--json").out)
    conforms(answer, "cli-candidate-download.json")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["r1.1"]


def test_download__only_some__leaves_the_rest_as_it_is(run: Any, remote: Any, tmp_path: Path) -> None:
    """What is not asked for is not fetched, and stays."""
    (tmp_path / "r1.1/changes").mkdir(parents=True)
    (tmp_path / "r1.1/changes/mine.json").write_text("kept")
    (tmp_path / "r1.1/patch.diff").write_text("old")
    answer = json.loads(remote("candidate", "download", "r1.1", "--only", "patch.diff", "--json").out)
    assert answer["files"] == ["patch.diff"]
    assert (tmp_path / "r1.1/patch.diff").read_bytes() == PATCH
    assert (tmp_path / "r1.1/changes/mine.json").read_text() == "kept"
    assert remote("candidate", "download", "r1.1", "--only", "everything").code == 2


@pytest.mark.parametrize("bad", ["../r1.1", ".", "a/b"])
def test_download__id_that_is_no_name__is_refused(run: Any, remote: Any, tmp_path: Path, bad: str) -> None:
    """An id cannot lead the files out of the folder."""
    assert remote("candidate", "download", bad, "--output-dir", "out").code == 2
    assert not (tmp_path / "out").exists()


def test_pull__only_some__fetches_these_alone(run: Any, remote: Any, tmp_path: Path) -> None:
    """An earlier pull keeps what is not named, and so do the copies beside it."""
    run.on("GET /v1/optimization-runs/r1", (200, {"id": "r1", "status": "COMPLETED"}))
    run.on("GET /v1/optimization-runs/r1/eval-reports", (200, {"eval_reports": []}))
    everything = json.loads(remote("run", "pull", "r1", "--json").out)["files"]
    assert everything[:2] == ["candidates.json", "eval_reports.json"]
    assert {"r1/patch.diff", "r1/changes/faq.json", "r1/tree/repository/app.py"} <= {*everything}
    (tmp_path / "eval_reports.json").write_text("kept")
    (tmp_path / "r1/run.json").write_text("kept")
    (tmp_path / "r1/patch.diff").write_text("old")
    named = ("--only", "patch.diff", "--only", "candidates.json")
    answer = json.loads(remote("run", "pull", "r1", *named, "--json").out)
    assert answer["files"] == ["candidates.json", "r1/candidates.json", "r1/patch.diff"]
    assert (tmp_path / "r1/patch.diff").read_bytes() == PATCH
    assert (tmp_path / "r1/run.json").read_text() == (tmp_path / "eval_reports.json").read_text() == "kept"
    before = len(run.requests)
    remote("run", "pull", "r1", "--only", "run.json")
    assert not any("downloads" in request["call"] for request in run.requests[before:])


@pytest.fixture
def checkout(run: Any, remote: Any, git: Any, tmp_path: Path) -> dict[str, Any]:
    """The project as a repository in which `app.py` has gone on since the run started; the run's answer."""
    git("init", "-q", "-b", "main", ".")
    git("config", "core.autocrlf", "false")
    (tmp_path / "app.py").write_bytes(b"broken\n")
    git("add", "app.py")
    git("commit", "-qm", "first")
    pinned = git("rev-parse", "HEAD").strip()
    (tmp_path / "app.py").write_bytes(b"later\n")
    git("commit", "-qam", "later")
    (tmp_path / "app.py").write_bytes(b"not committed\n")
    answer = {
        "id": "r1",
        "status": "COMPLETED",
        "github_source": {"commit": pinned, "integration_id": "invoices"},
        "result": {
            "winner_id": "r1.1",
            "test": {"baseline": 0.5, "winner": 0.75, "difference": 0.25, "low": 0.1, "high": 0.4, "n": 8},
        },
    }
    run.on("GET /v1/optimization-runs/r1", (200, answer))
    return answer


def test_branch__winner__is_one_commit_on_the_pinned_one(
    checkout: dict[str, Any], run: Any, remote: Any, git: Any, tmp_path: Path, conforms: Conforms
) -> None:
    """The branch holds exactly the candidate's files; checkout, index and HEAD are as they were."""
    before = [(tmp_path / ".git" / name).read_bytes() for name in ("HEAD", "index", "refs/heads/main")]
    done = remote("candidate", "branch", "r1", "--name", "beaker/better")
    assert (done.code, done.err.splitlines()[-1]) == (0, "  1. look at it: git show beaker/better")
    assert [(tmp_path / ".git" / name).read_bytes() for name in ("HEAD", "index", "refs/heads/main")] == before
    assert (tmp_path / "app.py").read_bytes() == b"not committed\n"
    assert git("rev-parse", "beaker/better^").strip() == checkout["github_source"]["commit"]
    assert git("ls-tree", "beaker/better").split()[0] == "100755"
    assert git("cat-file", "blob", "beaker/better:app.py") in ("fixed \r\n", "fixed \n")  # text mode translates
    message = git("log", "-1", "--format=%B", "beaker/better")
    options = f"--base-url {run.url}"
    assert message.splitlines() == [
        "Beaker candidate r1.1",
        "",
        "TEST 0.500 -> 0.750 (+0.250, 95 % interval +0.100 to +0.400, n 8)",
        "Doubtful: 8 pairs are too few to tell.",
        "From run r1, integration invoices.",
        "",
        "1 document change of this candidate is not in this commit; apply with",
        f"  beaker {options} candidate download r1.1",
        f"  beaker {options} changes apply r1.1/changes/faq.json --dir DIR",
        "The TEST score is of both together.",
        "",
    ]
    assert done.out.splitlines()[-3:] == [
        "  documents  1 document change of this candidate is not in this commit; apply with",
        f"    beaker {options} candidate download r1.1",
        f"    beaker {options} changes apply r1.1/changes/faq.json --dir DIR",
    ]
    answer = json.loads(remote("candidate", "branch", "r1", "--name", "again", "--candidate", "1", "--json").out)
    conforms(answer, "cli-candidate-branch.json")
    assert answer["commit"] == git("rev-parse", "again").strip()


def test_branch__candidate_that_was_not_proven__says_so(
    checkout: dict[str, Any], run: Any, remote: Any, git: Any
) -> None:
    """A commit never claims what nobody measured."""
    run.offer("r1.2", {"patch.diff": PATCH, "changes/faq.json": change_set("old line\n")})
    done = remote("candidate", "branch", "r1", "--name", "b", "--candidate", "r1.2")
    assert done.code == 0
    message = git("log", "-1", "--format=%B", "b")
    assert "Not proven on TEST.\n" in message
    assert "document" not in message + done.out  # it has none


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["--name", "main"], "BK718"),
        (["--name", "a b"], "BK718"),
        (["--name", "b", "--candidate", "0"], "BK909"),
        (["--name", "b", "--candidate", "r1.9"], "BK8"),
    ],
)
def test_branch__that_cannot_be__changes_nothing(
    checkout: dict[str, Any], remote: Any, git: Any, argv: list[str], code: str
) -> None:
    """A taken name, a name that is none, a candidate without a patch, and no candidate at all."""
    before = git("for-each-ref")
    done = remote("candidate", "branch", "r1", *argv)
    assert (done.code, done.out) == (2, "")
    assert f"error: {code}" in done.err
    assert git("for-each-ref") == before


@pytest.mark.parametrize(("commit", "code"), [("1" * 40, "BK712"), (None, "BK712")])
def test_branch__commit_that_is_not_here__is_refused(
    checkout: dict[str, Any], run: Any, remote: Any, commit: str | None, code: str
) -> None:
    """The patch belongs on the commit that the run started from, and nowhere else."""
    source = {**checkout["github_source"], "commit": commit}
    run.on("GET /v1/optimization-runs/r1", (200, {**checkout, "github_source": source}))
    done = remote("candidate", "branch", "r1", "--name", "b")
    assert done.code == 2
    assert f"error: {code} " in done.err


def test_branch__run_without_a_winner__asks_for_a_candidate(checkout: dict[str, Any], run: Any, remote: Any) -> None:
    """Nothing is chosen for a person that a run did not choose."""
    run.on("GET /v1/optimization-runs/r1/candidates", (200, {**CANDIDATES, "winner_id": None}))
    done = remote("candidate", "branch", "r1", "--name", "b")
    assert done.code == 2
    assert "error: BK908 " in done.err
    assert "run candidates r1`" in done.err
