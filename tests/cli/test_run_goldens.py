"""What every command about runs, candidates and datasets prints and answers, in every situation a person meets: golden.

The goldens are `vectors/golden/runs.json`. Where a change of words is meant, run these tests with BEAKER_RECORD=1,
which writes them anew, and read the difference before it is committed.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from beaker.core.changesets import change_set_to_json, derive
from beaker.core.documents import TargetDocument
from beaker.core.repository_tree import RepositoryFile
from beaker.files.patches import make_patch

pytestmark = pytest.mark.once

GOLDEN = Path(__file__).parents[1] / "vectors" / "golden" / "runs.json"
LOGIN = {"token": "bkr_cli_hosted_1", "expires_at": "2099-01-01T00:00:00Z", "saved_at": "2026-01-01T10:00:00"}

SCORES = {"objective": 0.5, "objective_scored": 0.5, "cases": 4, "scored": 4, "failed": 0}
SUMMARY = {"created": [], "updated": ["app.py", "faq/a.md"], "deleted": []}
REPORT = {
    "id": "run_41.1.train",
    "candidate_id": "run_41.1",
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


def candidate(number: int) -> dict[str, Any]:
    """A candidate of `run_41`; number 0 is the baseline."""
    return {
        "id": f"run_41.{number}",
        "tree": "0" * 64,
        "parent_id": "run_41.0" if number else None,
        "origin": "command" if number else "baseline",
        "proposal": number or None,
        "status": "accepted" if number else "baseline",
        "reason": "better on the minibatch" if number else None,
        "rollouts": 4,
        "created_at": "2026-01-02T03:04:05Z",
        "summary": SUMMARY if number else {"created": [], "updated": [], "deleted": []},
        "scores": {"train": SCORES, "test": None},
    }


CANDIDATES = {
    "candidates": [candidate(0), candidate(1)],
    "winner_id": "run_41.1",
    "proposals": [{"n": 1, "parent_id": "run_41.0", "outcome": "accepted", "candidate_id": "run_41.1", "message": ""}],
}
BEFORE = {"app.py": RepositoryFile("100644", b"broken\n")}
PATCH = make_patch(BEFORE, {"app.py": RepositoryFile("100644", b"fixed\n")}).unwrap()
SEED = TargetDocument(source_id="1", group="faq", name="a.md", content="old\n")


def _change_set(content: str) -> bytes:
    derived = derive("run_41", ["faq"], [SEED], {("faq", "a.md"): content}).unwrap()
    return json.dumps(change_set_to_json(derived)).encode()


FILES = {
    "run_41.0": {"changes/faq.json": _change_set("old\n"), "tree/documents/faq/a.md": b"old\n"},
    "run_41.1": {
        "patch.diff": PATCH,
        "changes/faq.json": _change_set("new\n"),
        "tree/documents/faq/a.md": b"new\n",
        "tree/repository/app.py": b"fixed\n",
    },
}


@attrs.frozen
class Command:
    """A command line, the route whose answer decides, and what that answers when there is nothing.

    Of a command that is another one in other words, or with another route, `few` situations are looked at.
    """

    argv: tuple[str, ...]
    route: str
    nothing: Any
    few: bool = False


AGENT = ("--agent", "inv-agent")
RUN_ROUTE = "GET /v1/optimization-runs/{run_id}"
LISTED = "GET /v1/optimization-runs/{run_id}/candidates"
OUT = ("--output-dir", "out")
COMMANDS = {
    "run": Command(("run", "--dataset", "invoices", *AGENT), "POST /v1/optimization-runs", {}, few=True),
    "run trigger": Command(
        ("run", "trigger", "--dataset", "invoices", "--ref", "main", "--idempotency-key", "nightly-7", *AGENT),
        "POST /v1/optimization-runs",
        {},
    ),
    "run trigger --dry-run": Command(
        ("run", "trigger", "--dry-run", "--dataset", "invoices", *AGENT), "GET /v1/agents/current", {}, few=True
    ),
    "run trigger, the dataset": Command(
        ("run", "trigger", "--dataset", "invoices", *AGENT), "GET /v1/datasets/resolve", {}, few=True
    ),
    "run status": Command(("run", "status", "run_41", *AGENT), RUN_ROUTE, {}),
    "run status --watch": Command(
        ("run", "status", "run_41", "--watch", "--poll-timeout", "40", *AGENT), RUN_ROUTE, {}
    ),
    "run list": Command(
        ("run", "list", *AGENT), "GET /v1/optimization-runs", {"runs": [], "total": 0, "offset": 0, "limit": 25}
    ),
    "run list --all": Command(
        ("run", "list", "--all", "--status", "COMPLETED", *AGENT), "GET /v1/optimization-runs", {"runs": []}, few=True
    ),
    "run cancel": Command(("run", "cancel", "run_41", *AGENT), "POST /v1/optimization-runs/{run_id}/cancel", {}),
    "run debug": Command(("run", "debug", "run_41", *AGENT), "GET /v1/optimization-runs/{run_id}/debug", {"jobs": []}),
    "run debug --retry": Command(
        ("run", "debug", "run_41", "--retry", "job_1", *AGENT),
        "POST /v1/optimization-runs/{run_id}/debug/{job_id}/retry",
        {},
        few=True,
    ),
    "run resume": Command(
        ("run", "resume", "run_41", "--review-id", "rev_1", *AGENT),
        "POST /v1/optimization-runs/{run_id}/resume",
        {},
    ),
    "run candidates": Command(
        ("run", "candidates", "run_41", *AGENT), LISTED, {"candidates": [], "winner_id": None, "proposals": []}
    ),
    "run pull": Command(("run", "pull", "run_41", *OUT, *AGENT), LISTED, {"candidates": [], "winner_id": None}),
    "run report": Command(
        ("run", "report", "run_41", "--html", "out/run.html", *AGENT), LISTED, {"candidates": [], "winner_id": None}
    ),
    "candidate show": Command(
        ("candidate", "show", "run_41.1", "--diff", *AGENT), "GET /v1/optimization-candidates/{candidate_id}", {}
    ),
    "candidate download": Command(
        ("candidate", "download", "run_41", *OUT, *AGENT),
        "POST /v1/optimization-candidates/{candidate_id}/downloads",
        {"files": []},
    ),
    "candidate pull-request": Command(
        ("candidate", "pull-request", "run_41", *AGENT),
        "GET /v1/optimization-candidates/{candidate_id}/pull-request",
        {"allowed": False, "pull_request": None, "reason": "the run has no winner"},
    ),
    "candidate pull-request --show": Command(
        ("candidate", "pull-request", "run_41", "--show", *AGENT),
        "GET /v1/optimization-candidates/{candidate_id}/pull-request",
        {"allowed": True, "pull_request": None},
        few=True,
    ),
    "candidate branch": Command(
        ("candidate", "branch", "run_41", "--name", "won", *AGENT),
        "POST /v1/optimization-candidates/{candidate_id}/downloads",
        {"files": []},
        few=True,
    ),
    "dataset upload": Command(
        ("dataset", "upload", "data", "--name", "invoices", "--no-check", *AGENT), "POST /v1/datasets/uploads", {}
    ),
    "dataset list": Command(("dataset", "list", *AGENT), "GET /v1/datasets", {"datasets": [], "total": 0}),
    "dataset show": Command(("dataset", "show", "invoices", *AGENT), "GET /v1/datasets/resolve", {"dataset": {}}),
    "dataset promote": Command(
        ("dataset", "promote", "invoices", *AGENT), "GET /v1/datasets", {"datasets": [], "total": 0}
    ),
}

KEYS = (
    "id", "status", "runs", "total", "jobs", "candidates", "winner_id", "proposals", "eval_reports", "files", "dataset",
    "datasets", "artifact", "pull_request", "allowed", "result", "progress", "github_repository", "github_source",
    "summary", "scores", "warnings", "error_message", "config", "baseline_review", "settings", "web_url",
)  # fmt: skip
ANSWERS: Mapping[str, tuple[int, Any]] = {
    "refused": (403, {"detail": "not for you"}),
    "unauthorized": (401, {"detail": "Invalid or expired credential"}),
    "missing": (404, {"detail": "there is no such thing"}),
    "conflict": (409, {"detail": {"code": "SOMETHING", "message": "not as it is now"}}),
    "broken": (500, {"detail": "oh no"}),
    "dropped": (0, None),
    "list": (200, []),
    "page": (200, b"<html>log in to this network</html>"),
    "numbers": (200, dict.fromkeys(KEYS, 7)),
    "texts": (200, dict.fromkeys(KEYS, "\x1b[31mred\n")),
    "lists": (200, {key: [7, None, {"id": ["x"], "status": {}}] for key in KEYS}),
}
"""What goes wrong at the route that decides; the last three are objects whose values are of no kind that was meant."""

STORED = {
    "expired": {**LOGIN, "expires_at": "2020-01-01T00:00:00Z"},
    "foreign": {**LOGIN, "base_url": "https://elsewhere.example", "token": "bkr_cli_elsewhere"},
}
"""Logins that count for nothing here: they are looked at in one place for all of these commands."""


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The checkout of a repository without branches beside its own, and its commit."""
    root = tmp_path_factory.mktemp("repository")
    settings = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgSign=false")

    def git(*words: str) -> str:
        done = subprocess.run(["git", *settings, *words], cwd=root, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "-q", "-b", "main")
    (root / "app.py").write_text("broken\n")
    git("add", "app.py")
    git("commit", "-qm", "First")
    return root, git("rev-parse", "HEAD")


def organized(desk: Any, commit: str) -> None:
    """The organization at first, with a run of `commit` whose winner changes a file and a document."""
    hosted = desk.hosted
    hosted.reset()
    run = {"id": "run_41", "status": "COMPLETED", "completed_at": "2026-01-02T04:04:05Z"}
    source = {"commit": commit, "integration_id": "invoices"}
    hosted.answer("GET", "/v1/optimization-runs/{run_id}", 200, {**run, "github_source": source})
    hosted.answer("GET", "/v1/optimization-runs/{run_id}/candidates", 200, CANDIDATES)
    hosted.answer("GET", "/v1/optimization-runs/{run_id}/eval-reports", 200, {"eval_reports": [REPORT]})
    hosted.answer("GET", "/v1/optimization-candidates/{candidate_id}/eval-reports", 200, {"eval_reports": [REPORT]})
    hosted.answer("GET", "/v1/optimization-candidates/{candidate_id}", 200, candidate(1))

    def handed_out(asked: Any) -> dict[str, Any]:
        files = []
        named = asked.path.split("/")[3]
        for path, data in FILES.get(named, {}).items():
            place = f"/store/{named}/{path}"
            hosted.store[place] = data
            digest = hashlib.sha256(data).hexdigest()
            url = f"{hosted.url}{place}?X-Sig=planted-s3cret"
            files.append({"path": path, "download_url": url, "sha256": digest, "size_bytes": len(data)})
        return {"files": files}

    hosted.answer("POST", "/v1/optimization-candidates/{candidate_id}/downloads", 200, handed_out)
    data = desk.project / "data"
    data.mkdir(exist_ok=True)
    (data / "train.jsonl").write_text('{"id": "t1"}\n{"id": "t2"}\n')
    (data / "test.jsonl").write_text('{"id": "h1"}\n')


def situations(desk: Any, command: Command, repository: tuple[Path, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every situation by its name, with what the command does in it."""
    method, _, path = command.route.partition(" ")
    checkout, commit = repository

    def run(
        *more: str,
        stored: Any = LOGIN,
        place: tuple[str, ...] | None = None,
        answer: tuple[int, Any] | None = None,
        delay: float = 0,
    ) -> dict[str, Any]:
        organized(desk, commit)
        desk.begin(stored)
        if "branch" in command.argv:
            shutil.rmtree(desk.project / ".git")
            shutil.copytree(checkout / ".git", desk.project / ".git")
        desk.now = 1_800_000_000.0
        output = desk.project / "out"
        shutil.rmtree(output, ignore_errors=True)
        if answer is not None:
            desk.hosted.answer(method, path, *answer)
        desk.hosted.delay = delay
        done = desk.run(*command.argv, *more, place=place, foreign=True)
        done |= {stream: steady(done[stream]) for stream in ("out", "err")}
        files = sorted(one.relative_to(output).as_posix() for one in output.rglob("*") if one.is_file())
        return done | {"files": files} if files else done

    yield "success", run()
    yield "success --json", run("--json")
    yield "api key", run(stored=None, place=("--base-url", desk.hosted.url, "--api-key", desk.hosted.api_key))
    yield "local", run(place=("--local",))
    yield "empty", run(answer=(200, command.nothing))
    yield "missing", run(answer=ANSWERS["missing"])
    yield "broken", run(answer=ANSWERS["broken"])
    if command.few:
        return
    yield "slow", run(delay=0.02)
    yield "quiet", run("--quiet")
    yield "empty --json", run("--json", answer=(200, command.nothing))
    yield "refused --json", run("--json", answer=ANSWERS["refused"])
    nowhere = "http://127.0.0.1:9"
    yield "unreachable", run(stored={**LOGIN, "base_url": nowhere}, place=("--base-url", nowhere))
    yield "unreachable --json", run("--json", stored={**LOGIN, "base_url": nowhere}, place=("--base-url", nowhere))
    yield "logged out", run(stored=None)
    for name, stored in STORED.items() if command is COMMANDS["run list"] else ():
        yield name, run(stored=stored)
    for name, answer in ANSWERS.items():
        yield name, run(answer=answer)


def steady(text: str) -> str:
    """`text` without what differs from one time to the next: the time of day, keys, commits."""
    text = re.sub(r"(?m)^\d\d:\d\d:\d\d ", "{time} ", text)
    text = re.sub(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "{uuid}", text)
    text = re.sub(r"(on top of  |\"(?:commit|parent)\":\")[0-9a-f]{40}", r"\1{commit}", text)
    return re.sub(r"( as )[0-9a-f]{12}$", r"\1{commit}", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_command__every_situation__is_golden(name: str, desk: Any, repository: tuple[Path, str]) -> None:
    """Exit code, both streams, JSON and files are as recorded; nothing secret appears, and no answer is our error."""
    command = COMMANDS[name]
    found = dict(situations(desk, command, repository))
    assert found.get("slow", found["success"]) == found["success"]
    for situation, done in found.items():
        assert done["code"] in (0, 1, 2, 3), situation
        assert "BK949" not in done["err"], f"{situation}: {done['err']}"
    golden = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
    if os.environ.get("BEAKER_RECORD"):
        golden[name] = found
        GOLDEN.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    else:
        assert found == golden[name]
