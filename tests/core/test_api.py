"""The API as values: what is built is what is read back, and every odd answer has its words."""

import json
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.api import (
    ApiProblem,
    Request,
    Response,
    allowed_methods,
    build_request,
    match_request,
    problem_detail,
    read_arguments,
    read_response,
    stated_problems,
)
from beaker.core.endpoints import ENDPOINT, ENDPOINTS, Endpoint, Parameter
from beaker.core.problems import Problem
from beaker.core.responses import stated_problem
from beaker.core.strict_json import dumps

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
ids = texts.filter(lambda text: text not in (".", ".."))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
OF_KIND: dict[str, st.SearchStrategy[Any]] = {
    "string": texts,
    "integer": st.integers(-(10**14), 10**14),
    "boolean": st.booleans(),
    "object": st.dictionaries(texts, json_values, max_size=3),
    "list": st.lists(json_values, max_size=3),
}


def some_argument(parameter: Parameter) -> st.SearchStrategy[Any]:
    present = OF_KIND[parameter.kind]
    return present if parameter.required else st.none() | present


@st.composite
def calls(draw: st.DrawFn) -> tuple[Endpoint, dict[str, Any]]:
    endpoint = draw(st.sampled_from(ENDPOINTS))
    arguments: dict[str, Any] = {
        parameter.name: draw(some_argument(parameter)) for parameter in (*endpoint.query, *(endpoint.body or ()))
    }
    places = [part[1:-1] for part in endpoint.path.split("/") if part.startswith("{")]
    arguments |= {place: draw(ids) for place in places}
    if endpoint.exactly_one:
        chosen = draw(st.sampled_from(endpoint.exactly_one))
        arguments |= {name: draw(texts) if name == chosen else None for name in endpoint.exactly_one}
    return endpoint, arguments


@given(calls())
def test_request__read_by_the_service__gives_the_arguments_back(call: tuple[Endpoint, dict[str, Any]]) -> None:
    """Whatever a client can ask for, the service reads the same: endpoint, arguments, defaults filled in."""
    endpoint, arguments = call
    request = build_request(endpoint.name, arguments, agent_key="a-1").unwrap()
    match = match_request(request.method, request.path).unwrap()
    assert match.endpoint == endpoint
    read = read_arguments(match, request).unwrap()
    expected = dict(arguments)
    for parameter in (*endpoint.query, *(endpoint.body or ())):
        argument = arguments[parameter.name]
        if argument is None or (parameter.non_empty and not argument):
            expected[parameter.name] = parameter.default
    assert read == expected | ({"agent_key": "a-1"} if endpoint.agent_key else {})
    assert request.path.startswith("/v1/")
    assert request.path.isascii()
    assert " " not in request.path


def test_endpoints__names_and_routes__are_unique() -> None:
    """No name and no route stands twice, and every template has its place names once."""
    assert len(ENDPOINT) == len(ENDPOINTS)
    routes = [(endpoint.method, endpoint.path) for endpoint in ENDPOINTS]
    assert len(set(routes)) == len(routes)
    for endpoint in ENDPOINTS:
        parameters = [parameter.name for parameter in (*endpoint.query, *(endpoint.body or ()))]
        assert len(set(parameters)) == len(parameters)
        assert set(endpoint.exactly_one) <= set(parameters)
        assert endpoint.body is None or endpoint.method != "GET"


def test_build_request__launch__sends_what_the_contract_writes() -> None:
    """The recorded launch: agent key first, defaults filled in, empty artifacts left out, the key in its header."""
    request = build_request(
        "create_optimization_run",
        {"agent_key": " inv-agent ", "config": {"spend_budget_usd": 5}, "input_artifacts": [], "dataset_ref": "inv"},
        idempotency_key="nightly-7",
    ).unwrap()
    assert (request.method, request.path, request.query) == ("POST", "/v1/optimization-runs", ())
    assert request.headers == {
        "content-type": "application/json",
        "accept": "application/json",
        "idempotency-key": "nightly-7",
    }
    assert list(json.loads(request.body or b"").items()) == [
        ("agent_key", "inv-agent"),
        ("config", {"spend_budget_usd": 5}),
        ("trigger_metadata", {}),
        ("dataset_ref", "inv"),
    ]


def test_build_request__queries__come_in_the_contracts_order() -> None:
    """The agent key first, then as the table writes them."""
    request = build_request("list_optimization_runs", {"status": "RUNNING", "offset": 3}, agent_key="k").unwrap()
    assert request.query == (("agent_key", "k"), ("limit", "25"), ("offset", "3"), ("status", "RUNNING"))
    assert request.body is None


def test_build_request__path_values__are_percent_encoded() -> None:
    """Nothing but unreserved characters is left as it is."""
    request = build_request("set_agent_env_var", {"agent_id": "ag/1 é", "name": "A?", "value": ""}, agent_key="k")
    assert request.unwrap().path == "/v1/agents/ag%2F1%20%C3%A9/env-vars/A%3F"


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("no_such_call", {}, "BK801"),
        ("get_optimization_run", {}, "BK801"),
        ("get_optimization_run", {"run_id": ""}, "BK801"),
        ("get_optimization_run", {"run_id": ".."}, "BK801"),
        ("get_optimization_run", {"run_id": 7}, "BK801"),
        ("get_optimization_run", {"run_id": "r", "color": "red"}, "BK801"),
        ("list_optimization_runs", {"limit": "many"}, "BK801"),
        ("list_optimization_runs", {"limit": True}, "BK801"),
        ("resolve_dataset", {}, "BK801"),
        ("get_dataset_download_urls", {}, "BK801"),
        ("get_dataset_download_urls", {"reference": "a", "artifact_id": "b"}, "BK801"),
        ("create_optimization_run", {"config": {"seed": float("nan")}}, "BK801"),
        ("create_optimization_run", {"config": {"seed": object()}}, "BK801"),
        ("get_current_agent", {"agent_key": "  "}, "BK802"),
        ("get_current_agent", {"agent_key": ""}, "BK802"),
    ],
)
def test_build_request__wrong_arguments__are_refused(name: str, arguments: dict[str, Any], code: str) -> None:
    """Nothing is sent for arguments that the endpoint does not take; a blank agent key never falls back."""
    assert build_request(name, arguments, agent_key="client-key").failure().code == code


def test_build_request__idempotency_key__only_where_it_is_taken() -> None:
    """A key on a call that takes none is refused; a blank one is no key."""
    assert not is_successful(build_request("get_current_agent", {}, agent_key="k", idempotency_key="x"))
    blank = build_request("create_optimization_run", {}, agent_key="k", idempotency_key="").unwrap()
    assert "idempotency-key" not in blank.headers


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/nothing", 404),
        ("GET", "/v1/optimization-runs/", 404),
        ("GET", "/", 404),
        ("DELETE", "/v1/optimization-runs", 405),
        ("GET", "/v1/datasets/uploads", 405),
    ],
)
def test_match_request__no_route__says_404_or_405(method: str, path: str, status: int) -> None:
    """A path that exists under another method says which."""
    assert match_request(method, path).failure().status == status
    assert (allowed_methods(path) == ()) is (status == 404)


def test_allowed_methods__route__are_all_and_only_its_own() -> None:
    """Sorted, also where one path fits several templates."""
    assert allowed_methods("/v1/optimization-runs") == ("GET", "POST")
    assert allowed_methods("/v1/datasets/resolve") == ("GET",)
    assert allowed_methods("/v1/agents/a/env-vars/b") == ("DELETE", "PUT")


def test_match_request__fixed_segment__beats_a_place() -> None:
    """`/v1/agents/current` is no agent's id."""
    assert match_request("GET", "/v1/agents/current").unwrap().endpoint.name == "get_current_agent"
    assert match_request("POST", "/v1/datasets/a%2Fb/complete").unwrap().parameters == {"artifact_id": "a/b"}


@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b'"x"', b'{"agent_key": "a", "agent_key": "b"}', b'{"agent_key": NaN}', b"\xff", b"[" * 100_000],
)
def test_read_arguments__body_that_is_no_object__is_refused(body: bytes) -> None:
    """Broken JSON, other JSON, duplicate keys, NaN, other encodings: one BK450 each, no exception."""
    match = match_request("POST", "/v1/optimization-runs").unwrap()
    request = Request(method="POST", path="/v1/optimization-runs", body=body)
    assert {problem.code for problem in read_arguments(match, request).failure()} == {"BK450"}


def read(method: str, path: str, **sent: Any) -> list[str]:
    """What is wrong with a request."""
    found = read_arguments(match_request(method, path).unwrap(), Request(method=method, path=path, **sent))
    return [problem.message for problem in found.failure()] if not is_successful(found) else []


@pytest.mark.parametrize(
    ("key", "good"),
    [("k" * 255, True), ("ä b", True), (f" {'k' * 255} ", True), ("k" * 256, False), ("a\nb", False), ("a\x00", False)],
)
def test_read_arguments__agent_key__is_printable_and_short(key: str, good: bool) -> None:
    """It is shown in lists and stands in addresses."""
    said = read("GET", "/v1/agents/current", query=(("agent_key", key),))
    assert said == ([] if good else ["an agent key has 1 to 255 printable characters"])


@pytest.mark.parametrize(("count", "good"), [(2**63 - 1, True), (1 - 2**63, True), (2**63, False), (-(2**63), False)])
def test_read_arguments__integer__is_one_that_can_be_kept(count: int, good: bool) -> None:
    """A larger one is refused before anything is done."""
    body = dumps({"agent_key": "k", "name": "n", "files": [], "total_count": count}).encode()
    said = read("POST", "/v1/datasets/uploads", body=body)
    assert said == ([] if good else ["total_count must be at most 9223372036854775807"])


def test_read_arguments__number_of_thousands_of_digits__is_told_in_our_words() -> None:
    """Python would advise to change a setting of Python."""
    said = read("POST", "/v1/datasets/uploads", body=b'{"total_count": ' + b"9" * 5000 + b"}")
    assert said == ["the body holds an integer of more than 4300 digits"]


def test_read_arguments__many_faults__are_all_named() -> None:
    """Unknown keys, wrong types, missing and doubled parameters come together."""
    match = match_request("GET", "/v1/datasets/resolve").unwrap()
    query = (("limit", "5"), ("agent_key", " "), ("agent_key", "x"))
    problems = read_arguments(match, Request(method="GET", path="/", query=query)).failure()
    assert [problem.message for problem in problems] == [
        "the query has agent_key twice",
        "the query has no key 'limit'",
        "the query needs reference",
    ]
    match = match_request("GET", "/v1/datasets").unwrap()
    request = Request(method="GET", path="/", query=(("limit", "ten"), ("agent_key", "")))
    assert len(read_arguments(match, request).failure()) == 2


@pytest.mark.parametrize("named", [(), ("reference", "artifact_id")])
def test_read_arguments__none_or_both_of_two__is_refused(named: tuple[str, ...]) -> None:
    """A call that takes exactly one of two selectors takes neither none nor both."""
    match = match_request("GET", "/v1/datasets/download-urls").unwrap()
    query = (("agent_key", "k"), *((name, "x") for name in named))
    (problem,) = read_arguments(match, Request(method="GET", path="/", query=query)).failure()
    assert problem.message == "exactly one of reference, artifact_id must be given"


@pytest.mark.parametrize(
    "key", ["kä", "a b", "a\nX: y", " k", "k\x7f", "k" * 256], ids=["ä", "blank", "line", "before", "del", "long"]
)
def test_build_request__idempotency_key_that_no_header_carries__is_refused(key: str) -> None:
    """Before anything is sent, so that nobody has to wonder whether a run was started."""
    problem = build_request("create_optimization_run", {}, agent_key="a", idempotency_key=key).failure()
    assert (problem.code, problem.hint) == ("BK801", "nothing was sent; a UUID will do")


@pytest.mark.parametrize("key", ["k", "k" * 255, "nightly-7", "!~"])
def test_build_request__idempotency_key__is_a_header(key: str) -> None:
    """As it was given."""
    request = build_request("create_optimization_run", {}, agent_key="a", idempotency_key=key).unwrap()
    assert request.headers["idempotency-key"] == key


def test_build_request__secrets_of_the_body__are_told_and_not_shown() -> None:
    """What is set for an agent and what a login is asked for with are known, and in no `repr`; other texts are none."""
    arguments = {"agent_id": "a", "name": "N", "value": "VALUE-7"}
    setting = build_request("set_agent_env_var", arguments).unwrap()
    asking = build_request("poll_cli_login", {"challenge_id": "c", "poll_token": "POLL-7"}).unwrap()
    assert (setting.secrets, asking.secrets) == (("VALUE-7",), ("POLL-7",))
    assert "-7" not in repr(setting) + repr(asking)
    assert build_request("start_cli_login", {"name": "h"}).unwrap().secrets == ()


def test_read_response__success__is_its_object() -> None:
    """An empty body is an empty object where nothing is required; required keys must be there with their type."""
    assert read_response("logout_user", Response(status=204)).unwrap() == {}
    assert read_response("list_agents", Response(status=200, body=b'{"agents": [], "x": 1}')).unwrap() == {
        "agents": [],
        "x": 1,
    }


@pytest.mark.parametrize("total, read", [(b"7", 7), (b'"7"', 7), (b'"0"', 0), (b'"-1"', None), (b'"7.0"', None),
                                         (b'""', None), (b"true", None), (b'"' + b"9" * 16 + b'"', None)])  # fmt: skip
def test_read_response__count__may_be_written_as_text(total: bytes, read: int | None) -> None:
    """Whoever reads the answer finds a number."""
    body = b'{"runs": [], "offset": 0, "total": ' + total + b"}"
    answered = read_response("list_optimization_runs", Response(status=200, body=body))
    assert answered.map(lambda answer: answer["total"]).value_or(None) == read
    assert is_successful(answered) is (read is not None)


@pytest.mark.parametrize(
    "body", [b"[]", b"null", b'"x"', b"<html>", b'{"agents": {}}', b"{}", b'{"agents": NaN}', b"", b" \n"]
)
def test_read_response__broken_success__has_status_0(body: bytes) -> None:
    """What no service may answer is told apart from a refusal."""
    problem = read_response("list_agents", Response(status=200, body=body)).failure()
    assert (problem.code, problem.status) == ("BK804", 0)


@pytest.mark.parametrize(
    ("status", "body", "code", "message"),
    [
        (400, b'{"detail": "no"}', "BK805", "no"),
        (401, b'{"detail": "expired"}', "BK806", "expired"),
        (404, b"", "BK807", "the service answered 404"),
        (409, b'{"detail": {"code": "OTHER", "n": 1}}', "BK805", '{"code": "OTHER", "n": 1}'),
        (422, b'{"detail": [{"msg": "bad"}, {"msg": "worse"}]}', "BK805", "bad; worse"),
        (422, b'{"detail": {"code": "BK455", "message": "unknown", "hint": "upload"}}', "BK455", "unknown"),
        (500, b"<h1>\xff</h1>", "BK808", "the service answered 500"),
        (500, b" gone\xff ", "BK808", "gone\ufffd"),
        (503, b'{"error": "busy"}', "BK808", '{"error": "busy"}'),
        (302, b"", "BK805", "the service answered 302"),
        (500, b"[" * 100_000, "BK808", None),
    ],
)
def test_read_response__refusal__shows_the_detail(status: int, body: bytes, code: str, message: str | None) -> None:
    """The service's own words, its code where it states one of ours, never an exception."""
    problem = read_response("list_agents", Response(status=status, body=body)).failure()
    assert (problem.status, problem.code) == (status, code)
    assert message is None or problem.message == message


def test_read_response__401__says_what_to_pass() -> None:
    """Whoever is not known is told what to do."""
    hint = read_response("list_agents", Response(status=401)).failure().hint
    assert "beaker login" in hint
    assert "--api-key" in hint


STORE = b"""<?xml version="1.0"?>
<Error><Code>%s</Code><StringToSign>s1gned</StringToSign><SignatureProvided>s1gnature</SignatureProvided></Error>"""


@pytest.mark.parametrize(
    ("status", "body", "detail", "message"),
    [
        (
            403,
            STORE % b"SignatureDoesNotMatch",
            "SignatureDoesNotMatch",
            "the service answered 403: SignatureDoesNotMatch",
        ),
        (400, b" \n" + STORE % b"\nExpiredToken ", "ExpiredToken", "the service answered 400: ExpiredToken"),
        (403, STORE % b"s1gned & more", None, "the service answered 403"),
        (403, STORE % (b"A" * 81), None, "the service answered 403"),
        (502, b"<html>\n<title>bad gateway</title>", None, "the service answered 502"),
    ],
)
def test_read_response__markup__shows_a_stores_code_and_no_signature(
    status: int, body: bytes, detail: str | None, message: str
) -> None:
    """What a store wrote about a signature is for its owner; the code says what there is to know."""
    problem = read_response("list_agents", Response(status=status, body=body)).failure()
    assert (problem.detail, problem.message) == (detail, message)
    assert "s1gn" not in repr(problem)


@pytest.mark.parametrize(
    ("headers", "when"),
    [
        ({"retry-after": "30"}, "in 30 seconds"),
        ({"retry-after": " 1 "}, "in 1 second"),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, "after Wed, 21 Oct 2015 07:28:00 GMT"),
        ({"retry-after": "Sunday, 06-Nov-94 08:49:37 GMT"}, "after Sunday, 06-Nov-94 08:49:37 GMT"),
        ({"retry-after": "Sun Nov  6 08:49:37 1994"}, "after Sun Nov  6 08:49:37 1994"),
        ({"retry-after": "soon\x1b[31m"}, "later"),
        ({"retry-after": "-1"}, "later"),
        ({}, "later"),
    ],
)
def test_read_response__too_many_requests__says_so_and_when_to_come_back(headers: dict[str, str], when: str) -> None:
    """Whoever asked too often learns it, and for how long to wait; so does who met a service in trouble."""
    problem = read_response("list_agents", Response(status=429, headers=headers, body=b'{"detail": "slow"}')).failure()
    assert (problem.code, problem.message) == ("BK805", "slow")
    assert problem.hint == f"the service was asked too often (429); try again {when}"
    for status in (502, 503, 504):
        assert (
            read_response("list_agents", Response(status=status, headers=headers)).failure().hint == f"try again {when}"
        )
    assert read_response("list_agents", Response(status=501, headers=headers)).failure().hint == ""


@pytest.mark.parametrize(
    ("listed", "good"),
    [("[]", True), ("[{}]", True), ("[{}, 1]", False), ("[null]", False), ("{}", False), ("7", False)],
)
def test_read_response__list_of_objects__holds_nothing_else(listed: str, good: bool) -> None:
    """Whoever goes through the list finds objects."""
    body = f'{{"env_vars": {listed}}}'.encode()
    answered = read_response("list_agent_env_vars", Response(status=200, body=body))
    assert is_successful(answered) is good
    assert good or answered.failure().code == "BK804"


@pytest.mark.parametrize("kind", ["text/html", "TEXT/HTML; charset=utf-8", "application/xhtml+xml"])
def test_read_response__web_page__is_told_as_one(kind: str) -> None:
    """A login page with status 200 is no answer, whatever is in it."""
    page = Response(status=200, headers={"content-type": kind}, body=b'{"agents": []}')
    problem = read_response("list_agents", page).failure()
    assert (problem.code, problem.status, problem.body) == ("BK804", 0, '{"agents": []}')
    assert problem.message == "the answer to list_agents is a web page, not the API's"
    assert problem.hint == "check the base URL; a login page or a proxy may stand in between"
    assert is_successful(read_response("list_agents", attrs.evolve(page, headers={"content-type": "text/plain"})))


@pytest.mark.parametrize("status", [200, 429])
@pytest.mark.parametrize(
    ("headers", "request_id"),
    [
        ({"x-request-id": "a", "request-id": "b"}, "a"),
        ({"x-request-id": "", "request-id": "b"}, "b"),
        ({"x-amzn-requestid": "c"}, "c"),
        ({"x-amz-request-id": "d"}, ""),
    ],
)
def test_read_response__anything_but_success__keeps_what_a_report_needs(
    status: int, headers: dict[str, str], request_id: str
) -> None:
    """What the service calls the request, the whole text, and what it says about time; the text is in no repr."""
    said = {**headers, "retry-after": "7", "date": "Thu, 01 Jan 2026 12:00:00 GMT"}
    problem = read_response("list_agents", Response(status=status, headers=said, body=b" \xffsecret ")).failure()
    assert (problem.request_id, problem.body) == (request_id, " \ufffdsecret ")
    assert "body" not in repr(problem)
    if status == 429:
        assert problem.detail == "\ufffdsecret"
        assert (problem.retry_after, problem.date) == ("7", said["date"])


def test_build_request__credential__is_named_by_the_call_or_none_at_all() -> None:
    """A login call carries no credential; a token of the call is in no representation of its request."""
    assert build_request("start_cli_login", {}).unwrap().anonymous
    made = build_request("get_user_me", {}, token="bkr_cli_secret").unwrap()
    assert (made.anonymous, made.token) == (False, "bkr_cli_secret")
    assert "bkr_cli_secret" not in repr(made)


problems = st.builds(Problem, st.sampled_from(["BK101", "BK461"]), texts, st.just("") | texts, st.just("") | texts)


@given(st.lists(problems, min_size=1, max_size=4).map(tuple))
def test_problem_detail__read_back__is_the_same_problems(stated: tuple[Problem, ...]) -> None:
    """What a service refuses with, a client shows: every problem with its code, place and hint."""
    body = json.dumps(problem_detail(stated)).encode()
    read = read_response("list_agents", Response(status=422, body=body)).failure()
    assert read.code == stated[0].code
    listed = stated_problems(read)
    assert [(one.code, one.message, one.where) for one in listed] == [
        (one.code, one.message, one.where) for one in stated
    ]
    assert all(one.hint in (found.hint, "") for one, found in zip(stated, listed, strict=True))


def test_stated_problems__plain_problem__is_itself() -> None:
    """A problem without a list of the service's stands for itself, a malformed list too."""
    plain = Problem("BK803", "no answer")
    assert stated_problems(plain) == (plain,)
    odd = ApiProblem("BK805", "odd", status=422, detail={"problems": ["x"]})
    assert stated_problems(odd) == (odd,)


def test_stated_problem__whatever_is_stated__becomes_one() -> None:
    """An object in our form is read; anything else is the message of an answer that breaks the contract."""
    stated = {"code": "BK500", "message": "m", "where": "w", "hint": "h"}
    assert stated_problem(stated) == Problem("BK500", "m", "w", "h")
    assert stated_problem({"message": "m", "hint": None}) == Problem("BK804", "m")
    assert stated_problem({"code": "BK500"}) == Problem("BK500", "{'code': 'BK500'}")
    for other in (7, None, "text"):
        assert stated_problem(other) == Problem("BK804", str(other))
