"""The stub of the hosted service keeps the contract that clients are tested against."""

from typing import Any

import pytest

from beaker.client.api import Api
from beaker.client.network import HttpTransport
from beaker.core.endpoints import ENDPOINTS, Endpoint

PATH = {"agent_id": "ag_1", "run_id": "run_41", "candidate_id": "cand_1", "artifact_id": "art_1", "job_id": "job_1",
        "version": "v3", "name": "invoices"}  # fmt: skip


def arguments(endpoint: Endpoint) -> dict[str, Any]:
    """Arguments that an endpoint takes."""
    values = {"string": "x", "list": [], "object": {}, "integer": 1, "boolean": True}
    needed = [parameter for parameter in (*endpoint.query, *(endpoint.body or ())) if parameter.required]
    return {
        **{name: text for name, text in PATH.items() if f"{{{name}}}" in endpoint.path},
        **{parameter.name: values[parameter.kind] for parameter in needed},
        **({"reference": "invoices"} if endpoint.name == "resolve_dataset" else {}),
        **dict.fromkeys(endpoint.exactly_one[-1:], "art_1"),
    }


@pytest.mark.parametrize("endpoint", [one for one in ENDPOINTS if one.auth != "none"], ids=lambda one: one.name)
def test_hosted__every_endpoint__is_answered_as_the_contract_says(hosted: Any, endpoint: Endpoint) -> None:
    """Each answer has the keys that its reader needs; a foreign credential is refused first."""
    token = hosted.session if endpoint.auth == "session" else hosted.api_key
    for bearer, status in ((token, None), ("other", 401)):
        transport = HttpTransport(hosted.url, bearer)
        called = Api(transport, hosted.agent_key).once(endpoint.name, **arguments(endpoint))
        transport.close()
        assert called.swap().map(lambda problem: problem.status).value_or(None) == status, called
    assert len(hosted.asked(endpoint.method, endpoint.path)) == 2


def test_hosted__told_otherwise__answers_that(hosted: Any) -> None:
    """Answers for the next requests come first and in order, then the one for good; status 0 drops the connection."""
    hosted.answer("GET", "/v1/optimization-runs/{run_id}", 200, lambda asked: {"id": asked.path[-1], "status": "A"})
    hosted.answer("GET", "/v1/optimization-runs/r1", 503, {"detail": "busy"}, times=1, headers={"retry-after": "0"})
    hosted.answer("GET", "/v1/optimization-runs/r1", 0, times=1)
    transport = HttpTransport(hosted.url, hosted.api_key)
    run = Api(transport, hosted.agent_key, sleep=lambda seconds: None).call("get_optimization_run", run_id="r1")
    transport.close()
    assert run.unwrap() == {"id": "1", "status": "A"}
    assert len(hosted.requests) == 3
