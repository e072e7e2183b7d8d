"""`run trigger` elsewhere looks before it launches, and says what a run may take."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LAUNCH = ("run", "trigger", "--agent", "inv-agent", "--dataset", "invoices")
ENTRY = "integrations:\n  invoices:\n    entrypoint: m:i\n    required_env: [OPENAI_API_KEY, TENANT]\n"


@pytest.fixture
def office(desk: Any) -> Any:
    """A desk with an API key and an integration that needs variables."""
    desk.begin(None)
    return desk


def at(office: Any, *words: str) -> Any:
    """Launch with the organization's key."""
    return office.run(*LAUNCH, *words, place=("--base-url", office.hosted.url, "--api-key", office.hosted.api_key))


def launches(office: Any) -> int:
    return len(office.hosted.asked("POST", "/v1/optimization-runs"))


def test_trigger__everything_there__launches_and_previews(office: Any) -> None:
    """The rows of the dataset and the budget are said before the run is started."""
    done = at(office, "--config", '{"spend_budget_usd": 5}')
    assert done["code"] == 0
    assert "preview: 1 TRAIN and 1 TEST rows, as many rollouts as the service decides" in done["err"]
    assert "$5 at most" in done["err"]
    assert launches(office) == 1


def test_trigger__dry_run__asks_and_previews_and_sends_nothing(
    office: Any, conforms: Callable[[object, str], None]
) -> None:
    """The request with what it may take, as the schema says."""
    done = at(office, "--dry-run", "--json")
    conforms(json.loads(done["out"]), "cli-launch-dry-run.json")
    assert json.loads(done["out"])["preview"]["train"] == 1
    assert launches(office) == 0


def test_trigger__what_is_missing__is_told_together_and_not_launched(office: Any) -> None:
    """Dataset, model and variables, each by its code; --no-check leaves it to the service."""
    (office.project / ".beaker/beaker.yaml").write_text(ENTRY)
    office.hosted.answer("GET", "/v1/datasets/resolve", 404, {"detail": "none"})
    office.hosted.answer("GET", "/v1/agents/{agent_id}/env-vars", 200, {"env_vars": []})
    office.hosted.answer("GET", "/v1/llm/credentials", 200, {"credentials": []})
    words = ("--optimization-model", "openai:gpt-9")
    done = at(office, *words, "--json")
    codes = [problem["code"] for problem in json.loads(done["err"])["error"]["problems"]]
    assert (done["code"], codes) == (2, ["BK411", "BK413", "BK121", "BK121"])
    assert launches(office) == 0
    assert at(office, *words, "--no-check")["code"] == 0
    assert launches(office) == 1


def test_trigger__question_without_an_answer__is_said_and_stops_nothing(office: Any) -> None:
    """A service that cannot be asked decides for itself when it is sent the launch."""
    office.hosted.answer("GET", "/v1/datasets/resolve", 403, {"detail": "not for you"})
    done = at(office)
    assert (done["code"], "not checked here: the dataset (" in done["err"], launches(office)) == (0, True, 1)


@pytest.mark.parametrize(
    ("status", "said"), [(422, "idempotency key of this launch: k-7"), (500, "--idempotency-key k-7")]
)
def test_trigger__failed__always_shows_its_key(status: int, said: str, office: Any) -> None:
    """Whatever went wrong with it, the launch can be repeated as the same one."""
    office.hosted.answer("POST", "/v1/optimization-runs", status, {"detail": "no"})
    done = at(office, "--idempotency-key", "k-7")
    assert (done["code"], said in done["err"]) == (2, True)
    done = at(office, "--idempotency-key", "k-7", "--json")
    assert (done["code"], said in json.loads(done["err"])["error"]["hint"]) == (2, True)


def test_trigger__interrupted_launch__shows_its_key(office: Any) -> None:
    """Whoever ends the wait for a service in trouble can repeat the launch as the same one."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    office.hosted.answer("POST", "/v1/optimization-runs", 503, {"detail": "busy"})
    office.asleep = interrupt
    done = at(office, "--idempotency-key", "k-7")
    said = "whether a run was started is unknown; idempotency key of this launch: k-7"
    assert (done["code"], said in done["err"]) == (130, True)


def test_trigger__checkout_that_is_ahead__names_what_is_left_out(office: Any, git: Callable[..., str]) -> None:
    """The branch, unpushed commits and uncommitted files, in one line; `@` of what is not pushed is refused."""
    project: Path = office.project
    (project / ".git").rmdir()
    git("init", "-q", "-b", "main", cwd=project)
    git("add", ".", cwd=project)
    git("commit", "-qm", "one", cwd=project)
    git("update-ref", "refs/remotes/origin/main", "HEAD", cwd=project)
    git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main", cwd=project)
    git("switch", "-qc", "better", cwd=project)
    git("commit", "-qm", "two", "--allow-empty", cwd=project)
    (project / ".beaker/beaker.yaml").write_text(ENTRY)
    done = at(office, "--no-check")
    assert (
        "not included in this run: the branch better, since main runs without --ref; 1 unpushed commit; "
        "uncommitted changes in .beaker/beaker.yaml" in done["err"]
    )
    done = at(office, "--no-check", "--ref", "@")
    assert (done["code"], "BK407" in done["err"], launches(office)) == (2, True, 1)
