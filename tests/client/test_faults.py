"""Whatever a network, a gateway or a store does: calls end, repeat only where that is safe, and give nothing away."""

import asyncio
import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from returns.result import Result

from beaker.client.api import Api
from beaker.client.async_api import AsyncApi
from beaker.client.async_network import AsyncHttpTransport
from beaker.client.async_public import AsyncBeakerClient
from beaker.client.errors import BeakerClientError
from beaker.client.network import HttpTransport
from beaker.client.public import BeakerClient
from beaker.core.problems import Problem

PASSING = {
    "drop before headers": "BK803", "drop in headers": "BK803", "drop in body": "BK803", "reset": "BK803",
    "length too long": "BK803", "no HTTP": "BK803",
    "429": "BK805", "502": "BK808", "503": "BK808", "504": "BK808", "clock skew": "BK808",
}  # fmt: skip
"""Faults after which a call may be made again, and what it comes to where it may not."""

FINAL = {
    "truncated JSON": "BK804", "length too short": "BK804", "login page": "BK804", "500": "BK808", "echo": "BK808",
    "redirect": "BK809", "expired URL": "BK805",
}  # fmt: skip
"""Faults that are answers: nothing would be another way the second time."""

SLOW = ("slow headers", "slow body")

RUN = ("GET", "/v1/optimization-runs/{run_id}")
LAUNCH = ("POST", "/v1/optimization-runs")

Called = Callable[..., tuple[Result[Any, Problem], int]]


@pytest.fixture(params=["blocking", "awaited"])
def called(request: pytest.FixtureRequest, faulty: Any) -> Called:
    """Calls an endpoint over either transport: what it came to, and how often it was made again. Waits take no time."""
    naps: list[float] = []

    def blocking(timeout: float, name: str, /, **given: Any) -> Result[Any, Problem]:
        transport = HttpTransport(faulty.url, faulty.api_key, timeout=timeout)
        try:
            return Api(transport, faulty.agent_key, sleep=naps.append, draw=lambda: 0.0).call(name, **given)
        finally:
            transport.close()

    async def awaited(timeout: float, name: str, /, **given: Any) -> Result[Any, Problem]:
        async def nap(seconds: float) -> None:
            naps.append(seconds)

        transport = AsyncHttpTransport(faulty.url, faulty.api_key, timeout=timeout)
        try:
            return await AsyncApi(transport, faulty.agent_key, sleep=nap, draw=lambda: 0.0).call(name, **given)
        finally:
            await transport.close()

    def call(name: str, /, *, timeout: float = 10.0, **given: Any) -> tuple[Result[Any, Problem], int]:
        naps.clear()
        came = blocking(timeout, name, **given) if request.param == "blocking" else None
        came = asyncio.run(awaited(timeout, name, **given)) if came is None else came
        return came, len(naps)

    return call


def code_of(result: Result[Any, Problem]) -> str | None:
    """The code of a call's problem, `None` when it succeeded."""
    return result.swap().map(lambda problem: problem.code).value_or(None)


def test_faults__every_one__is_known_here(faults: dict[str, Any]) -> None:
    """No fault is left out below."""
    assert {*faults, "redirect"} == {*PASSING, *FINAL, *SLOW}


@pytest.mark.parametrize("fault", [*PASSING, *FINAL])
def test_call__fault_once__is_repeated_only_where_that_is_safe(
    faulty: Any, called: Called, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Reading, and launching with a key: after trouble that passes. Launching without one: never. No other origin is
    visited, and the credential stands in no problem and in no log."""
    caplog.set_level(logging.DEBUG)
    problems: list[Problem] = []
    for route, name, given, safe in (
        (RUN, "get_optimization_run", {"run_id": "run_41"}, True),
        (LAUNCH, "create_optimization_run", {"idempotency_key": "n-7"}, True),
        (LAUNCH, "create_optimization_run", {}, False),
    ):
        faulty.fault(fault, *route)
        came, again = called(name, **given)
        repeats = safe and fault in PASSING
        assert again == int(repeats), (name, fault)
        assert code_of(came) == (None if repeats else (PASSING | FINAL)[fault])
        problems += [came.failure()] if not repeats else []
    assert faulty.visitors == 0
    said = [*map(repr, problems), *map(str, problems), *(getattr(problem, "body", "") for problem in problems)]
    assert not [text for text in (*said, caplog.text) if faulty.api_key in text]


@pytest.mark.parametrize("fault", SLOW)
def test_call__answer_that_only_drips__ends(faulty: Any, called: Called, fault: str) -> None:
    """Each byte comes in time, the whole never: after ten time-outs it counts as none."""
    faulty.fault(fault, *RUN, times=None)
    came, again = called("get_optimization_run", timeout=0.006, run_id="run_41")
    assert (code_of(came), again) == ("BK803", 2)


def test_call__keyed_launch_whose_answer_was_lost__is_one_run(faulty: Any, called: Called) -> None:
    """The service saw the launch twice, with the same key and body; it made one run."""
    key = "nightly-7"
    faulty.fault("drop in body", *LAUNCH)
    came, again = called("create_optimization_run", idempotency_key=key, dataset_ref="invoices")
    assert (came.unwrap()["id"], again) == ("run_42", 1)
    first, second = faulty.asked(*LAUNCH)
    assert first.body == second.body
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"] == key
    assert list(faulty.launches) == [key]


@pytest.mark.parametrize("fault", ["echo", "redirect", "login page", "drop before headers"])
def test_client__fault__gives_no_secret_away(faulty: Any, fault: str, caplog: pytest.LogCaptureFixture) -> None:
    """Not in the error, its traceback, the client, or the log, of either client."""
    caplog.set_level(logging.DEBUG)

    async def awaited() -> None:
        async with AsyncBeakerClient(faulty.url, faulty.api_key, agent_key=faulty.agent_key) as client:
            await client.cancel_optimization_run("run_41")

    with BeakerClient(faulty.url, faulty.api_key, agent_key=faulty.agent_key) as client:
        for use in (lambda: client.cancel_optimization_run("run_41"), lambda: asyncio.run(awaited())):
            faulty.fault(fault, "POST", "/v1/optimization-runs/{run_id}/cancel")
            with pytest.raises(BeakerClientError) as caught:
                use()
            told = [
                "".join(traceback.format_exception(caught.value)),
                repr(caught.value),
                caught.value.body,
                repr(client),
            ]
            assert not [text for text in (*told, caplog.text) if faulty.api_key in text]
    assert "[redacted]" in caught.value.body or fault != "echo"
    assert faulty.visitors == 0


def test_upload__expired_address__is_asked_for_again(
    faulty: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A file whose signed address was used too late travels to a fresh one; no signature is logged."""
    caplog.set_level(logging.DEBUG)
    for split in ("train", "test"):
        (tmp_path / f"{split}.jsonl").write_text('{"id": "1"}\n')
    faulty.fault("expired URL", "PUT", "/store/art_2/train.jsonl")
    with BeakerClient(faulty.url, faulty.api_key, agent_key=faulty.agent_key) as client:
        made = client.upload_dataset_directory(tmp_path, name="new")
    assert (made["status"], made["reused"]) == ("COMPLETE", False)
    assert len(faulty.asked("POST", "/v1/datasets/uploads")) == 2
    assert "s3cret" not in caplog.text
