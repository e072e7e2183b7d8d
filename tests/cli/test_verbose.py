"""`--verbose`: each request and its answer, without secrets; nothing of it otherwise."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_verbose__request__is_told_without_the_credential(service: Any, remote: Callable[..., Any]) -> None:
    """The address, the status and the size of each request, and neither credential nor bodies."""
    service.on("GET /v1/optimization-runs/r1", (200, {"id": "r1", "status": "COMPLETED"}))
    done = remote("run", "status", "r1", "--verbose")
    assert done.code == 0
    sent, answered = done.err.splitlines()
    assert re.fullmatch(rf"> GET {service.url}/v1/optimization-runs/r1(\?agent_key=inv-agent)?", sent)
    assert re.fullmatch(r"< 200, \d+ bytes, \d+\.\d\d s", answered)
    assert "secret-key" not in done.err
    assert "COMPLETED" not in done.err


@pytest.mark.parametrize("more", [(), ("--quiet",), ("--json",)])
def test_verbose__not_wanted__tells_nothing(more: tuple[str, ...], service: Any, remote: Callable[..., Any]) -> None:
    """Without the option nothing is told of a request."""
    service.on("GET /v1/optimization-runs/r1", (200, {"id": "r1", "status": "COMPLETED"}))
    assert remote("run", "status", "r1", *more).err == ""


def test_verbose__quiet__drops_remarks_and_tells_of_requests(service: Any, remote: Callable[..., Any]) -> None:
    """Who asks for both wants to see requests and nothing else."""
    service.on("GET /v1/optimization-runs/r1", (200, {"id": "r1", "status": "COMPLETED"}))
    told = remote("run", "status", "r1", "--verbose", "--quiet").err.splitlines()
    assert [line[:1] for line in told] == [">", "<"]


def test_verbose__json__tells_of_requests_in_json_lines(service: Any, remote: Callable[..., Any]) -> None:
    """The error stream stays one JSON object a line, and the last one is why the command stopped."""
    service.on("GET /v1/optimization-runs/r1", (418, {"detail": "no"}))
    done = remote("run", "status", "r1", "--verbose", "--json")
    assert done.out == ""
    sent, answered, error = map(json.loads, done.err.splitlines())
    assert sent["verbose"].startswith(f"> GET {service.url}/v1/optimization-runs/r1")
    assert answered["verbose"].startswith("< 418, ")
    assert error["error"]["code"] == "BK805"


def test_verbose__no_answer__is_told_for_each_attempt(service: Any, remote: Callable[..., Any]) -> None:
    """A dropped connection is seen, and so is that the call was made again."""
    service.on("GET /v1/optimization-runs/r1", "drop", (200, {"id": "r1", "status": "COMPLETED"}))
    told = remote("run", "status", "r1", "--verbose").err.splitlines()
    assert [line[:1] for line in told] == [">", "<", ">", "<"]
    assert told[1].startswith("< no answer, after ")


def test_verbose__files__are_told_without_their_query(service: Any, remote: Callable[..., Any], tmp_path: Path) -> None:
    """A download is named by its address; what signs it is not shown."""
    service.on(
        "GET /v1/optimization-runs/r1/candidates", (200, {"candidates": [], "proposals": [], "winner_id": "r1.1"})
    )
    service.offer("r1.1", {"a.txt": b"hello"})
    listed = service.answers["POST /v1/optimization-candidates/r1.1/downloads"][0][1]["files"]
    listed[0]["download_url"] += "?signature=hush"
    done = remote("candidate", "download", "r1.1", "--output-dir", str(tmp_path / "out"), "--verbose")
    assert done.code == 0, done.err
    assert f"> GET {service.url}/files/r1.1/0\n" in done.err
    assert "hush" not in done.err


def test_verbose__this_machine__is_told_too(beaker: Callable[..., Any], tmp_path: Path) -> None:
    """Requests to the place inside this process look the same."""
    (tmp_path / ".beaker").mkdir()
    (tmp_path / ".beaker" / "beaker.yaml").write_text("integrations: {}\n")
    (tmp_path / ".git").mkdir()
    done = beaker("--local", "run", "list", "--verbose")
    assert done.code == 0
    assert "> GET this machine: /v1/optimization-runs?" in done.err
