"""One walk through the API, at every kind of place: in-process, across TCP, and a hosted one as it was recorded."""

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import uvicorn
from returns.pipeline import is_successful
from returns.result import Result

from beaker.client.api import Api
from beaker.client.dataset_downloads import download_dataset
from beaker.client.flows import upload_dataset
from beaker.client.network import HttpTransport
from beaker.core.launch import DatasetChoice
from beaker.service.desks import Desks
from beaker.service.http import Doors, ServiceDesk, application
from beaker.service.place import open_place

RECORDED = json.loads((Path(__file__).parents[1] / "vectors" / "hosted" / "exchanges.json").read_text("utf-8"))
ROWS = {"train.jsonl": '{"id":"t1","input":{"q":"2+2"},"expected":{"a":4}}\n',
        "test.jsonl": '{"id":"h1","input":{"q":"3+3"},"expected":{"a":6}}\n'}  # fmt: skip
REVISION = "sha256:444b17fa3b9a7d7d8471f9345889dc7ae2d1c341547c459b953a7ed26a0c6d03"
AGENT = "inv-agent"
TOKEN = "a token for tests, long enough to be one"


@pytest.fixture
def embedded(world: Any) -> Api:
    """The place, called in-process."""
    return Api(world.transport, AGENT)


@pytest.fixture
def served(world: Any) -> Iterator[Api]:
    """The same behind HTTP."""

    def desk() -> ServiceDesk:
        place = open_place(world.place.state_dir)
        return ServiceDesk(place, attrs.evolve(world.ports, database=place.database, blobs=place.blobs))

    desks = Desks(desk, 2)
    doors = Doors(token=TOKEN, key=b"k" * 32, bound="http://127.0.0.1")
    config = uvicorn.Config(application(desks, doors, print), ws="none", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        transport = HttpTransport(f"http://127.0.0.1:{listening.getsockname()[1]}", TOKEN)
        yield Api(transport, AGENT)
        transport.close()
        server.should_exit = True
        thread.join()
    desks.close()


@pytest.fixture
def recorded(hosted: Any) -> Iterator[Api]:
    """A hosted place that answers as it did when it was recorded."""
    for one in RECORDED["exchanges"]:
        answer = json.loads(json.dumps(one["answer"]).replace('"*/', f'"{hosted.url}/'))
        hosted.answer(one["method"], one["path"], one["status"], answer, times=1)
    transport = HttpTransport(hosted.url, hosted.api_key)
    yield Api(transport, AGENT)
    transport.close()


def said(result: Result[Any, Any]) -> Any:
    """What a call answered, or the status with which it was refused."""
    return result.unwrap() if is_successful(result) else result.failure().status


def picked(item: Any, *keys: str) -> dict[str, Any]:
    """Some keys of an object."""
    return {key: item[key] for key in keys}


def walk(api: Api, folder: Path) -> list[Any]:
    """What a client learns on its way through the API, of what the contract promises."""
    data = folder / "data"
    data.mkdir()
    for name, text in ROWS.items():
        (data / name).write_text(text, encoding="utf-8")
    seen: list[Any] = [
        said(api.call("get_current_agent"))["key"],
        said(api.call("resolve_dataset", reference="invoices")),
    ]
    for _ in range(2):
        artifact = upload_dataset(api, data, name="invoices").unwrap()
        seen.append(picked(artifact, "status", "manifest_digest", "dataset_revision", "artifact_key", "reused"))
    dataset_id = artifact["artifact_id"]
    page = said(api.call("list_datasets"))
    seen += [page["total"], said(api.call("list_datasets", limit=1, offset=1))["datasets"]]
    seen += [
        picked(one, "name", "revision", "is_production", "sample_counts", "status")
        | {"same": one["artifact_id"] == dataset_id}
        for one in page["datasets"]
    ]
    for reference in ("invoices", "invoices@production", f"invoices@{REVISION}"):
        dataset = said(api.call("resolve_dataset", reference=reference))["dataset"]
        seen.append(picked(dataset, "name", "revision", "reference", "is_production", "sample_counts", "metadata"))
        seen.append(sorted((file["path"], file["size_bytes"]) for file in dataset["files"]))
    for choice in (DatasetChoice(reference="invoices"), DatasetChoice(artifact_id=dataset_id)):
        there = folder / f"by-{choice.reference}"
        there.mkdir()
        seen.append(sorted(download_dataset(api, choice, there).unwrap()))
        seen.append({name: (there / name).read_text(encoding="utf-8") for name in ROWS})
    seen.append(is_successful(api.call("promote_dataset", name="invoices", revision=REVISION)))

    config = {"harness_optimization": {"command": ["python", "{project}/propose.py"]}, "test_baseline": True}
    launch: dict[str, Any] = {
        "config": config,
        "dataset_ref": f"invoices@{REVISION}",
        "github_source": {"integration_id": "demo"},
        "trigger_metadata": {"trigger_reason": "nightly"},
    }
    key = "nightly-7"
    first = said(api.call("create_optimization_run", idempotency_key=key, **launch))
    again = said(api.call("create_optimization_run", idempotency_key=key, **launch))
    seen.append(
        (first["status"] in ("PREPARING_BUILD", "QUEUED"), first["id"] == again["id"], "github_ref" in first["config"])
    )
    other = said(api.call("create_optimization_run", idempotency_key=key, **launch | {"trigger_metadata": {}}))
    unknown = said(api.call("create_optimization_run", **launch | {"config": {"no_such_key": 1}}))
    seen += [other, unknown]
    run_id = first["id"]
    run = said(api.call("get_optimization_run", run_id=run_id))
    seen += [(run["id"] == run_id, run["status"], run["error_message"])]
    seen.append(said(api.call("get_optimization_run", run_id="run_none")))
    for filters in (
        {},
        {"limit": 1, "offset": 3, "status": "COMPLETED", "trigger_reason": "nightly"},
        {"trigger_reason": "nightly"},
    ):
        page = said(api.call("list_optimization_runs", **filters))
        seen.append(([one["id"] == run_id for one in page["runs"]], page["total"], page["offset"], page["limit"]))
    seen.append(said(api.call("list_candidates", run_id=run_id))["candidates"])
    seen.append(said(api.call("list_eval_reports", run_id=run_id))["eval_reports"])
    seen.append(said(api.call("get_optimization_candidate", candidate_id=f"{run_id}.9")))
    for _ in range(2):
        cancelled = said(api.call("cancel_optimization_run", run_id=run_id))
        seen.append((cancelled["id"] == run_id, cancelled["status"]))
    return [*seen, [agent["key"] for agent in said(api.call("list_agents"))["agents"]]]


@pytest.mark.parametrize("place", ["embedded", "served", "recorded"])
def test_walk__through_the_api__learns_the_same_everywhere(
    request: pytest.FixtureRequest, tmp_path: Path, place: str
) -> None:
    """What a client learns on its way does not depend on where the API is."""
    learnt = json.loads(json.dumps(walk(request.getfixturevalue(place), tmp_path)))
    assert learnt == RECORDED["learnt"]


def test_walk__recorded_place__is_asked_what_was_recorded(recorded: Api, hosted: Any, tmp_path: Path) -> None:
    """Method, path, query, body and key of every request, in that order; no credential at the store."""
    walk(recorded, tmp_path)
    asked = [one for one in hosted.requests if one.path.startswith("/v1/")]
    for request, one in zip(asked, RECORDED["exchanges"], strict=True):
        assert (request.method, request.path) == (one["method"], one["path"])
        assert request.query == one.get("query", {})
        assert request.body == one.get("body")
        assert request.headers.get("idempotency-key") == one.get("key")
    stored = [one for one in hosted.requests if one.path.startswith("/store/")]
    assert len(stored) == 6
    assert all("authorization" not in one.headers for one in stored)
