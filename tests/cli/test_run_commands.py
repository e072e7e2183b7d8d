"""`run debug`, `run resume`, `candidate pull-request` and `run list --all` against a small hosted organisation."""

import json
from collections.abc import Callable
from typing import Any

import pytest

Conforms = Callable[[object, str], None]
LOGIN = {"token": "bkr_cli_hosted_1", "expires_at": "2099-01-01T00:00:00Z", "saved_at": "2026-01-01T10:00:00"}
AGENT = ("--agent", "inv-agent")
PULL = "/v1/optimization-candidates/{candidate_id}/pull-request"


@pytest.fixture
def at_work(desk: Any) -> Any:
    """A desk with a login."""
    desk.begin(LOGIN)
    return desk


def test_debug__investigations__are_shown_with_their_instructions(at_work: Any, conforms: Conforms) -> None:
    """A person reads status, time and what to do; a script the answer; none is said to be none."""
    done = at_work.run("run", "debug", "run_41", *AGENT)
    assert done["out"] == "job_1  COMPLETED  failed at 2026-01-02T03:30:05Z\n  Pin the version of the parser.\n"
    conforms(json.loads(at_work.run("run", "debug", "run_41", *AGENT, "--json")["out"]), "cli-run-debug.json")
    at_work.hosted.answer("GET", "/v1/optimization-runs/{run_id}/debug", 200, {"jobs": []})
    done = at_work.run("run", "debug", "run_41", *AGENT)
    assert (done["code"], "has investigated nothing" in done["out"]) == (0, True)
    at_work.hosted.answer("GET", "/v1/optimization-runs/{run_id}/debug", 200, {"jobs": [{}]})
    done = at_work.run("run", "debug", "run_41", *AGENT)
    assert (done["code"], done["out"], "error: BK804 jobs[0]" in done["err"]) == (2, "", True)


def test_debug__retry__asks_for_one_more(at_work: Any, conforms: Conforms) -> None:
    """The job is named in the path, and the run is not started again."""
    done = at_work.run("run", "debug", "run_41", "--retry", "job_1", *AGENT)
    assert (done["code"], done["out"]) == (0, "beaker run debug: job_1 is investigated again: QUEUED\n")
    assert at_work.hosted.requests[-1].path == "/v1/optimization-runs/run_41/debug/job_1/retry"


def test_resume__review__travels_as_given(at_work: Any, conforms: Conforms) -> None:
    """The model is sent only where it is named; a blank review is refused before anything is sent."""
    done = at_work.run("run", "resume", "run_41", "--review-id", "rev_1", *AGENT)
    assert (done["code"], done["out"]) == (0, "run_41: RUNNING  it goes on\n")
    assert at_work.hosted.requests[-1].body == {"review_id": "rev_1"}
    words = ("--review-id", "rev_1", "--model-target-id", "mt_1", *AGENT, "--json")
    conforms(json.loads(at_work.run("run", "resume", "run_41", *words)["out"]), "cli-run-resume.json")
    assert at_work.hosted.requests[-1].body == {"review_id": "rev_1", "model_target_id": "mt_1"}
    before = len(at_work.hosted.requests)
    assert at_work.run("run", "resume", "run_41", "--review-id", " ", *AGENT)["code"] == 2
    assert len(at_work.hosted.requests) == before


def test_pull_request__winner__gets_one_and_no_second(at_work: Any, conforms: Conforms) -> None:
    """It is opened where there is none; --show never opens one; one that exists is shown."""
    done = at_work.run("candidate", "pull-request", "run_41", "--show", *AGENT)
    assert (done["code"], done["out"]) == (1, "beaker candidate pull-request: cand_1 has none\n")
    done = at_work.run("candidate", "pull-request", "run_41", *AGENT)
    link = "https://github.example/acme/invoices/pull/9"
    assert (done["code"], done["out"]) == (0, f"beaker candidate pull-request: opened: {link}\n")
    at_work.hosted.answer("GET", PULL, 200, {"allowed": False, "pull_request": {"url": link}})
    done = at_work.run("candidate", "pull-request", "run_41", *AGENT, "--json")
    conforms(json.loads(done["out"]), "cli-candidate-pull-request.json")
    assert json.loads(done["out"]) == {"candidate_id": "cand_1", "pull_request": {"url": link}, "opened": False}
    assert len(at_work.hosted.asked("POST", PULL)) == 1


def test_pull_request__refused__says_why(at_work: Any) -> None:
    """A plain no of the service is the answer no, in its words, and nothing is opened."""
    at_work.hosted.answer("GET", PULL, 200, {"allowed": False, "reason": "not the winner"})
    done = at_work.run("candidate", "pull-request", "run_41", *AGENT)
    assert (done["code"], "BK494" in done["err"], "not the winner" in done["err"]) == (1, True, True)
    assert not at_work.hosted.asked("POST", PULL)


@pytest.mark.parametrize(
    "argv",
    [
        ("run", "debug", "r"),
        ("run", "resume", "r", "--review-id", "v"),
        ("candidate", "pull-request", "r.1"),
    ],
)
@pytest.mark.parametrize(("status", "said"), [(401, " login"), (403, "not for you"), (500, "not for you")])
def test_command__refused_there__says_so(argv: tuple[str, ...], status: int, said: str, at_work: Any) -> None:
    """Whatever is asked, a refusal is exit code 2 with the service's words, and one of the login says to log in."""
    for route in ("GET /v1/optimization-runs/{run_id}/debug", "POST /v1/optimization-runs/{run_id}/resume"):
        at_work.hosted.answer(*route.split(), status, {"detail": "not for you"})
    at_work.hosted.answer("GET", PULL, status, {"detail": "not for you"})
    done = at_work.run(*argv, *AGENT)
    assert (done["code"], done["out"], said in done["err"]) == (2, "", True)
    assert "Traceback" not in done["err"]


@pytest.mark.parametrize("argv", [("run", "debug", "r"), ("candidate", "pull-request", "r.1")])
def test_command__on_this_machine__says_what_to_use_instead(argv: tuple[str, ...], at_work: Any) -> None:
    """What needs a vendor is refused there with a hint."""
    done = at_work.run(*argv, place=("--local",))
    assert (done["code"], "error: BK452" in done["err"], "hint: " in done["err"]) == (2, True, True)


def test_list__all__brings_every_page_and_no_run_twice(at_work: Any, conforms: Conforms) -> None:
    """Pages are asked for until the total; a run that moved to a later page meanwhile is told once."""
    pages = {"0": ["c", "b"], "2": ["b", "a"]}

    def page(asked: Any) -> Any:
        offset = asked.query["offset"]
        runs = [{"id": run_id, "status": "COMPLETED"} for run_id in pages[offset]]
        return {"runs": runs, "total": 4, "offset": int(offset)}

    at_work.hosted.answer("GET", "/v1/optimization-runs", 200, page)
    done = at_work.run("run", "list", "--all", "--limit", "2", *AGENT, "--json")
    assert [run["id"] for run in json.loads(done["out"])["runs"]] == ["c", "b", "a"]
    assert at_work.run("run", "list", "--all", "--limit", "2", *AGENT)["out"].endswith("1-3 of 4\n")
