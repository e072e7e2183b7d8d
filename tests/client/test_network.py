"""HTTP: what travels is the contract's, and the credential goes nowhere else."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from returns.pipeline import is_successful

from beaker.client.api import Api
from beaker.client.network import HttpTransport
from beaker.client.transport import TransportFailed
from beaker.core.api import Request, build_request
from beaker.core.problems import Refused

TOKEN = "bkr_live_k1"


@pytest.fixture
def transport(server: Any) -> Iterator[HttpTransport]:
    made = HttpTransport(f"{server.url}/prefix/", f" {TOKEN}\n")
    yield made
    made.close()


def test_send__request__arrives_as_the_contract_writes(server: Any, transport: HttpTransport) -> None:
    """The prefix is kept, the query form-encoded, the bearer sent, the body compact JSON."""
    request = build_request("list_optimization_runs", {"trigger_reason": "a b:@/"}, agent_key="ä").unwrap()
    assert transport.send(request).body == b"{}"
    (seen,) = server.seen
    assert seen.target == (
        "/prefix/v1/optimization-runs?agent_key=%C3%A4&limit=25&offset=0&trigger_reason=a+b%3A%40%2F"
    )
    assert seen.headers["authorization"] == f"Bearer {TOKEN}"
    assert seen.headers["accept"] == seen.headers["content-type"] == "application/json"


def test_call__launch__carries_key_and_body(server: Any, transport: HttpTransport) -> None:
    """The idempotency key is a header, text outside ASCII is escaped."""
    server.answer = lambda seen: (201, {}, b'{"id": "run_1"}')
    answer = Api(transport, "k").call(
        "create_optimization_run", idempotency_key="n-7", config={"extra": {"ort": "Köln"}}
    )
    assert answer.unwrap() == {"id": "run_1"}
    assert server.seen[0].headers["idempotency-key"] == "n-7"
    assert server.seen[0].body == (b'{"agent_key":"k","config":{"extra":{"ort":"K\\u00f6ln"}},"trigger_metadata":{}}')


def test_call__dropped_connection__repeats_the_launch_with_its_key(server: Any, transport: HttpTransport) -> None:
    """A launch that got no answer is sent again, same key, same body; the third answer counts."""
    naps: list[float] = []
    server.answer = lambda seen: None if len(server.seen) < 3 else (201, {}, b'{"id": "run_1"}')
    api = Api(transport, "k", sleep=naps.append, draw=lambda: 0.5)
    assert api.call("create_optimization_run", idempotency_key="n-7").unwrap() == {"id": "run_1"}
    assert len({(seen.body, seen.headers["idempotency-key"]) for seen in server.seen}) == 1
    assert (len(server.seen), naps) == (3, [0.25, 0.5])


def test_call__dropped_connection__is_not_repeated_without_a_key(server: Any, transport: HttpTransport) -> None:
    """Without a key nobody knows what a second request would do."""
    server.answer = lambda seen: None
    failed = Api(transport, "k", sleep=lambda seconds: pytest.fail("slept")).call("create_optimization_run").failure()
    assert (failed.code, len(server.seen)) == ("BK803", 1)
    assert TOKEN not in repr(failed)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_call__come_back_later__is_done_for_reading_and_for_keyed_launches(
    server: Any, transport: HttpTransport, status: int
) -> None:
    """A place that is busy is asked again, after the time it named; a launch without a key is not."""
    naps: list[float] = []
    server.answer = lambda seen: (
        (status, {"Retry-After": "7"}, b"") if len(server.seen) == 1 else (200, {}, b'{"id":"r1"}')
    )
    api = Api(transport, "k", sleep=naps.append, draw=lambda: 0.0)
    for name, key in (("get_current_agent", None), ("create_optimization_run", "n")):
        server.seen.clear()
        assert is_successful(api.call(name, idempotency_key=key))
        assert len(server.seen) == 2
    assert naps == [7, 7]
    server.seen.clear()
    assert api.call("create_optimization_run").failure().status == status
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [400, 401, 404, 500, 501])
def test_call__any_other_status__is_never_repeated(server: Any, transport: HttpTransport, status: int) -> None:
    """An answer is an answer."""
    server.answer = lambda seen: (status, {}, b"")
    api = Api(transport, "k", sleep=lambda seconds: pytest.fail("slept"))
    assert not is_successful(api.call("create_optimization_run", idempotency_key="n"))
    assert not is_successful(api.call("get_current_agent"))
    assert len(server.seen) == 2


def test_call__trouble_without_end__is_given_up_with_its_last_problem(server: Any, transport: HttpTransport) -> None:
    """Three attempts, one with the policy of who repeats alone, none when the place wants more time than there is."""
    server.answer = lambda seen: (503, {}, b'{"detail": "busy"}')
    api = Api(transport, "k", sleep=lambda seconds: None)
    assert api.call("get_current_agent").failure().message == "busy"
    assert len(server.seen) == 3
    assert api.once("get_current_agent").failure().status == 503
    assert len(server.seen) == 4
    server.answer = lambda seen: (503, {"Retry-After": "3600"}, b"")
    assert api.call("get_current_agent").failure().retry_after == "3600"
    assert len(server.seen) == 5


def test_call__trouble_in_every_call__uses_the_quota_up(server: Any, transport: HttpTransport) -> None:
    """A client that fails all the time stops repeating; the calls themselves go on."""
    server.answer = lambda seen: (503, {}, b"")
    api = Api(transport, "k", sleep=lambda seconds: None)
    for _ in range(30):
        api.call("get_current_agent")
    assert len(server.seen) == 30 + 100 // 5


def test_call__nobody_listens__says_where(transport: HttpTransport) -> None:
    """A refused connection is a problem with status 0, without the query."""
    dead = HttpTransport("http://127.0.0.1:9", TOKEN)
    problem = Api(dead, "secretive").once("get_current_agent").failure()
    dead.close()
    assert problem.code == "BK803"
    assert "http://127.0.0.1:9/v1/agents/current" in problem.message
    assert "secretive" not in problem.message


def test_send__redirect_to_another_origin__is_refused(server: Any, transport: HttpTransport) -> None:
    """The credential does not follow a redirect out of its origin; it is not even asked for."""
    server.answer = lambda seen: (302, {"location": "http://127.0.0.2:1/steal"}, b"")
    with pytest.raises(Refused) as refused:
        transport.send(Request(method="GET", path="/v1/agents"))
    assert refused.value.problems[0].code == "BK809"
    assert len(server.seen) == 1


def test_send__redirect_within_the_origin__is_followed_for_get_only(server: Any, transport: HttpTransport) -> None:
    """A POST would lose its body, and a circle ends."""
    server.answer = lambda seen: (
        (200, {}, b'{"moved": true}') if "new" in seen.target else (301, {"location": "/new"}, b"")
    )
    assert transport.send(Request(method="GET", path="/v1/agents")).body == b'{"moved": true}'
    with pytest.raises(Refused):
        transport.send(Request(method="POST", path="/v1/agents", body=b"{}"))
    server.answer = lambda seen: (307, {"location": seen.target}, b"")
    with pytest.raises(Refused, match="again and again"):
        transport.send(Request(method="GET", path="/v1/agents"))


@pytest.mark.parametrize(
    "url",
    ["http://example.com", "ftp://example.com", "example.com", "", "https://", "http://10.0.0.1:80", "https://h:x",
     "https://user:pw@example.com", "http://[::2]/"],
)  # fmt: skip
def test_transport__base_url_that_gives_secrets_away__is_refused(url: str) -> None:
    """Plain http leaves this machine only on demand; what is no URL, or holds a password, is none."""
    with pytest.raises(Refused) as refused:
        HttpTransport(url, TOKEN)
    assert refused.value.problems[0].code == "BK809"
    assert "pw" not in refused.value.problems[0].message


@pytest.mark.parametrize(
    "url", ["https://example.com", "http://localhost:1", "http://127.3.2.1", "http://[::1]:5", "http://a.localhost"]
)
def test_transport__encrypted_or_this_machine__is_accepted(url: str) -> None:
    """https anywhere, http here; anything with the option."""
    HttpTransport(url, TOKEN).close()
    HttpTransport("http://example.com", TOKEN, insecure_http=True).close()


@pytest.mark.parametrize("token", ["", "  ", "a\nb", "ключ"])
def test_transport__impossible_credential__is_refused_unseen(token: str) -> None:
    """A credential that no header can carry is refused without being shown."""
    with pytest.raises(Refused) as refused:
        HttpTransport("https://example.com", token)
    assert refused.value.problems[0].code == "BK806"
    assert not token.strip() or token not in str(refused.value)


@pytest.mark.parametrize("status", [400, 422, 503])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("set_agent_env_var", {"agent_id": "a", "name": "N", "value": 'PLANTED "x"'}),
        ("poll_cli_login", {"challenge_id": "c", "poll_token": "PLANTED-token"}),
    ],
)
def test_call__secret_said_back__is_not_shown(
    server: Any, transport: HttpTransport, name: str, arguments: dict[str, str], status: int
) -> None:
    """Services quote what they refuse; what is secret in it reaches no problem, with whatever escapes."""
    server.answer = lambda seen: (status, {}, json.dumps({"detail": f"refused {seen.body.decode()}"}).encode())
    problem = Api(transport, "k").once(name, **arguments).failure()
    assert "PLANTED" not in repr(problem) + str(problem) + getattr(problem, "body", "")
    assert "[redacted]" in str(problem)


def test_upload__file__travels_without_the_credential(server: Any, transport: HttpTransport) -> None:
    """The bytes, their length and the place's headers; no bearer, no content type of our own."""
    pieces = [b"{}\n" * 10_000] * 5
    response = transport.upload(f"{server.url}/bucket?sig=1", {"x-amz-checksum-sha256": "abc"}, pieces, 150_000)
    (seen,) = server.seen
    assert (response.status, seen.method, seen.target, len(seen.body)) == (200, "PUT", "/bucket?sig=1", 150_000)
    assert seen.headers["content-length"] == "150000"
    assert seen.headers["x-amz-checksum-sha256"] == "abc"
    assert {"authorization", "content-type", "transfer-encoding"}.isdisjoint(seen.headers)


def test_upload__empty_file__has_length_0(server: Any, transport: HttpTransport) -> None:
    """An empty file is a body of no bytes."""
    transport.upload(f"{server.url}/e", {}, [], 0)
    assert server.seen[0].headers["content-length"] == "0"


def downloaded(transport: HttpTransport, url: str, offset: int = 0) -> tuple[int, bytes]:
    """Where the bytes of a download begin, and the bytes."""
    with transport.download(url, offset=offset) as arriving:
        return arriving.offset, b"".join(arriving.pieces)


def test_download__file__comes_whole(server: Any, transport: HttpTransport) -> None:
    """The body, as it is; no credential went along."""
    server.answer = lambda seen: (200, {}, b"x" * 100_000)
    assert downloaded(transport, f"{server.url}/f?sig=1") == (0, b"x" * 100_000)
    (seen,) = server.seen
    assert "authorization" not in seen.headers
    assert (seen.headers["accept-encoding"], "range" in seen.headers) == ("identity", False)


def test_download__from_some_byte_on__takes_what_the_place_gives(server: Any, transport: HttpTransport) -> None:
    """A part where the place can, all of it where it cannot; another part than the one asked for is none."""
    server.answer = lambda seen: (206, {"content-range": "bytes 3-5/6"}, b"def")
    assert downloaded(transport, f"{server.url}/f", 3) == (3, b"def")
    assert server.seen[0].headers["range"] == "bytes=3-"
    server.answer = lambda seen: (200, {}, b"abcdef")
    assert downloaded(transport, f"{server.url}/f", 3) == (0, b"abcdef")
    server.answer = lambda seen: (206, {"content-range": "bytes 0-5/6"}, b"abcdef")
    with pytest.raises(Refused, match="another part"):
        downloaded(transport, f"{server.url}/f", 3)


@pytest.mark.parametrize(
    ("status", "headers", "kind"),
    [
        (200, {"content-length": "50"}, TransportFailed),
        (403, {}, Refused),
        (206, {}, Refused),
        (302, {"location": "http://127.0.0.1:9/"}, Refused),
    ],
)
def test_download__cut_off_or_refused__is_no_file(
    server: Any, transport: HttpTransport, status: int, headers: dict[str, str], kind: type[Refused]
) -> None:
    """A body shorter than announced, an error status, a part nobody asked for, a redirect."""
    server.answer = lambda seen: (status, {"connection": "close"} | headers, b"short")
    with pytest.raises(kind):
        downloaded(transport, f"{server.url}/f")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://example.com/x", "beaker-local:blobs/aa"])
def test_download__other_schemes__are_refused(transport: HttpTransport, url: str) -> None:
    """A place cannot make its client read files or speak in the clear."""
    with pytest.raises(Refused):
        downloaded(transport, url)


@pytest.mark.parametrize(
    ("base", "address", "taken"),
    [
        ("https://api.example", "http://127.0.0.1:9/x", False),
        ("https://api.example", "http://localhost:9/x", False),
        ("http://lan.example:9", "http://127.0.0.1:9/x", False),
        ("http://lan.example:9", "http://other.example:9/x", False),
        ("http://127.0.0.1:9", "http://localhost:8/x", True),
    ],
)
def test_address__from_afar__never_leads_into_plain_http_here(base: str, address: str, taken: bool) -> None:
    """A place elsewhere cannot make its client talk to services of this machine; nothing is sent."""
    transport = HttpTransport(base, TOKEN, insecure_http=True, timeout=0.5)
    for move in (lambda: downloaded(transport, address), lambda: transport.upload(address, {}, [b"x"], 1)):
        with pytest.raises(Refused) as refused:
            move()
        assert refused.value.problems[0].code == ("BK803" if taken else "BK809")
    transport.close()
