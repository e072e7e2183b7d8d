"""Requests in lines: what is told, and what is not."""

import pytest

from beaker.core.api import Request, Response
from beaker.core.request_log import answer_line, request_line


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        (Request(method="GET", path="/v1/agents"), "> GET https://api.example/v1/agents"),
        (
            Request(method="GET", path="/v1/runs", query=(("limit", "1"), ("q", "a b"))),
            "> GET https://api.example/v1/runs?limit=1&q=a+b",
        ),
        (Request(method="POST", path="/v1/runs", body=b"{}"), "> POST https://api.example/v1/runs (2 bytes)"),
        (Request(method="POST", path="/v1/runs", body=b""), "> POST https://api.example/v1/runs (0 bytes)"),
        (
            Request(
                method="PUT", path="/v1/x/s%2F%20k", query=(("a", "s/ k"), ("t", "tok")), secrets=("s/ k",), token="tok"
            ),
            "> PUT https://api.example/v1/x/[hidden]?a=[hidden]&t=[hidden]",
        ),
        (Request(method="GET", path="/v1/a", secrets=("",), token=""), "> GET https://api.example/v1/a"),
    ],
)
def test_request_line__tells_the_address_and_hides_secrets(request_: Request, line: str) -> None:
    """Method and address are shown, a body is counted, a secret is hidden however it is written."""
    assert request_line(request_, "https://api.example/") == line
    assert request_line(request_, "https://api.example") == line


def test_answer_line__tells_status_size_time_and_id() -> None:
    """The id by which the service knows the request is there when it says one."""
    assert answer_line(Response(status=200, headers={}, body=b"{}"), seconds=0.1234) == "< 200, 2 bytes, 0.12 s"
    told = answer_line(Response(status=503, headers={"x-request-id": "r-1"}, body=b""), seconds=1)
    assert told == "< 503, 0 bytes, 1.00 s, request r-1"
