"""Both clients: the same methods, with results of their own kind."""

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import assert_type

from beaker import BeakerClient, BeakerClientError, DocumentChangeSet
from beaker.client import AsyncBeakerClient, Candidate, Dataset, EvalReport, Pulled, Run
from beaker.config import load_beaker_config


def blocking() -> None:
    with BeakerClient("https://api.example", "key", agent_key="inv-agent") as client:
        assert_type(client, BeakerClient)
        runs = client.list_optimization_runs(status="RUNNING", limit=5)
        assert_type(runs["total"] == 1, bool)
        assert_type(client.get_run("r"), Run | None)
        assert_type(client.wait_for_run("r", timeout=3.0, on_change=print), Run)
        assert_type(client.get_candidates("r"), tuple[Candidate, ...])
        assert_type(client.get_eval_reports("r", agent_key="k"), tuple[EvalReport, ...])
        assert_type(client.get_dataset("d"), Dataset)
        assert_type(client.get_change_sets("c"), Mapping[str, DocumentChangeSet])
        assert_type(client.iter_runs(status="FAILED"), Iterator[Run])
        assert_type(client.pull("r", Path("out"), only=["tree"]), Pulled)
        client.create_optimization_run_from_config(load_beaker_config(), ref="main")
        client.logout_user(cli_token="t")
        client.get_run(5)  # E arg-type | reportArgumentType
        client.get_run("r", "k")  # E call-arg | reportCallIssue
        client.list_agents(limit=3)  # E call-arg | reportCallIssue
        client.no_such_method()  # E attr-defined | reportAttributeAccessIssue
        client.api_key = "other"  # E misc | reportAttributeAccessIssue


async def awaited() -> None:
    async with AsyncBeakerClient("https://api.example", "key") as client:
        assert_type(client, AsyncBeakerClient)
        assert_type(await client.get_run("r"), Run | None)
        assert_type(await client.wait_for_run("r", interval=1), Run)
        assert_type(client.iter_datasets(), AsyncIterator[Dataset])
        async for run in client.iter_runs():
            assert_type(run.completed, bool)
        await client.get_run(5)  # E arg-type | reportArgumentType
        (await client.get_run("r")).status  # E union-attr | reportOptionalMemberAccess


def error() -> None:
    failed = BeakerClientError(409, "body")
    assert_type(failed.status_code, int)
    assert_type(failed.request_id, str)
