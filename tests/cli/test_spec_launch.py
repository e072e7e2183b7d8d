"""Launches of Specs, and the options of their generation: what is sent, and what is refused with which reason."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

AGENT = (200, {"id": "ag_1", "key": "inv-agent", "github_repository": "acme/invoices"})
CONFIG = """\
agent_key: inv-agent
specs:
  tone: {target: "tone_spec:build_spec"}
  facts: {target: "facts_spec:build_spec"}
default_spec: tone
integrations:
  invoices: {entrypoint: "m:i", agent_key: inv-agent}
"""
COMPARED = {
    "optimization_models": [{"provider": "openai", "model": "gpt"}],
    "execution_mode": "benchmark_and_optimize",
}
OPTIONS = {
    "--benchmark-split": ["--benchmark-split", "TEST"],
    "--benchmark-max-cases": ["--benchmark-max-cases", "30"],
    "--final-eval-split": ["--final-eval-split", "TRAIN"],
    "--test-all-candidates": ["--test-all-candidates"],
}
MODELS = ["--optimization-model", "openai:gpt"]


@pytest.fixture
def launch(service: Any, remote: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Launch from a project with two Specs and an Integration; the answer and the body that was sent, if any."""
    (tmp_path / ".beaker" / "beaker.yaml").write_text(CONFIG)
    service.on("GET /v1/agents/current", AGENT)
    service.on("POST /v1/optimization-runs", (201, {"id": "run_42", "status": "QUEUED", "config": {}}))

    def call(*argv: str) -> tuple[Any, Any]:
        done = remote("run", "trigger", "--dataset", "inv", *argv)
        sent = [request["body"] for request in service.requests if request["call"].startswith("POST")]
        return done, sent[-1] if sent else None

    return call


@pytest.mark.parametrize(
    ("argv", "source", "config"),
    [
        ([], {}, {"use_harness_optimization": True}),
        (["--spec-id", "facts"], {"spec_id": "facts"}, {"use_harness_optimization": True}),
        (MODELS, {}, {"optimization_config": COMPARED}),
        (
            [*MODELS, "--benchmark-split", "TEST", "--benchmark-max-cases", "30"],
            {},
            {
                "optimization_config": {
                    **COMPARED,
                    "initial_benchmark": {"enabled": True, "split": "TEST", "max_cases": 30},
                }
            },
        ),
        (
            [*MODELS, "--final-eval-split", "TRAIN", "--final-eval-split", "TEST"],
            {},
            {"optimization_config": {**COMPARED, "final_eval_splits": ["TRAIN", "TEST"]}},
        ),
        (
            ["--test-all-candidates", "--config", '{"top_k_test_eval": 2, "scorer_model": "a:b"}'],
            {},
            {
                "top_k_test_eval": 2,
                "scorer_model": "a:b",
                "use_harness_optimization": True,
                "test_all_candidates": True,
            },
        ),
        (
            ["--integration-id", "invoices", *MODELS],
            {"integration_id": "invoices"},
            {"optimization_config": {"optimization_models": COMPARED["optimization_models"]}},
        ),
        (["--integration-id", "invoices"], {"integration_id": "invoices"}, {}),
    ],
)
def test_trigger__of_a_spec__sends_the_body_of_its_generation(
    argv: list[str], source: dict[str, Any], config: dict[str, Any], launch: Callable[..., Any]
) -> None:
    """The selected entry decides the body; a Spec is named only where the command line named it."""
    done, sent = launch(*argv)
    assert (done.code, sent["config"]) == (0, config)
    assert sent["github_source"] == {"repository": "acme/invoices", **source}


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        *((["--integration-id", "invoices", *words], f"BK409 {name}") for name, words in OPTIONS.items()),
        *((OPTIONS[name], f"BK409 {name}") for name in [*OPTIONS][:3]),
        ([*MODELS, "--config", '{"optimization_config": {}}'], "BK409 config.optimization_config"),
        ([*MODELS, *2 * OPTIONS["--final-eval-split"]], "BK409 --final-eval-split"),
        (["--spec-id", "other"], "BK110"),
        (["--spec-id", "tone", "--integration-id", "invoices"], "BK900"),
        (["--benchmark-max-cases", "1001"], "BK900"),
        (["--final-eval-split", "VAL"], "BK900"),
        (["--integration-id", "invoices", "--config", '{"test_all_candidates": true}'], "BK402"),
    ],
)
def test_trigger__option_that_cannot_be_meant__is_refused_and_nothing_sent(
    argv: list[str], said: str, launch: Callable[..., Any]
) -> None:
    """Options of a Spec for an Integration, options without their models, ids of two things: refused, never dropped."""
    done, sent = launch(*argv)
    assert (done.code, sent) == (2, None)
    assert f"error: {said}" in done.err


def test_trigger__without_a_selection__needs_one_for_these_options(
    beaker: Callable[..., Any], service: Any, tmp_path: Path
) -> None:
    """Where there is no configuration, models and the options of Specs say what to select."""
    service.on("GET /v1/agents/current", AGENT)
    reach = ("--base-url", service.url, "--api-key", "k", "run", "--agent", "a", "--dataset", "d")
    done = beaker(*reach, *MODELS, *OPTIONS["--test-all-candidates"], cwd=tmp_path)
    assert done.code == 2
    assert "BK406 --optimization-model" in done.err
    assert "--spec-id" in done.err


def test_trigger__setup_that_failed_there__is_explained(service: Any, launch: Callable[..., Any]) -> None:
    """A refusal that names the version of a Spec says that no run exists, and what to do."""
    detail = {"code": "OPTIMIZATION_PLAYBOOK_GENERATION_FAILED", "spec_version_id": "sv_9"}
    service.on("POST /v1/optimization-runs", (409, {"detail": detail}))
    done, _ = launch()
    assert done.code == 2
    assert "error: BK488 " in done.err
    assert "sv_9" in done.err


def test_status__waiting_for_its_setup__says_so(service: Any, remote: Callable[..., Any]) -> None:
    """A hosted service prepares the setup of a Spec first; the run is queued meanwhile."""
    waiting = {"id": "r", "status": "QUEUED", "trigger_metadata": {"queue_reason": "optimization_playbook"}}
    service.on("GET /v1/optimization-runs/r", (200, waiting))
    done = remote("run", "status", "r")
    assert (done.code, done.out) == (3, "r: QUEUED\n  progress   its setup is being prepared\n")


@pytest.mark.parametrize("words", [MODELS, *OPTIONS.values()])
def test_trigger__on_this_machine__refuses_with_the_reason(
    words: list[str], beaker: Callable[..., Any], git: Callable[..., str], tmp_path: Path
) -> None:
    """What a run here cannot do is refused by the option's name before anything is made."""
    (tmp_path / ".beaker").mkdir()
    (tmp_path / ".beaker" / "beaker.yaml").write_text(CONFIG)
    git("init", "-q")
    done = beaker("--local", "run", "trigger", "--dataset", "d", "--json", *words)
    problem = json.loads(done.err.splitlines()[-1])["error"]
    assert (done.code, problem["code"], problem["where"]) == (2, "BK409", words[0])
    assert problem["hint"].startswith("leave it out")


def test_trigger__warning_that_both_sides_give__is_told_once(service: Any, launch: Callable[..., Any]) -> None:
    """What was said of the configuration here is not said again because the place found it too."""
    once, _ = launch()
    (code,) = set(re.findall(r"^warning: (BK\d+) ", once.err, re.MULTILINE))
    message = re.search(r"^warning: BK\d+ \S+: (.*)$", once.err, re.MULTILINE)
    assert message is not None
    again = {"code": code, "message": message[1], "where": "elsewhere:1", "hint": ""}
    other = {"code": "BK413", "message": "something else", "where": "", "hint": ""}
    run = {"id": "run_42", "status": "QUEUED", "config": {}, "warnings": [again, other, other]}
    service.on("POST /v1/optimization-runs", (201, run))
    done, _ = launch()
    assert done.err.count("warning: ") == once.err.count("warning: ") + 1
    assert done.err.count("something else") == 1
