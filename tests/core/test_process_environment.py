"""What processes of a run find in their environments, and which of it is a secret."""

from typing import Any

import pytest

from beaker.core.process_environment import process_environments, secret_values

ENVIRON = {
    "PATH": "/bin",
    "OTHER": "x",
    "BEAKER_API_KEY": "never",
    "BEAKER_INFERENCE_BASE_URL": "http://127.0.0.1:1",
    "BEAKER_INFERENCE_API_KEY": "model-key",
    "BEAKER_SCORER_INFERENCE_API_KEY": "judge-key",
}


def test_environments__models_reach_the_code__the_judge_only_the_scorer() -> None:
    """Nothing else of the caller's environment is passed on."""
    found = process_environments(ENVIRON, {"TOKEN": "granted"}, run_id="r", judge="openai:judge", kind="integration")
    assert found.code == {
        "PATH": "/bin",
        "TOKEN": "granted",
        "BEAKER_RUN_ID": "r",
        "BEAKER_INFERENCE_API_KEY": "model-key",
        "BEAKER_INFERENCE_BASE_URL": "http://127.0.0.1:1",
    }
    judging = {"BEAKER_SCORER_MODEL": "openai:judge", "BEAKER_SCORER_INFERENCE_API_KEY": "judge-key"}
    assert found.scorer == {**found.code, **judging}
    assert found.judged
    assert secret_values(ENVIRON, ["granted"]) == ["granted", "model-key", "judge-key"]
    assert secret_values({"PATH": "/bin"}, []) == []


@pytest.mark.parametrize(
    ("judge", "kind", "key", "scorer", "judged"),
    [
        (None, "integration", "k", {}, False),
        (None, "spec", "k", {"BEAKER_SCORER_INFERENCE_API_KEY": "k"}, True),
        (None, "spec", "", {}, True),
        ("a:b", "integration", "", {"BEAKER_SCORER_MODEL": "a:b"}, True),
    ],
)
def test_environments__judge__has_a_key_where_there_may_be_one(
    judge: str | None, kind: Any, key: str, scorer: dict[str, str], judged: bool
) -> None:
    """The key goes with a judge that the entry names, and to a Spec, which may name its judge itself; one that is empty
    is none, and so is the address of models."""
    environ = {"BEAKER_SCORER_INFERENCE_API_KEY": key, "BEAKER_INFERENCE_BASE_URL": ""}
    found = process_environments(environ, {}, run_id="e", judge=judge, kind=kind)
    assert found.code == {"BEAKER_RUN_ID": "e"}
    assert (found.scorer, found.judged) == ({"BEAKER_RUN_ID": "e", **scorer}, judged)
