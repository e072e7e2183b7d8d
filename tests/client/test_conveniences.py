"""What clients do beyond single calls, each of both kinds: connections, values, pages, waiting, files, launches."""

import asyncio
import gc
import hashlib
import inspect
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.client import AsyncBeakerClient, BeakerClient, BeakerClientError, Run
from beaker.config import BeakerConfig
from beaker.core.changesets import change_set_to_json
from beaker.core.documents import CreateDocumentChange, DocumentChangeSet

RUN = "/v1/optimization-runs/{run_id}"
Use = Callable[..., Any]


def client(hosted: Any, kind: Any = BeakerClient, **more: Any) -> Any:
    return kind(hosted.url, hosted.api_key, **{"agent_key": hosted.agent_key, **more})


@pytest.fixture(params=[BeakerClient, AsyncBeakerClient], ids=["blocking", "awaited"])
def use(request: pytest.FixtureRequest, hosted: Any) -> Use:
    """Uses a method of a client of either kind; an iterator is read to its end."""

    async def awaited(name: str, args: Any, arguments: Any) -> Any:
        async with client(hosted, AsyncBeakerClient) as made:
            came = getattr(made, name)(*args, **arguments)
            return await came if inspect.isawaitable(came) else [item async for item in came]

    def call(name: str, /, *args: Any, **arguments: Any) -> Any:
        if request.param is AsyncBeakerClient:
            return asyncio.run(awaited(name, args, arguments))
        with client(hosted) as made:
            came = getattr(made, name)(*args, **arguments)
            return list(came) if inspect.isgenerator(came) else came

    return call


def runs_of(hosted: Any, *answers: Any) -> None:
    """Let a run be answered with these statuses in turn, or HTTP statuses where they are numbers."""
    for answer in answers:
        body = {"id": "run_41", "status": answer} if isinstance(answer, str) else answer
        status, body = (answer, {"detail": "busy"}) if isinstance(answer, int) else (200, body)
        hosted.answer("GET", RUN, status, body, times=1, headers={"retry-after": "0"})


def test_connections__of_a_client__are_used_again_until_it_is_closed(hosted: Any) -> None:
    """Calls of a client share one, also those of other threads in turn; after closing there is a new one."""
    made = client(hosted)
    for _ in range(3):
        made.list_agents()
    other = threading.Thread(target=made.list_models)
    other.start()
    other.join()
    assert len({asked.connection for asked in hosted.requests}) == 1
    made.close()
    made.close()
    made.list_agents()
    assert len({asked.connection for asked in hosted.requests}) == 2
    with made as entered:
        assert entered is made
    del made, entered
    gc.collect()  # closes what is left: an open socket would be a warning, and warnings are errors here


def test_connections__of_an_awaited_client__live_inside_async_with(hosted: Any) -> None:
    """Outside of it each method has its own, so that it may be used in several event loops."""

    async def used() -> None:
        async with client(hosted, AsyncBeakerClient) as made:
            await made.list_agents()
            await made.list_models()
            assert len(await asyncio.gather(*(made.get_run("run_41") for _ in range(5)))) == 5

    asyncio.run(used())
    assert len({asked.connection for asked in hosted.requests[:2]}) == 1
    hosted.requests.clear()
    made = client(hosted, AsyncBeakerClient)
    for _ in range(2):
        asyncio.run(made.list_agents())
    assert len({asked.connection for asked in hosted.requests}) == 2


def test_awaited__cancelled__ends_at_once(hosted: Any) -> None:
    """A call that is not wanted any more does not hold its task up."""
    hosted.answer("GET", "/v1/agents", 200, {"agents": []}, delay=1)

    async def used() -> None:
        async with client(hosted, AsyncBeakerClient) as made:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(made.list_agents(), 0.05)

    asyncio.run(used())


def test_get__values__are_what_the_service_answered(use: Use) -> None:
    """Decoded, with everything else in `body`; `None` for what does not exist."""
    run = use("get_run", "run_41")
    assert (run.id, run.status, run.ended, run.body["error_message"]) == ("run_41", "COMPLETED", True, None)
    assert use("get_candidate", "cand_1").body["run_id"] == "run_41"
    assert [one.id for one in use("get_candidates", "run_41")] == ["cand_1"]
    assert [(one.id, one.split) for one in use("get_eval_reports", "run_41")] == [("rep_1", "TEST")]
    assert use("get_dataset", "invoices").sample_counts == {"train": 1, "test": 1, "total": 2}
    with pytest.raises(BeakerClientError, match="Dataset not found") as caught:
        use("get_dataset", "other")
    assert caught.value.status_code == 404


def test_get__nothing_there__is_none(hosted: Any, use: Use) -> None:
    """As the methods that answer with JSON."""
    hosted.answer("GET", RUN, 404, {"detail": "Run not found"})
    hosted.answer("GET", "/v1/optimization-candidates/{candidate_id}", 404)
    assert use("get_run", "x") is use("get_candidate", "x") is None


def test_iter__pages__are_asked_for_one_after_the_other(hosted: Any, use: Use) -> None:
    """Every item once, with the filters on every page."""

    def page(asked: Any) -> Any:
        offset = int(asked.query["offset"])
        items = [{"id": f"r{number}", "status": "QUEUED"} for number in range(250)]
        return {"runs": items[offset : offset + int(asked.query["limit"])], "total": 250, "offset": offset}

    hosted.answer("GET", "/v1/optimization-runs", 200, page)
    runs = use("iter_runs", status="QUEUED")
    assert [run.id for run in runs] == [f"r{number}" for number in range(250)]
    asked = hosted.asked("GET", "/v1/optimization-runs")
    assert [(one.query["offset"], one.query["status"]) for one in asked] == [
        (offset, "QUEUED") for offset in ("0", "100", "200")
    ]
    assert [one.reference for one in use("iter_datasets")] == [f"invoices@{hosted.datasets[0]['revision']}"]


def test_iter__not_read_to_its_end__asks_no_further(hosted: Any) -> None:
    """Pages come as they are needed."""
    full = {"runs": [{"id": f"r{number}"} for number in range(100)], "total": 1000, "offset": 0}
    hosted.answer("GET", "/v1/optimization-runs", 200, full)
    with client(hosted) as made:
        assert next(made.iter_runs()).id == "r0"
    assert len(hosted.requests) == 1


def test_wait_for_run__until_it_ends__tells_each_change(hosted: Any, use: Use) -> None:
    """An answer that says the same is told once."""
    told: list[Run] = []
    runs_of(hosted, "QUEUED", "QUEUED", "RUNNING", "COMPLETED")
    run = use("wait_for_run", "run_41", interval=0.001, on_change=told.append)
    assert run.completed
    assert [one.status for one in told] == ["QUEUED", "RUNNING", "COMPLETED"]


def test_wait_for_run__paused_baseline__ends_there(hosted: Any, use: Use) -> None:
    """Somebody has to look; waiting on would not help."""
    review = {"participants": {"m": {"paused": True}}}
    runs_of(hosted, {"id": "run_41", "status": "RUNNING", "baseline_review": review})
    assert use("wait_for_run", "run_41").needs_review


def test_wait_for_run__too_long__is_a_timeout(hosted: Any, use: Use) -> None:
    """The error says how the run stands."""
    hosted.answer("GET", RUN, 200, {"id": "run_41", "status": "RUNNING"})
    with pytest.raises(TimeoutError, match=r"run_41 has not ended after 0\.01 seconds; it is RUNNING"):
        use("wait_for_run", "run_41", interval=0.001, timeout=0.01)
    hosted.answer("GET", RUN, 503, headers={"retry-after": "0"})
    with pytest.raises(TimeoutError, match="it has not been seen"):
        use("wait_for_run", "run_41", timeout=0.0)


@pytest.mark.parametrize("status", [400, 401, 404])
def test_wait_for_run__trouble_that_does_not_pass__is_raised(hosted: Any, use: Use, status: int) -> None:
    """A run that does not exist will not begin to."""
    hosted.answer("GET", RUN, status, {"detail": "no"})
    with pytest.raises(BeakerClientError) as caught:
        use("wait_for_run", "run_41")
    assert (caught.value.status_code, len(hosted.requests)) == (status, 1)


def test_wait_for_run__service_that_is_away_for_a_while__is_asked_again(hosted: Any) -> None:
    """By the patience of a watch: a look each time, however often reading would be repeated elsewhere."""
    runs_of(hosted, "RUNNING", 500, "FAILED")
    naps: list[float] = []
    with client(hosted) as made:
        made._api().sleep = naps.append
        assert made.wait_for_run("run_41", interval=0.5).status == "FAILED"
    assert len(hosted.requests) == 3
    assert naps[0] == 0.5


CHANGES = DocumentChangeSet(
    run_id="run_41", seed_hash="0" * 64, candidate_hash="1" * 64,
    changes=(CreateDocumentChange(group="prompts", name="a.md", content="be brief\n"),), groups=("prompts",),
)  # fmt: skip


@pytest.fixture
def offered(hosted: Any) -> Any:
    """The service offers the files of a candidate; `offered(**files)` says which."""

    def offer(files: dict[str, bytes]) -> None:
        listed = []
        for path, data in files.items():
            hosted.store[f"/store/cand_1/{path}"] = data
            url = f"{hosted.url}/store/cand_1/{path}?X-Sig=s3cret"
            digest = hashlib.sha256(data).hexdigest()
            listed.append({"path": path, "download_url": url, "sha256": digest, "size_bytes": len(data)})
        hosted.answer("POST", "/v1/optimization-candidates/{candidate_id}/downloads", 200, {"files": listed})

    return offer


def test_get_change_sets__of_a_candidate__are_decoded(use: Use, offered: Any) -> None:
    """By the first group of each target; other files do not travel."""
    changes = json.dumps(change_set_to_json(CHANGES)).encode()
    offered({"patch.diff": b"--- a\n", "changes/prompts.json": changes})
    assert use("get_change_sets", "cand_1") == {"prompts": CHANGES}
    offered({"patch.diff": b""})
    assert use("get_change_sets", "cand_1") == {}


@pytest.mark.parametrize("changes", [b"{", b"{}"])
def test_get_change_sets__broken__is_refused(use: Use, offered: Any, changes: bytes) -> None:
    """What cannot be decoded is not handed on half."""
    offered({"changes/prompts.json": changes})
    with pytest.raises((BeakerClientError, ValueError)):
        use("get_change_sets", "cand_1")


def test_pull__run__is_all_in_one_folder(hosted: Any, use: Use, offered: Any, tmp_path: Path) -> None:
    """Answers, the winner's files, and what stands beside; `only` replaces nothing else."""
    offered({"patch.diff": b"--- a\n", "tree/a.py": b"x\n"})
    told: list[tuple[str, int, int]] = []
    pulled = use("pull", "run_41", tmp_path / "new", progress=lambda *news: told.append(news))
    assert (pulled.status, pulled.winner_id, pulled.directory) == ("COMPLETED", "cand_1", tmp_path / "new" / "run_41")
    assert pulled.files == ("candidates.json", "eval_reports.json", "patch.diff", "run.json", "tree/a.py")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "candidates.json",
        "eval_reports.json",
        "run_41",
    ]
    assert told[-1][1:] == (8, 8)
    offered({"patch.diff": b"--- b\n", "tree/a.py": b"y\n"})
    use("pull", "run_41", str(tmp_path / "new"), only=["patch.diff"])
    assert (pulled.directory / "patch.diff").read_bytes() == b"--- b\n"
    assert (pulled.directory / "tree" / "a.py").read_bytes() == b"x\n"
    with pytest.raises(ValueError, match="nothing is called patch"):
        use("pull", "run_41", tmp_path, only=["patch"])


def test_pull__place_that_describes_no_files__gives_the_rest(hosted: Any, use: Use, tmp_path: Path) -> None:
    """What another kind of service answers for a download is said to be missing."""
    path = "/v1/optimization-candidates/{candidate_id}/downloads"
    hosted.answer("POST", path, 200, {"url": "https://store.example/bundle.zip"})
    pulled = use("pull", "run_41", tmp_path)
    assert pulled.files == ("candidates.json", "eval_reports.json", "run.json")
    assert [problem.code for problem in pulled.missing] == ["BK812"]


def test_upload__files__travel_and_can_be_found(hosted: Any, use: Use, tmp_path: Path) -> None:
    """A dataset by its folder or its files, an artifact likewise; what the service has does not travel again."""
    for split in ("train", "test"):
        (tmp_path / f"{split}.jsonl").write_text('{"id": "1"}\n')
    files = {f"{split}.jsonl": str(tmp_path / f"{split}.jsonl") for split in ("train", "test")}
    made = use("upload_dataset_files", files, name="new", display_name="New", promote=False)
    again = use("upload_dataset_directory", str(tmp_path), name="new")
    assert (made["reused"], again["reused"]) == (False, True)
    assert use("get_dataset", f"new@{made['dataset_revision']}").files == {"test.jsonl": 12, "train.jsonl": 12}
    artifact = use(
        "upload_artifact_files", {"a/b.txt": tmp_path / "train.jsonl"}, content_types={"a/b.txt": "text/plain"}
    )
    sent = hosted.asked("POST", "/v1/artifacts/presigned-uploads")[-1].body
    assert (sent["kind"], sent["files"][0]["content_type"]) == ("input_artifact", "text/plain")
    assert hosted.store[f"/store/{artifact['artifact_id']}/a/b.txt"] == b'{"id": "1"}\n'
    assert use("upload_artifact_directory", tmp_path, kind="other")["status"] == "COMPLETE"


def test_upload__file_that_is_not_there__is_an_os_error(use: Use, tmp_path: Path) -> None:
    """As Python says it of files."""
    with pytest.raises(OSError, match="none"):
        use("upload_artifact_files", {"a": tmp_path / "none"})


CONFIG = BeakerConfig(integration_id="invoices", config_defaults={"dataset_ref": "inv", "maxConcurrency": 4})


def test_launch__from_a_configuration__sends_what_it_says(hosted: Any, use: Use) -> None:
    """Arguments lie over the file's defaults; selectors travel outside of `config`, and an explicit one counts."""
    more = {"config": {"max_concurrency": 2, "local_dataset_path": "d"}, "ref": "x", "idempotency_key": "k"}
    assert use("create_optimization_run_from_config", CONFIG, **more)["id"] == "run_42"
    sent = hosted.asked("POST", "/v1/optimization-runs")[-1]
    assert sent.headers["idempotency-key"] == "k"
    assert sent.body == {
        "agent_key": "inv-agent",
        "config": {"max_concurrency": 2},
        "trigger_metadata": {},
        "github_source": {"repository": "acme/invoices", "ref": "x", "integration_id": "invoices"},
        "dataset_ref": "inv",
    }
    with pytest.raises(BeakerClientError, match="Agent not found"):
        use("create_optimization_run_from_config", BeakerConfig(agent_key="other"))
    use("create_optimization_run_from_config", CONFIG, dataset_id="art_1", integration_id="other")
    sent = hosted.asked("POST", "/v1/optimization-runs")[-1]
    assert (sent.body["dataset_id"], sent.body["github_source"]["integration_id"]) == ("art_1", "other")
    assert "dataset_ref" not in sent.body


def test_launch__agent_without_a_repository__is_an_error(hosted: Any, use: Use) -> None:
    """There is nothing that could run."""
    hosted.answer("GET", "/v1/agents/current", 200, {"id": "ag_1", "github_repository": None})
    with pytest.raises(BeakerClientError, match="no repository") as caught:
        use("create_optimization_run_from_config", CONFIG)
    assert caught.value.status_code == 0


@pytest.mark.parametrize(
    ("name", "args", "arguments", "words"),
    [
        ("create_optimization_run", (), {"config": {"sed": 1, "scorer_model": "x"}}, "sed.*scorer_model"),
        ("create_optimization_run", (), {"config": {"dataset_ref": "x"}}, "dataset_ref"),
        ("create_optimization_run", (), {"config": {"model": "a", "maxConcurrency": 1, "max_concurrency": 2}}, "twice"),
        ("create_optimization_run", (), {"dataset_ref": "a", "dataset_id": "b"}, "each select a dataset"),
        ("create_optimization_run_from_config", (CONFIG,), {"dataset_ref": "a", "dataset_id": "b"}, "each select"),
        ("create_optimization_run_from_config", (CONFIG,), {"dataset_ref": "s3://x"}, "reference"),
        ("resume_optimization_run", ("r",), {"review_id": " "}, "review_id is blank"),
    ],
)
def test_arguments__that_no_service_takes__are_value_errors(
    hosted: Any, use: Use, name: str, args: Any, arguments: Any, words: str
) -> None:
    """Nothing is launched."""
    with pytest.raises(ValueError, match=f"(?s){words}"):
        use(name, *args, **arguments)
    assert not hosted.asked("POST", "/v1/optimization-runs")
