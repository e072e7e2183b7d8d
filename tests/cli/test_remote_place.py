"""The commands against an API across HTTP: what is sent, what is shown, what goes wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.cli.pull import PULLED, PULLED_OF_A_CANDIDATE
from beaker.core import pulled

AGENT = (200, {"id": "ag_1", "key": "inv-agent", "github_repository": "acme/invoices"})


def test_trigger__config_and_flags__send_the_exact_request(service: Any, remote: Callable[..., Any]) -> None:
    """Settings layer, the dataset flag wins, the bearer and an idempotency key travel."""
    service.on("GET /v1/agents/current", AGENT)
    service.on("POST /v1/optimization-runs", (201, {"id": "run_42", "status": "QUEUED", "config": {}}))
    done = remote("run", "trigger", "--dataset", "inv", "--ref", "main", "--config", '{"max_concurrency":2}', "--json")
    assert done.code == 0
    launch = service.requests[-1]
    assert launch["body"] == {
        "agent_key": "inv-agent",
        "config": {"max_concurrency": 2},
        "trigger_metadata": {},
        "github_source": {"repository": "acme/invoices", "ref": "main", "integration_id": "invoices"},
        "dataset_ref": "inv",
    }
    assert launch["headers"]["authorization"] == "Bearer secret-key"
    assert len(launch["headers"]["idempotency-key"]) == 36
    web_url = "https://app.withbeaker.ai/ai-engineer/runs/run_42?agent_key=inv-agent"
    assert json.loads(done.out) == {"id": "run_42", "status": "QUEUED", "config": {}, "web_url": web_url}


def test_trigger__human__says_status_id_ref_and_where(service: Any, remote: Callable[..., Any]) -> None:
    """A person gets the id, the ref, the service's own link, and the next step."""
    service.on("GET /v1/agents/current", AGENT)
    body = {"id": "run_42", "config": {"github_ref": "feature/x"}, "url": "https://app/r/42"}
    service.on("POST /v1/optimization-runs", (201, body))
    done = remote("run", "--dataset", "inv")
    assert done.out == "beaker run trigger: QUEUED run_42 github=feature/x\nhttps://app/r/42\n"
    assert "run status run_42 --watch" in done.err


def test_trigger__run_of_a_checkout__says_the_commit(service: Any, remote: Callable[..., Any]) -> None:
    """A place without pages runs a checkout, where no ref of GitHub is meant."""
    service.on("GET /v1/agents/current", (200, {"key": "inv-agent", "github_repository": "a/b"}))
    commit = "0123456789abcdef" * 2 + "01234567"
    run = {"id": "run_42", "status": "QUEUED", "web_url": None, "github_source": {"commit": commit, "ref": "HEAD"}}
    service.on("POST /v1/optimization-runs", (201, {**run, "config": {"github_ref": "HEAD"}}))
    assert remote("run", "--dataset", "d").out == "beaker run trigger: QUEUED run_42 commit=0123456789ab\n"


@pytest.mark.parametrize("status", ["COMPLETED", "FAILED", "RUNNING"])
def test_status__watch_that_ends__says_what_comes_next(service: Any, remote: Callable[..., Any], status: str) -> None:
    """Once a run has ended, what it has can be fetched; a watch that ended before says nothing of it."""
    service.on("GET /v1/optimization-runs/r1", (200, {"id": "r1", "status": status}))
    done = remote("run", "status", "r1", "--watch", "--poll-timeout", "0.01", "--poll-interval", "0.01")
    said = f"Next:\n  1. fetch what it has: beaker --base-url {service.url} run pull r1\n"
    assert (said in done.err) == (status != "RUNNING")


def test_trigger__outside_a_project__speaks_of_no_checkout(service: Any, beaker: Callable[..., Any]) -> None:
    """Where there is no checkout, nothing of one is left out."""
    service.on("GET /v1/agents/current", AGENT)
    service.on("POST /v1/optimization-runs", (201, {"id": "run_42", "config": {}}))
    reach = ("--base-url", service.url, "--api-key", "secret-key")
    done = beaker(*reach, "run", "--dataset", "inv", "--agent", "inv-agent")
    assert done.code == 0
    assert "not included" not in done.err


def test_trigger__service_without_pages__prints_no_link(service: Any, remote: Callable[..., Any]) -> None:
    """A service that says it has no page for a run is believed, unless somebody knows one."""
    service.on("GET /v1/agents/current", AGENT)
    service.on("POST /v1/optimization-runs", (201, {"id": "run_42", "config": {}, "web_url": None}))
    assert "http" not in remote("run", "--dataset", "inv").out
    assert (
        "https://mine/ai-engineer/runs/run_42"
        in remote("run", "--dataset", "inv", "--app-base-url", "https://mine").out
    )


def test_status__watch__looks_often_where_asking_costs_nothing(service: Any, remote: Callable[..., Any]) -> None:
    """A service on this machine is asked as often as the embedded place is."""
    running, ended = ({"id": "r-17", "status": status} for status in ("RUNNING", "COMPLETED"))
    service.on("GET /v1/optimization-runs/r-17", (200, running), (200, ended))
    waits: list[float] = []
    assert remote("run", "status", "r-17", "--watch", sleep=waits.append).code == 0
    assert waits == [0.5]


def test_insecure_http__is_needed_to_talk_in_the_clear(beaker: Callable[..., Any], tmp_path: Path) -> None:
    """Plain http leaves this machine only when it was allowed; with --local there is nothing to allow."""
    argv = ("--base-url", "http://192.0.2.1:9", "--api-key", "k" * 20, "run", "list", "--agent", "a")
    done = beaker(*argv)
    assert done.code == 2
    assert "BK809" in done.err
    assert "--insecure-http" in done.err
    (tmp_path / ".beaker").mkdir()
    (tmp_path / ".beaker" / "beaker.yaml").write_text("integrations: {}\n")
    done = beaker("--local", "run", "list", "--insecure-http")
    assert (done.code, "BK904" in done.err) == (2, True)


def test_trigger__no_answer__prints_the_key_to_repeat_with(service: Any, remote: Callable[..., Any]) -> None:
    """A dropped launch is repeated with the same key; if that fails too, the key is said."""
    service.on("GET /v1/agents/current", AGENT)
    service.on("POST /v1/optimization-runs", "drop")
    done = remote("run", "trigger", "--dataset", "inv", "--idempotency-key", "nightly-7")
    assert done.code == 2
    keys = [r["headers"]["idempotency-key"] for r in service.requests if r["call"].startswith("POST")]
    assert keys == ["nightly-7"] * 3
    assert "--idempotency-key nightly-7" in done.err


def test_trigger__refused__shows_the_detail(service: Any, remote: Callable[..., Any]) -> None:
    """What the service says is shown in its words, not as a raw body."""
    service.on("GET /v1/agents/current", AGENT)
    service.on("POST /v1/optimization-runs", (422, {"detail": "ref is no remote branch"}))
    done = remote("run", "trigger", "--dataset", "inv", "--ref", "nope")
    assert done.code == 2
    assert "ref is no remote branch" in done.err
    assert "detail" not in done.err


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        ([], "BK405"),
        (["--dataset", "a", "--dataset-id", "b"], "BK404"),
        (["--dataset", "s3://x"], "BK404"),
        (["--dataset", "a", "--config", "[1]"], "BK906"),
        (["--dataset", "a", "--config", '{"a":1,"a":2}'], "BK906"),
        (["--dataset", "a", "--config", '{"nonsense": 1}'], "BK402"),
        (["--dataset", "a", "--config", '{"scorer_model": "x:y"}'], "BK403"),
        (["--dataset", "a", "--integration-id", "other"], "BK110"),
        (["--dataset", "a", "--ref", " "], "BK407"),
    ],
)
def test_trigger__bad_input__is_refused_before_a_launch(
    argv: list[str], code: str, service: Any, remote: Callable[..., Any]
) -> None:
    """What can be told here is told here; nothing is launched."""
    service.on("GET /v1/agents/current", AGENT)
    done = remote("run", "trigger", *argv)
    assert done.code == 2
    assert f"error: {code}" in done.err
    assert not any(request["call"].startswith("POST") for request in service.requests)


def test_trigger__dry_run__prints_the_request_and_launches_nothing(service: Any, remote: Callable[..., Any]) -> None:
    """--dry-run shows exactly what would be sent."""
    service.on("GET /v1/agents/current", AGENT)
    done = remote("run", "trigger", "--dataset", "inv", "--dry-run", "--json")
    assert json.loads(done.out)["body"]["dataset_ref"] == "inv"
    assert [request["call"] for request in service.requests] == ["GET /v1/agents/current", "GET /v1/datasets/resolve"]


@pytest.mark.parametrize(
    ("status", "code"), [("COMPLETED", 0), ("FAILED", 1), ("HELDOUT_FAILED", 1), ("RUNNING", 3), ("NEWER", 3)]
)
def test_status__once__has_the_code_of_the_status(
    status: str, code: int, service: Any, remote: Callable[..., Any]
) -> None:
    """0 completed, 1 ended otherwise, 3 not ended; the first line is id and status."""
    service.on("GET /v1/optimization-runs/r-17", (200, {"id": "r-17", "status": status, "error_message": None}))
    done = remote("run", "status", "r-17")
    assert (done.code, done.out) == (code, f"r-17: {status}\n")
    assert service.requests[-1]["query"] == "agent_key=inv-agent"
    machine = remote("run", "status", "r-17", "--json")
    assert (
        machine.out == json.dumps({"id": "r-17", "status": status, "error_message": None}, separators=(",", ":")) + "\n"
    )


def test_list__times__are_whole(service: Any, remote: Callable[..., Any]) -> None:
    """A time is shown with its zone, never cut."""
    at = "2026-01-02T03:04:05.678901Z"
    run = {"id": "r-1", "status": "COMPLETED", "created_at": at, "started_at": at, "completed_at": at}
    service.on("GET /v1/optimization-runs", (200, {"runs": [run], "total": 1, "offset": 0, "limit": 25}))
    assert remote("run", "list").out.splitlines()[1].split() == ["r-1", "COMPLETED", at, at, at]


def test_status__id_with_odd_letters__is_percent_encoded(service: Any, remote: Callable[..., Any]) -> None:
    """An id never changes the route."""
    service.on("GET /v1/optimization-runs/a%2Fb%3Fc", (200, {"id": "a/b?c", "status": "COMPLETED"}))
    assert remote("run", "status", "a/b?c").code == 0


def test_status__watch__survives_429_503_and_a_dropped_connection(service: Any, remote: Callable[..., Any]) -> None:
    """Trouble that passes does not end a watch."""
    running, ended = ({"id": "r-17", "status": status} for status in ("RUNNING", "COMPLETED"))
    slow, down = (429, {"detail": "slow down"}), (503, b"<html>")
    service.on("GET /v1/optimization-runs/r-17", (200, running), slow, down, "drop", (200, running), (200, ended))
    waits: list[float] = []
    done = remote("run", "status", "r-17", "--watch", "--poll-interval", "2", "--json", sleep=waits.append)
    assert done.code == 0
    assert [json.loads(line)["status"] for line in done.out.splitlines()] == ["RUNNING", "COMPLETED"]
    assert len(waits) == 5
    assert waits[0] == 2


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ((404, {"detail": "no run"}), "BK807"),
        ((401, {"detail": "expired"}), "BK806"),
        ((500, b"oops"), "BK808"),
        ((200, b"[]"), "BK804"),
        ((200, b"{"), "BK804"),
        ("drop", "BK803"),
    ],
)
def test_status__bad_answer__is_a_problem(answer: Any, code: str, service: Any, remote: Callable[..., Any]) -> None:
    """Whatever an API does wrong is one error line and exit 2."""
    service.on("GET /v1/optimization-runs/r1", answer)
    done = remote("run", "status", "r1")
    assert done.code == 2
    assert f"error: {code}" in done.err
    assert "secret-key" not in done.err


def test_status__server_text__cannot_write_on_the_terminal(service: Any, remote: Callable[..., Any]) -> None:
    """Control characters of a service are visible, and a line end in an id makes no line."""
    body = {"id": "r1", "status": "FAILED\x1b[2J\nr1: COMPLETED", "error_message": "bad\x07"}
    service.on("GET /v1/optimization-runs/r1", (200, body))
    done = remote("run", "status", "r1", terminal=True)
    assert "\x07" not in done.out
    assert "\\x1b[2J\\n" in done.out
    assert len([line for line in done.out.splitlines() if line.startswith("r1:")]) == 1


def test_list__page__is_a_table_or_the_body(service: Any, remote: Callable[..., Any]) -> None:
    """Runs are listed newest first as the service gives them, with the page at the end."""
    page = {"runs": [{"id": "r1", "status": "RUNNING", "created_at": "2026-01-02T03:04:05Z"}], "total": 7, "offset": 3}
    service.on("GET /v1/optimization-runs", (200, page))
    done = remote("run", "list", "--limit", "1", "--offset", "3", "--status", "RUNNING")
    assert done.out.splitlines()[0].split() == ["RUN", "ID", "STATUS", "CREATED", "STARTED", "COMPLETED"]
    assert done.out.splitlines()[1].split() == ["r1", "RUNNING", "2026-01-02T03:04:05Z", "-", "-"]
    assert done.out.splitlines()[-1] == "4-4 of 7"
    assert service.requests[-1]["query"] == "agent_key=inv-agent&limit=1&offset=3&status=RUNNING"
    assert remote("run", "list", "--json").out == json.dumps(page, separators=(",", ":")) + "\n"
    assert remote("run", "list", "--limit", "101").code == 2


def test_cancel__answer__must_say_cancelled(service: Any, remote: Callable[..., Any]) -> None:
    """A cancel that was not carried out is no success."""
    service.on("POST /v1/optimization-runs/r1/cancel", (200, {"id": "r1", "status": "cancelled"}))
    assert remote("run", "cancel", "r1").out == "r1: CANCELLED\n"
    service.on("POST /v1/optimization-runs/r1/cancel", (200, {"id": "r1", "status": "RUNNING"}))
    assert remote("run", "cancel", "r1").code == 2
    service.on("POST /v1/optimization-runs/r1/cancel", (400, {"detail": "it has completed"}))
    done = remote("run", "cancel", "r1", "--json")
    assert done.code == 2
    assert json.loads(done.err)["error"]["message"] == "it has completed"


def test_pull__second_call_fails__writes_nothing(service: Any, remote: Callable[..., Any], tmp_path: Path) -> None:
    """Files appear only when everything has been fetched."""
    service.on("GET /v1/optimization-runs/r1", (200, {"id": "r1", "status": "RUNNING"}))
    service.on("GET /v1/optimization-runs/r1/candidates", (200, {"candidates": []}))
    service.on("GET /v1/optimization-runs/r1/eval-reports", (500, {"detail": "broken"}))
    assert remote("run", "pull", "r1", "--output-dir", "out").code == 2
    assert list((tmp_path / "out").iterdir()) == []


def test_pull__unfinished_run__writes_bodies_as_they_are(
    service: Any, remote: Callable[..., Any], tmp_path: Path
) -> None:
    """A run without a winner still has candidates and reports; an earlier pull is replaced."""
    (tmp_path / "out" / "r1").mkdir(parents=True)
    (tmp_path / "out" / "r1" / "old.txt").write_text("old")
    candidates = {"candidates": [{"id": "r1.0", "ü": 1}], "winner_id": None}
    service.on("GET /v1/optimization-runs/r1", (200, {"id": "r1", "status": "RUNNING"}))
    service.on("GET /v1/optimization-runs/r1/candidates", (200, candidates))
    service.on("GET /v1/optimization-runs/r1/eval-reports", (200, {"eval_reports": []}))
    done = remote("run", "pull", "r1", "--output-dir", "out", "--json")
    assert done.code == 0
    assert (tmp_path / "out" / "candidates.json").read_text() == json.dumps(candidates, indent=2)
    names = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*"))
    assert names == [
        "candidates.json", "eval_reports.json", "r1", "r1/candidates.json", "r1/eval_reports.json", "r1/run.json",
    ]  # fmt: skip
    assert json.loads(done.out)["winner_id"] is None


def test_pull__place_that_describes_no_files__gives_the_rest(
    service: Any, remote: Callable[..., Any], tmp_path: Path
) -> None:
    """Another kind of download is said to be missing, and loses nothing else."""
    service.on("GET /v1/optimization-runs/r1", (200, {"id": "r1", "status": "COMPLETED"}))
    service.on("GET /v1/optimization-runs/r1/candidates", (200, {"candidates": [{"id": "c1"}], "winner_id": "c1"}))
    service.on("GET /v1/optimization-runs/r1/eval-reports", (200, {"eval_reports": []}))
    service.on("POST /v1/optimization-candidates/c1/downloads", (200, {"url": "https://store.example/bundle.zip"}))
    done = remote("run", "pull", "r1", "--output-dir", "out")
    assert done.code == 0
    assert "warning: BK812 the files of c1 are left out" in done.err
    assert (tmp_path / "out" / "r1" / "candidates.json").is_file()


def test_pull__that_takes_long__says_how_far_it_is(service: Any, remote: Callable[..., Any]) -> None:
    """A line now and then, none under --quiet."""
    service.on("GET /v1/optimization-runs/r1", (200, {"id": "r1", "status": "COMPLETED"}))
    service.on("GET /v1/optimization-runs/r1/candidates", (200, {"candidates": [{"id": "c1"}], "winner_id": "c1"}))
    service.on("GET /v1/optimization-runs/r1/eval-reports", (200, {"eval_reports": []}))
    service.offer("c1", {"patch.diff": b"--- a\n"})
    times = iter(range(0, 1000, 3))
    done = remote("run", "pull", "r1", "--output-dir", "out", clock=lambda: float(next(times)))
    assert "  fetched 6 B of 6 B, patch.diff\n" in done.err
    assert "fetched" not in remote("run", "pull", "r1", "--output-dir", "out").err


def test_pull__names_of_only__are_those_that_are_pulled() -> None:
    """The parser's own list, which is there before the core is imported, agrees with the core's."""
    assert (PULLED, PULLED_OF_A_CANDIDATE) == (pulled.PULLED, pulled.PULLED_OF_A_CANDIDATE)


@pytest.mark.parametrize("run_id", ["../x", "a/b", ".", ""])
def test_pull__id_that_is_no_name__is_refused(run_id: str, remote: Callable[..., Any], tmp_path: Path) -> None:
    """An id cannot lead the files out of the folder."""
    assert remote("run", "pull", run_id, "--output-dir", "out").code == 2
    assert not (tmp_path / "x").exists()


def test_pull__id_that_is_hidden__is_refused_before_anything_is_made(
    remote: Callable[..., Any], tmp_path: Path
) -> None:
    """Nothing is created for a bad id."""
    assert remote("run", "pull", "..", "--output-dir", "out").code == 2
    assert not (tmp_path / "out").exists()


def test_agent__none_named__is_refused(service: Any, beaker: Callable[..., Any]) -> None:
    """Elsewhere than on this machine somebody has to say which agent is meant."""
    done = beaker("--base-url", service.url, "--api-key", "k", "run", "list")
    assert (done.code, service.requests) == (2, [])
    assert "BK131" in done.err


def test_credential__none__is_refused_with_what_to_do(service: Any, beaker: Callable[..., Any]) -> None:
    """Without a credential nothing is sent; the variable is as good as the option."""
    done = beaker("--base-url", service.url, "run", "list", "--agent", "a")
    assert (done.code, service.requests) == (2, [])
    assert "BK133" in done.err
    service.on("GET /v1/optimization-runs", (200, {"runs": [], "total": 0, "offset": 0}))
    environ = {"BEAKER_API_KEY": "from-env", "BEAKER_API_BASE_URL": service.url, "BEAKER_AGENT_KEY": "a"}
    done = beaker("run", "list", environ=environ)
    assert (done.code, done.out) == (0, "no runs\n0-0 of 0\n")
    assert service.requests[-1]["headers"]["authorization"] == "Bearer from-env"


@pytest.mark.parametrize(
    "argv",
    [
        ["--local", "--base-url", "http://127.0.0.1:1", "run", "list"],
        ["--base-url", "ftp://x", "run", "list"],
        ["--base-url", "", "run", "list"],
        ["--base-url", "http://example.com", "--api-key", "k", "run", "list", "--agent", "a"],
        ["--local", "--api-key", "k", "run", "list"],
        ["--config-file", "/etc/x", "run", "list"],
        ["--config-file", "", "run", "list"],
        ["--base-url", "http://127.0.0.1:1", "--api-key", "k", "--no-resume", "run", "list", "--agent", "a"],
    ],
)
def test_place__two_places_or_a_bad_one__is_refused(argv: list[str], beaker: Callable[..., Any]) -> None:
    """Two selectors of one thing, plain http to the world, an option without use: refused, never half obeyed."""
    done = beaker(*argv)
    assert done.code == 2
    assert done.err.startswith("error: BK")
    assert "BK949" not in done.err


def test_config__broken__is_told_with_line_and_never_ignored(
    service: Any, beaker: Callable[..., Any], tmp_path: Path
) -> None:
    """A configuration that cannot be read stops a command that would need its agent key, with file and line."""
    (tmp_path / ".beaker").mkdir()
    (tmp_path / ".beaker" / "beaker.yaml").write_text("integrations:\n  a: [\n")
    reach = ("--base-url", service.url, "--api-key", "k")
    for argv in (["run", "list"], ["run", "trigger", "--agent", "a", "--dataset", "d"]):
        done = beaker(*reach, *argv)
        assert done.code == 2
        assert ".beaker/beaker.yaml:" in done.err
    service.on("GET /v1/optimization-runs", (200, {"runs": [], "total": 0, "offset": 0}))
    assert beaker(*reach, "run", "list", "--agent", "a").code == 0


def test_dotenv__of_the_project__gives_the_agent_key_only(
    service: Any, beaker: Callable[..., Any], tmp_path: Path
) -> None:
    """A repository's dotenv file names the agent, and never the API or its key."""
    (tmp_path / ".beaker").mkdir()
    text = "BEAKER_AGENT_KEY=from-dotenv\nBEAKER_API_BASE_URL=http://127.0.0.1:1\nBEAKER_API_KEY=x\n"
    (tmp_path / ".beaker" / ".env").write_text(text)
    service.on("GET /v1/optimization-runs", (200, {"runs": [], "total": 0, "offset": 0}))
    environ = {"BEAKER_API_BASE_URL": service.url, "BEAKER_API_KEY": "k"}
    assert beaker("run", "list", environ=environ).code == 0
    assert service.requests[-1]["query"].startswith("agent_key=from-dotenv")
