"""Answers on record of decisions about what is said to and by a service: requests, answers, logins, uploads, runs."""

import importlib.util
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from returns.result import Failure

from beaker.core import api, datasets, login, pages, problems, results, retry, transfer
from beaker.core.credentials import choose_base_url, choose_credential
from beaker.core.logins import read_logins
from beaker.core.readiness import check_readiness, read_available
from beaker.core.runs import RUN_STATUSES, RunEvent, next_status, outcome

VECTORS = Path(__file__).parents[1] / "vectors"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LONG = "x" * 300
Table = tuple[Callable[..., object], list[Any]]
"""A decision, and the arguments of each row."""


def vectors(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


def first(rows: list[Any], number: int) -> list[Any]:
    """The first `number` columns of each row: what is given, without what is expected."""
    return [row[:number] for row in rows]


def each(*arguments: Any) -> list[Any]:
    """Rows of one argument."""
    return [[argument] for argument in arguments]


def request_of(call: str, arguments: dict[str, Any], **more: Any) -> object:
    made = api.build_request(call, arguments, **more)
    if isinstance(made, Failure):
        return made
    request = made.unwrap()
    return [request.method, request.path, request.query, dict(request.headers), request.body]


def arguments_of(method: str, path: str, query: Any = (), body: bytes = b"") -> object:
    match = api.match_request(method, path).unwrap()
    request = api.Request(method=method, path=path, query=tuple(map(tuple, query)), body=body)
    return api.read_arguments(match, request)


def response_of(call: str, status: int, body: str = "") -> object:
    return api.read_response(call, api.Response(status=status, body=body.encode()))


def declared(name: object, files: list[str], splits: dict[str, object], metadata: Any = None) -> object:
    made = [datasets.DatasetFile(file, 1, "0" * 64) for file in files]
    return datasets.declare_dataset(name, made, splits=splits, metadata=metadata)


def polled(*answers: dict[str, Any]) -> object:
    opened = {"challenge_id": "c", "poll_token": "p", "user_code": "AB-1", "approval_url": "https://app.example/cli"}
    state, _ = login.begin("https://api.example", host="box", timeout=600.0)
    at, said = 100.0, []
    for one in (opened, *answers):
        moved = login.step(state, login.Answered(one, at))
        if isinstance(moved, Failure):
            return moved
        state, commands = moved.unwrap()
        said += [state.phase, *commands, state.problem]
        at += 1.0
    return said


def transferred(*answers: dict[str, Any]) -> object:
    made = datasets.declare_dataset(
        "inv",
        [datasets.DatasetFile(file, 3, "0" * 64) for file in ("train.jsonl", "test.jsonl")],
        splits={"train": 1, "test": 1},
    ).unwrap()
    state, said = transfer.begin(made)
    told: list[object] = [state.phase, *said]
    for one in answers:
        event = transfer.FileSent(one["sent"]) if "sent" in one else transfer.Announced(one)
        if "expired" in one:
            event = transfer.FileExpired(one["expired"], problems.Problem("BK469", "too late"))  # type: ignore[assignment]  # one of four events
        if "complete" in one:
            event = transfer.Completed(one["complete"])  # type: ignore[assignment]  # one of four events
        moved = transfer.step(state, event)
        if isinstance(moved, Failure):
            return [*told, moved]
        state, commands = moved.unwrap()
        told += [state.phase, *commands, state.problem]
    return told


def built_anew(module: str, name: str) -> bool:
    """Whether a table that is made when a module is loaded comes out the same when it is loaded again."""
    loaded = importlib.import_module(module)
    spec = importlib.util.spec_from_file_location(module, loaded.__file__)
    assert spec is not None
    assert spec.loader is not None
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    return repr(getattr(again, name)) == repr(getattr(loaded, name))


DIGEST = datasets.declare_dataset(
    "inv",
    [datasets.DatasetFile(file, 3, "0" * 64) for file in ("train.jsonl", "test.jsonl")],
    splits={"train": 1, "test": 1},
).unwrap()
ARTIFACT = {"artifact_id": "art", "manifest_digest": DIGEST.manifest_digest, "status": "PENDING_UPLOAD"}
TARGET = {"path": "test.jsonl", "upload_url": "https://store/x?sig", "headers": {"a": 1}}
TABLES: dict[str, Table] = {
    "base url": (
        lambda row: choose_base_url(row["flag"], row["environ"], local=row["local"], configured=row["configured"]),
        each(*vectors("credentials")["base_url"]),
    ),
    "credential": (
        lambda row: choose_credential(
            row["flag"], read_logins(row["session"]), row["environ"], base_url="https://api.withbeaker.ai", now=NOW
        ),
        each(*vectors("credentials")["credential"]),
    ),
    "run outcome": (outcome, each(*(row[0] for row in vectors("runs")["exit_codes"]))),
    "run status": (lambda status: [next_status(status, event) for event in get_args(RunEvent)], each(*RUN_STATUSES)),
    "requests": (
        request_of,
        [
            ["no_such_call", {}],
            ["get_optimization_run", {}],
            ["get_optimization_run", {"run_id": ".."}],
            ["get_optimization_run", {"run_id": "."}],
            ["get_optimization_run", {"run_id": 7}],
            ["get_optimization_run", {"run_id": "a/b c"}],
            ["get_optimization_run", {"run_id": "r", "color": "red", "b": 1}],
            ["list_optimization_runs", {"limit": "many"}],
            ["resolve_dataset", {}],
            ["get_dataset_download_urls", {}],
            ["get_dataset_download_urls", {"reference": "a", "artifact_id": "b"}],
            ["get_dataset_download_urls", {"reference": "a", "agent_key": "k"}],
            ["create_optimization_run", {"config": {"seed": float("nan")}, "agent_key": "k"}],
            ["create_optimization_run", {"config": {"seed": 1}, "agent_key": "k"}],
            ["get_current_agent", {"agent_key": "  "}],
            ["get_current_agent", {}],
        ],
    ),
    "request with a key": (
        lambda call: request_of(call, {"agent_key": "k"}, idempotency_key="key"),
        each("get_current_agent", "create_optimization_run"),
    ),
    "routes": (
        api.match_request,
        [
            ["GET", "/v1/nothing"],
            ["GET", "/v1/optimization-runs/"],
            ["DELETE", "/v1/optimization-runs"],
            ["GET", "/v1/datasets/uploads"],
            ["PATCH", "/v1/datasets"],
            ["GET", "/v1/agents/current"],
        ],
    ),
    "arguments": (
        arguments_of,
        [
            ["GET", "/v1/datasets/resolve", [["limit", "5"], ["b", "1"], ["agent_key", " "], ["agent_key", "x"]]],
            ["GET", "/v1/datasets", [["limit", "ten"], ["agent_key", ""]]],
            ["GET", "/v1/datasets/download-urls", [["agent_key", "k"]]],
            ["GET", "/v1/datasets/download-urls", [["agent_key", "k"], ["reference", "x"], ["artifact_id", "x"]]],
            ["GET", "/v1/datasets/download-urls", [["agent_key", "k"], ["reference", "x"]]],
            ["POST", "/v1/optimization-runs", [], b"{"],
            ["POST", "/v1/optimization-runs", [], b"[]"],
            ["POST", "/v1/optimization-runs", [], b"\xff"],
            ["POST", "/v1/optimization-runs", [], b""],
            ["POST", "/v1/optimization-runs", [["x", "y"]], b'{"agent_key": 7, "zz": 1, "config": []}'],
            ["POST", "/v1/optimization-runs", [["agent_key", "k"]], b'{"config": {}}'],
        ],
    ),
    "responses": (
        response_of,
        [
            *(
                ["list_agents", status, body]
                for status in (200, 299, 300)
                for body in ("[]", "<html>", '{"agents": {}}', "{}", '{"agents": []}')
            ),
            *(
                ["list_agents", status, body]
                for status in (199, 301, 400, 401, 403, 404, 405, 409, 422, 429, 499, 500, 503)
                for body in ("", '{"detail": "no"}', '{"detail": [{"msg": "a"}, {"loc": ["b"]}]}', "text", LONG * 9)
            ),
            ["list_agents", 422, '{"detail": {"code": "BK455", "message": "unknown", "hint": "upload"}}'],
            ["list_agents", 409, '{"detail": {"code": "OTHER", "n": 1}}'],
        ],
    ),
    "login": (
        polled,
        [
            *([row[0]] for row in vectors("login")["polls"]),
            [{"status": "pending"}, {"status": "expired"}],
            [{"status": "denied"}],
        ],
    ),
    "challenge": (login.read_challenge, first(vectors("login")["challenges"], 1)),
    "upload": (
        transferred,
        [
            [
                {"artifact": ARTIFACT, "files": [TARGET]},
                {"sent": "test.jsonl"},
                {"complete": {"artifact": {**ARTIFACT, "status": "COMPLETE"}}},
            ],
            [{"artifact": ARTIFACT, "files": [TARGET]}, {"sent": "other"}],
            [
                {"artifact": ARTIFACT, "files": [TARGET]},
                {"expired": "test.jsonl"},
                {"artifact": ARTIFACT, "files": [TARGET]},
                {"expired": "test.jsonl"},
            ],
            [{"artifact": ARTIFACT, "files": []}, {"complete": {}}],
            [{"artifact": ARTIFACT, "files": []}, {"complete": {"artifact": ARTIFACT}}],
            [
                {"artifact": ARTIFACT, "files": []},
                {"complete": {"artifact": {**ARTIFACT, "status": "COMPLETE", "manifest_digest": "x"}}},
            ],
            [{"artifact": {**ARTIFACT, "manifest_digest": None}, "files": []}],
            [{"artifact": None}],
            [{"artifact": {**ARTIFACT, "artifact_id": 7}, "files": []}],
            [{"artifact": ARTIFACT, "files": None}],
            [{"artifact": ARTIFACT, "files": ["x"]}],
            [{"artifact": ARTIFACT, "files": [{**TARGET, "path": "other"}]}],
            [{"artifact": ARTIFACT, "files": [TARGET, TARGET]}],
            [{"artifact": ARTIFACT, "files": [{**TARGET, "upload_url": None}]}],
            [{"artifact": ARTIFACT, "files": [{**TARGET, "headers": []}]}],
            [{"artifact": {**ARTIFACT, "status": "COMPLETE"}, "reused": True}],
        ],
    ),
    "results": (
        lambda read, body: getattr(results, read)(body),
        [
            [f"read_{what}", body]
            for what in ("run", "candidate", "eval_report", "dataset")
            for body in ({}, {"id": "x1", "artifact_id": "x1", "status": "completed", "created_at": "2026-01-02"}, [])
        ],
    ),
    "pages": (
        lambda *given: pages.read_page(*given, limit=2, offset=0).map(lambda page: [*page.items, page.next_offset]),
        [
            [{"runs": [{"id": "a"}, {"id": "b"}], "total": total}, key]
            for total in (2, 3, None)
            for key in ("runs", "x")
        ],
    ),
    "asked waits": (
        lambda retry_after, date: retry.asked_seconds(retry.Trouble(503, retry_after, date), now=NOW),
        [["", ""], ["7", ""], ["Thu, 01 Jan 2026 18:00:10 GMT", "Thu, 01 Jan 2026 18:00:00 GMT"]],
    ),
    "tables": (built_anew, [["beaker.core.endpoints", "ENDPOINTS"]]),
    "readiness": (
        lambda declared_names, available: check_readiness(declared_names, read_available(*available)),
        [
            [row["declared"], [{"env_vars": [{"name": n} for n in row.get("agent", ())]}, {}]]
            for row in vectors("readiness")["table"]
        ]
        + [[wrong, [None, None]] for wrong in (None, "A", ["PATH"], [7])],
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_decision__every_row__answers_as_on_record(name: str, on_record: Callable[..., None]) -> None:
    """Values, codes, places, messages and hints are those that were read and found good."""
    on_record(name, *TABLES[name])
