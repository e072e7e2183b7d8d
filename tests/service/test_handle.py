"""The service as a function of requests: every route has an answer, and nothing a caller sends makes it raise."""

import json
from hashlib import sha256
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beaker.core.api import Request
from beaker.core.endpoints import ENDPOINTS
from beaker.service.handle import HANDLERS, handler_of
from beaker.service.ports import Caller
from beaker.service.unavailable import REASONS

SAMPLES = {"string": "x", "integer": 1, "boolean": True, "object": {}, "list": []}


def test_endpoints__each__is_answered_or_has_a_reason() -> None:
    """The table is covered: a handler, or a 501 that says what to use instead."""
    names = {endpoint.name for endpoint in ENDPOINTS}
    assert HANDLERS.keys() | REASONS.keys() == names
    assert HANDLERS.keys().isdisjoint(REASONS)
    assert all(callable(handler_of(name)) for name in HANDLERS)


@pytest.mark.parametrize("name", sorted(REASONS))
def test_unavailable__route__answers_501_with_a_way_out(world: Any, conforms: Any, name: str) -> None:
    """GitHub, logins, vendors: 501, the reason, and what to use instead."""
    endpoint = next(one for one in ENDPOINTS if one.name == name)
    places = [part[1:-1] for part in endpoint.path.split("/") if part.startswith("{")]
    arguments: dict[str, Any] = dict.fromkeys(places, "x")
    arguments |= {one.name: SAMPLES[one.kind] for one in (*endpoint.query, *(endpoint.body or ())) if one.required}
    response = world.raw(name, **arguments)
    refused = json.loads(response.body)
    conforms(refused, "error.json")
    assert (response.status, refused["detail"]["code"]) == (501, "BK452")
    assert refused["detail"]["hint"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v2/nothing", 404), ("DELETE", "/v1/optimization-runs", 405), ("GET", "", 404)],
)
def test_handle__unknown_route__says_so(world: Any, conforms: Any, method: str, path: str, status: int) -> None:
    """404, or 405 where the path exists, with the methods that it takes."""
    response = world.transport.send(Request(method=method, path=path))
    conforms(json.loads(response.body), "error.json")
    assert response.status == status
    assert response.headers.get("allow") == ("GET, POST" if status == 405 else None)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(st.data())
def test_handle__any_request__gets_an_answer_with_a_detail(world: Any, conforms: Any, data: st.DataObject) -> None:
    """Whatever arrives on any route, the answer is JSON, and a refusal has the published shape."""
    endpoint = data.draw(st.sampled_from(ENDPOINTS))
    path = "/".join(
        data.draw(st.sampled_from(["x", "run_1.0", "%2E", "%FF", "a%2Fb"])) if part.startswith("{") else part
        for part in endpoint.path.split("/")
    )
    parameters = [one.name for one in (*endpoint.query, *(endpoint.body or ()))]
    names = st.sampled_from([*parameters, "agent_key", "other"])
    values = data.draw(st.dictionaries(names, json_values, max_size=len(parameters) + 2)) | {"agent_key": "local"}
    body = data.draw(st.just(json.dumps(values).encode()) | st.binary(max_size=10))
    query = tuple((name, str(item)) for name, item in values.items()) if endpoint.body is None else ()
    response = world.transport.send(Request(method=endpoint.method, path=path, query=query, body=body))
    answered = json.loads(response.body)
    assert 200 <= response.status < 600
    assert response.status != 500
    if response.status >= 400:
        conforms(answered, "error.json")


def test_handle__store_that_fails__answers_with_the_reason(world: Any) -> None:
    """A full, busy or broken store is an answer, not an exception."""
    world.place.database.close()
    response = world.raw("list_optimization_runs")
    assert response.status == 500
    assert json.loads(response.body)["detail"]["code"] == "BK474"


def test_handle__disk_that_fails__answers_with_the_reason(world: Any) -> None:
    """An error of the disk is an answer that says what could not be done, and what to do."""
    announced = {"path": "train.jsonl", "size_bytes": 2, "sha256": sha256(b"{}").hexdigest()}
    answer = world.api.call("create_dataset_upload", name="inv", files=[announced]).unwrap()
    blobs = world.place.state_dir / "blobs"
    blobs.rmdir()
    blobs.write_bytes(b"")
    response = world.transport.upload(answer["files"][0]["upload_url"], {}, [b"{}"], 2)
    detail = json.loads(response.body)["detail"]
    assert (response.status, detail["code"], detail["hint"] != "") == (500, "BK701", True)


def test_handle__another_organization__sees_nothing(world: Any) -> None:
    """Agents belong to an organization; the same key elsewhere is another agent."""
    from beaker.core.api import build_request
    from beaker.service.handle import handle

    world.dataset()
    run = world.launch()
    request = build_request("get_optimization_run", {"run_id": run["id"]}, agent_key="local").unwrap()
    assert handle(request, Caller("local"), world.ports).status == 200
    assert handle(request, attrs.evolve(Caller("local"), organization="other"), world.ports).status == 404
    listed = handle(build_request("list_agents", {}).unwrap(), Caller("other"), world.ports)
    assert json.loads(listed.body)["agents"] == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("create_optimization_run", {"github_source": {"repository": "no/where"}, "dataset_ref": "none"}),
        ("create_dataset_upload", {"name": "n", "files": [{"path": "../x"}]}),
        ("get_optimization_run", {"run_id": "none"}),
        ("list_datasets", {}),
    ],
)
def test_agents__call_that_keeps_nothing__makes_none(world: Any, name: str, arguments: dict[str, Any]) -> None:
    """A refused launch or upload leaves no agent behind, and looking does not either."""
    world.api.call(name, agent_key="new", **arguments)
    assert world.api.call("list_agents").unwrap()["agents"] == []


def test_agents__key_that_cannot_be_shown__is_refused(world: Any) -> None:
    """Control characters, and more than a line can hold."""
    for key in ("a\x1b[2J", "k" * 256):
        assert world.api.call("get_current_agent", agent_key=key).failure().status == 422
    assert world.api.call("list_agents").unwrap()["agents"] == []


def test_agents__named_once__exist(world: Any, conforms: Any) -> None:
    """An agent is made on first use, with this checkout as its repository."""
    agent = world.api.call("get_current_agent").unwrap()
    conforms(agent, "agent.json")
    assert agent == world.api.call("get_current_agent").unwrap()
    assert (agent["key"], agent["github_repository"]) == ("local", "local/project")
    world.api.call("get_current_agent", agent_key="other").unwrap()
    assert [one["key"] for one in world.api.call("list_agents").unwrap()["agents"]] == ["local", "other"]
