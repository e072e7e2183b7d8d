"""The public client: every method is its endpoint's call, and whatever does not succeed is one kind of error."""

import copy
import dataclasses
import inspect
import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import beaker
import beaker.client
from beaker.client.errors import BeakerClientError
from beaker.client.public import BeakerClient
from beaker.core import transfer
from beaker.core.api import build_request
from beaker.core.datasets import DatasetFile, manifest_digest
from beaker.core.endpoints import ENDPOINT, ENDPOINTS, Endpoint

TOKEN = "bkr_live_secret"
EXAMPLES: dict[str, Any] = {
    "string": "ä/b",
    "integer": 7,
    "boolean": False,
    "object": {"k": 1},
    "list": [{"path": "p"}],
}
CALLS = [endpoint for endpoint in ENDPOINTS if endpoint.auth == "either"]


def client(server: Any, **more: Any) -> BeakerClient:
    return BeakerClient(server.url, TOKEN, **{"agent_key": "agent", **more})


def arguments_of(endpoint: Endpoint) -> dict[str, Any]:
    """A value for every parameter of an endpoint, or for the one of several that may be given."""
    parameters = {parameter.name: parameter for parameter in (*endpoint.query, *(endpoint.body or ()))}
    given = {name: EXAMPLES[parameter.kind] for name, parameter in parameters.items()}
    given |= dict.fromkeys(re.findall(r"\{(\w+)\}", endpoint.path), "ä/b")
    for name in endpoint.exactly_one[1:]:
        del given[name]
    return given


@pytest.mark.parametrize("endpoint", CALLS, ids=lambda endpoint: endpoint.name)
def test_method__sends_the_request_of_its_endpoint(server: Any, endpoint: Endpoint) -> None:
    """Every parameter can be given and arrives; an argument's agent key wins over the client's."""
    answer = {name: EXAMPLES[kind] for name, kind in endpoint.answer}
    server.answer = lambda seen: (200, {}, json.dumps(answer).encode())
    given = arguments_of(endpoint)
    method = getattr(client(server), endpoint.name)
    keys = [{}, {"agent_key": "other"}] if endpoint.agent_key else [{}]
    for key in keys:
        returned = method(*_positional(method, given), **_named(method, given), **key)
        assert returned == (None if endpoint.method == "DELETE" else answer)
        wanted = build_request(endpoint.name, {**given, **key}, agent_key="agent").unwrap()
        seen = server.seen[-1]
        assert seen.method == wanted.method
        assert seen.target.partition("?")[0] == wanted.path
        assert seen.body == (wanted.body or b"")
        assert ("other" in f"{seen.target}{seen.body!r}") is bool(key)
        assert seen.headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("endpoint", CALLS, ids=lambda endpoint: endpoint.name)
def test_method__takes_the_parameters_of_its_endpoint(endpoint: Endpoint) -> None:
    """The same names, the same defaults, and nothing that would be ignored."""
    signature = inspect.signature(getattr(BeakerClient, endpoint.name)).parameters
    declared = {parameter.name: parameter for parameter in (*endpoint.query, *(endpoint.body or ()))}
    places = re.findall(r"\{(\w+)\}", endpoint.path)
    also = {"agent_key"} if endpoint.agent_key else set()
    also |= {"idempotency_key"} if endpoint.repeatable else set()
    assert set(signature) - {"self"} == {*declared, *places, *also}
    for name, parameter in declared.items():
        default = signature[name].default
        if not parameter.required and default is not inspect.Parameter.empty and default is not None:
            assert default == parameter.default


def test_client__every_public_method__is_an_endpoint_or_an_upload() -> None:
    """No method without an endpoint."""
    methods = {name for name, _ in inspect.getmembers(BeakerClient, inspect.isfunction) if not name.startswith("_")}
    assert methods == {endpoint.name for endpoint in CALLS} | {"upload_dataset_directory"}
    assert ENDPOINT


def _positional(method: Any, given: dict[str, Any]) -> list[Any]:
    names = inspect.signature(method).parameters.values()
    return [given[one.name] for one in names if one.kind is one.POSITIONAL_OR_KEYWORD]


def _named(method: Any, given: dict[str, Any]) -> dict[str, Any]:
    positional = [
        one.name for one in inspect.signature(method).parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD
    ]
    return {name: argument for name, argument in given.items() if name not in positional}


def test_client__is_a_frozen_value_that_hides_its_key() -> None:
    """Fields in the contract's order, the key in no representation."""
    made = BeakerClient("https://api.example", TOKEN)
    assert [field.name for field in dataclasses.fields(made)] == [  # type: ignore[arg-type]  # attrs answers too
        "base_url", "api_key", "timeout_seconds", "agent_key",
    ]  # fmt: skip
    assert (BeakerClient("x").api_key, made.timeout_seconds, made.agent_key) == ("", 30.0, None)
    assert TOKEN not in repr(made)
    assert made == copy.deepcopy(made) == dataclasses.replace(made, timeout_seconds=30.0)  # type: ignore[type-var]
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.api_key = "other"  # type: ignore[misc]  # the point of the test


def test_call__refused__carries_status_and_body(server: Any) -> None:
    """What the service said, text or JSON, with its status; nothing shows the key."""
    for body, said in (
        (b'{"detail": "no such run"}', "no such run"),
        (b'{"detail": {"a": 1}}', '{"a":1}'),
        (b"x", "x"),
    ):
        server.answer = lambda seen, body=body: (409, {}, body)
        with pytest.raises(BeakerClientError) as caught:
            client(server).cancel_optimization_run("run_1")
        assert (caught.value.status_code, caught.value.body) == (409, said)
        assert str(caught.value) == f"HTTP 409: {said}"
        assert isinstance(caught.value, RuntimeError)
        again = pickle.loads(pickle.dumps(caught.value))
        assert (again.status_code, again.body, str(again)) == (409, said, f"HTTP 409: {said}")


def test_get__unknown_id__is_none(server: Any) -> None:
    """A run or a candidate that does not exist is no error; any other status is."""
    server.answer = lambda seen: (404, {}, b'{"detail": "unknown"}')
    assert client(server).get_optimization_run("x") is None
    assert client(server).get_optimization_candidate("x") is None
    with pytest.raises(BeakerClientError, match="HTTP 404: unknown"):
        client(server).list_candidates("x")
    server.answer = lambda seen: (403, {}, b"")
    with pytest.raises(BeakerClientError, match="HTTP 403"):
        client(server).get_optimization_run("x")


@pytest.mark.parametrize(
    "made, words",
    [
        (BeakerClient("https://api.example"), "credential is empty"),
        (BeakerClient("ftp://api.example", TOKEN), "must start with https://"),
        (BeakerClient("http://127.0.0.1:9", TOKEN, 2.0), "no answer from http://127.0.0.1:9"),
    ],
)
def test_call__no_http_status__is_status_zero(made: BeakerClient, words: str) -> None:
    """A missing credential, an address that cannot be used, nobody who answers."""
    with pytest.raises(BeakerClientError, match=words) as caught:
        made.create_agent(name="n", github_repository="o/r", beaker_config_path="p")
    assert caught.value.status_code == 0
    assert str(caught.value) == f"no HTTP status (0): {caught.value.body}"
    assert TOKEN not in str(caught.value)


def test_call__without_an_agent_key__is_refused_before_anything_is_sent(server: Any) -> None:
    """It is this side that refuses."""
    with pytest.raises(BeakerClientError, match="no agent key is given") as caught:
        client(server, agent_key=None).list_datasets()
    assert caught.value.status_code == 0
    assert server.seen == []


def test_call__wrong_argument__is_a_value_error(server: Any) -> None:
    """As the contract says of arguments; nothing is sent."""
    with pytest.raises(ValueError, match="run_id, a non-empty string"):
        client(server).get_optimization_run("")
    with pytest.raises(ValueError, match="exactly one of reference, artifact_id"):
        client(server).get_dataset_download_urls()
    assert server.seen == []


def test_upload__folder_with_faults__is_a_value_error_with_all_of_them(server: Any, tmp_path: Path) -> None:
    """Nothing is sent of a dataset that none could use."""
    (tmp_path / "train.jsonl").write_text("[1]\n{\n")
    with pytest.raises(ValueError, match=r"(?s)train.jsonl.*test") as caught:
        client(server).upload_dataset_directory(tmp_path, name="d")
    assert not isinstance(caught.value, BeakerClientError)
    assert server.seen == []


def test_upload__whole_folder__gives_the_artifact(server: Any, tmp_path: Path) -> None:
    """Announced with its counts, and found to be there already."""
    for split in ("train", "test"):
        (tmp_path / f"{split}.jsonl").write_text('{"id": "1"}\n')

    def answer(seen: Any) -> tuple[int, dict[str, str], bytes]:
        files = [DatasetFile(one["path"], one["size_bytes"], one["sha256"]) for one in json.loads(seen.body)["files"]]
        digest = manifest_digest(files).unwrap()
        artifact = {"artifact_id": "a1", "status": transfer.COMPLETE, "manifest_digest": digest}
        return 200, {}, json.dumps({"artifact": artifact, "files": [], "reused": True}).encode()

    server.answer = answer
    made = client(server).upload_dataset_directory(str(tmp_path), name="d", metadata={"k": 1}, promote=False)
    assert (made["artifact_id"], made["reused"]) == ("a1", True)
    sent = json.loads(server.seen[0].body)
    assert (sent["name"], sent["splits"], sent["metadata"], sent["promote"]) == (
        "d", {"train": 1, "test": 1}, {"k": 1}, False,
    )  # fmt: skip
    server.answer = lambda seen: (409, {}, b'{"detail": "taken"}')
    with pytest.raises(BeakerClientError, match="HTTP 409: taken"):
        client(server).upload_dataset_directory(tmp_path, name="d")


def test_names__are_found_in_beaker_and_beaker_client() -> None:
    """Both homes give the same classes, without loading HTTP for the error."""
    assert beaker.BeakerClient is beaker.client.BeakerClient is BeakerClient
    assert beaker.BeakerClientError is beaker.client.BeakerClientError is BeakerClientError
