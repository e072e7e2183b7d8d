"""The public client: every method is its endpoint's call, and whatever does not succeed is one kind of error."""

import asyncio
import copy
import dataclasses
import inspect
import itertools
import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import beaker
import beaker.client
from beaker.client.async_public import AsyncBeakerClient
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
    "objects": [{"path": "p"}],
}
CLIENTS = (BeakerClient, AsyncBeakerClient)
MORE = {
    "close", "create_optimization_run_from_config", "get_run", "iter_runs", "wait_for_run", "get_candidate",
    "get_candidates", "get_eval_reports", "get_change_sets", "get_dataset", "iter_datasets", "pull",
    "upload_dataset_directory", "upload_dataset_files", "upload_artifact_directory", "upload_artifact_files",
}  # fmt: skip
"""Public methods that are no endpoint's."""


def client(server: Any, **more: Any) -> BeakerClient:
    return BeakerClient(server.url, TOKEN, **{"agent_key": "agent", **more})


def arguments_of(endpoint: Endpoint) -> dict[str, Any]:
    """A value for every parameter of an endpoint, or for the one of several that may be given."""
    parameters = {parameter.name: parameter for parameter in (*endpoint.query, *(endpoint.body or ()))}
    given = {name: EXAMPLES[parameter.kind] for name, parameter in parameters.items()}
    given |= dict.fromkeys(re.findall(r"\{(\w+)\}", endpoint.path), "ä/b")
    for name in endpoint.exactly_one[1:]:
        del given[name]
    if endpoint.name == "create_optimization_run":
        del given["dataset_id"]
        given["config"] = {"extra": {"k": 1}}
    return given


def used(made: Any, name: str, /, *args: Any, **arguments: Any) -> Any:
    """What a method gives, of a client of either kind."""
    came = getattr(made, name)(*args, **arguments)
    return asyncio.run(came) if inspect.isawaitable(came) else came


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_method__sends_the_request_of_its_endpoint(server: Any, endpoint: Endpoint) -> None:
    """Every parameter can be given and arrives; an argument's agent key or token wins over the client's."""
    answer = {name: EXAMPLES[kind] for name, kind in endpoint.answer}
    server.answer = lambda seen: (200, {}, json.dumps(answer).encode())
    given = arguments_of(endpoint)
    choices: list[dict[str, str]] = [{}, {"agent_key": "other"}] if endpoint.agent_key else [{}]
    choices += [{"cli_token": "bkr_cli_other"}] if endpoint.auth == "session" else []
    for kind, choice in itertools.product(CLIENTS, choices):
        made = kind(server.url, TOKEN, agent_key="agent")
        method = getattr(made, endpoint.name)
        returned = used(made, endpoint.name, *_positional(method, given), **_named(method, given), **choice)
        silent = endpoint.name in ("delete_agent_env_var", "logout_user")
        assert returned == (None if silent else answer)
        key = {name: text for name, text in choice.items() if name == "agent_key"}
        wanted = build_request(endpoint.name, {**given, **key}, agent_key="agent").unwrap()
        seen = server.seen[-1]
        assert seen.method == wanted.method
        assert seen.target.partition("?")[0] == wanted.path
        assert seen.body == (wanted.body or b"")
        assert ("other" in f"{seen.target}{seen.body!r}") is bool(key)
        bearer = None if endpoint.auth == "none" else f"Bearer {choice.get('cli_token', TOKEN)}"
        assert seen.headers.get("authorization") == bearer
        assert seen.headers["user-agent"] == f"beaker/{beaker.__version__}"


@pytest.mark.parametrize("kind", CLIENTS)
@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_method__takes_the_parameters_of_its_endpoint(endpoint: Endpoint, kind: Any) -> None:
    """The same names, the same defaults, and nothing that would be ignored; the result is no generator of steps."""
    method = getattr(kind, endpoint.name)
    signature = inspect.signature(method)
    declared = {parameter.name: parameter for parameter in (*endpoint.query, *(endpoint.body or ()))}
    places = re.findall(r"\{(\w+)\}", endpoint.path)
    also = {"agent_key"} if endpoint.agent_key else set()
    also |= {"idempotency_key"} if endpoint.repeatable else set()
    also |= {"cli_token"} if endpoint.auth == "session" else set()
    assert set(signature.parameters) - {"self"} == {*declared, *places, *also}
    for name, parameter in declared.items():
        default = signature.parameters[name].default
        if not parameter.required and default is not inspect.Parameter.empty and default is not None:
            assert default == parameter.default
    assert "Generator" not in str(signature.return_annotation)
    assert inspect.iscoroutinefunction(method) is kind.awaits
    assert method.__doc__
    assert method.__qualname__.endswith(endpoint.name)


@pytest.mark.parametrize("kind", CLIENTS)
def test_client__every_public_method__is_an_endpoint_or_takes_several(kind: Any) -> None:
    """No endpoint without a method, and no other method than those that are known here."""
    methods = {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}
    assert methods == {*ENDPOINT, *MORE}


def _positional(method: Any, given: dict[str, Any]) -> list[Any]:
    names = inspect.signature(method).parameters.values()
    return [given[one.name] for one in names if one.kind is one.POSITIONAL_OR_KEYWORD]


def _named(method: Any, given: dict[str, Any]) -> dict[str, Any]:
    positional = [
        one.name for one in inspect.signature(method).parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD
    ]
    return {name: argument for name, argument in given.items() if name not in positional}


@pytest.mark.parametrize("kind", CLIENTS)
def test_client__is_a_frozen_value_that_hides_its_key(kind: Any) -> None:
    """Fields in the contract's order, the key in no representation."""
    made = kind("https://api.example", TOKEN)
    assert [field.name for field in dataclasses.fields(made)] == [
        "base_url", "api_key", "timeout_seconds", "agent_key",
    ]  # fmt: skip
    assert (kind("x").api_key, made.timeout_seconds, made.agent_key) == ("", 30.0, None)
    assert TOKEN not in repr(made)
    assert made == copy.deepcopy(made) == dataclasses.replace(made, timeout_seconds=30.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.api_key = "other"
    assert pickle.loads(pickle.dumps(made)) == made


@pytest.mark.parametrize(
    ("body", "detail", "words"),
    [
        (b'{"detail": "no such run"}', "no such run", "no such run"),
        (b'{"detail": {"a": 1}}', {"a": 1}, '{"a": 1}'),
        (b'{"detail": {"message": "gone", "code": "X"}}', {"message": "gone", "code": "X"}, "gone"),
        (b"x\x1b[2J", "x\x1b[2J", "x\\x1b[2J"),
        (b"", None, ""),
    ],
)
def test_call__refused__carries_what_the_service_said(server: Any, body: bytes, detail: Any, words: str) -> None:
    """The status, the whole body, its detail, and what the service calls the request; control characters are shown."""
    server.answer = lambda seen: (409, {"X-Request-Id": "req-7"}, body)
    with pytest.raises(BeakerClientError) as caught:
        client(server).cancel_optimization_run("run_1")
    assert isinstance(caught.value, RuntimeError)
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        found = (error.status_code, error.body, error.detail, error.request_id)
        assert found == (409, body.decode(), detail, "req-7")
        assert str(error) == f"HTTP 409: {words} (request req-7)"
        assert TOKEN not in repr(error)


def test_call__401__says_to_log_in_again(server: Any) -> None:
    """What to do stands in the error."""
    server.answer = lambda seen: (401, {}, b'{"detail": "expired"}')
    with pytest.raises(BeakerClientError, match=r"^HTTP 401: expired; log in again .*beaker login"):
        client(server).list_agents()


def test_error__made_by_hand__is_what_it_always_was() -> None:
    """Two arguments are enough."""
    error = BeakerClientError(500, "broken")
    assert (error.status_code, error.body, error.detail, error.request_id) == (500, "broken", None, "")
    assert str(error) == "HTTP 500: broken"


def test_error__with_markup__shows_no_signature() -> None:
    """The words of an error go into logs; what a store wrote about a signature stays in its body."""
    signed = "<Error><Code>AccessDenied</Code><StringToSign>s1gned</StringToSign></Error>"
    assert str(BeakerClientError(403, signed)) == "HTTP 403: AccessDenied"
    assert str(BeakerClientError(502, "<html>s1gned</html>", hint="try again later")) == "HTTP 502: try again later"


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
    """It is this side that refuses; a blank key is none, even where the client has one."""
    for made, arguments in ((client(server, agent_key=None), {}), (client(server), {"agent_key": " "})):
        with pytest.raises(ValueError, match="no agent key is given"):
            made.list_datasets(**arguments)
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
