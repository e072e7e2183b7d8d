"""Calls of the API as values: building a request, finding its endpoint, reading its arguments; `beaker.core.responses`
reads what comes back.

Sans-I/O: a client turns a call into a `Request` and a `Response` into a result; a service does the reverse. Whatever
carries the bytes between them (HTTP, a direct call) is a transport and knows none of this.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

import attrs
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core import strict_json
from beaker.core.endpoints import ENDPOINT, ENDPOINTS, Endpoint, Parameter, fits
from beaker.core.problems import Problem, Problems
from beaker.core.responses import ApiProblem as ApiProblem
from beaker.core.responses import Response as Response
from beaker.core.responses import problem_detail as problem_detail
from beaker.core.responses import read_refusal as read_refusal
from beaker.core.responses import read_response as read_response
from beaker.core.responses import stated_problems as stated_problems
from beaker.core.strict_json import JsonObject
from beaker.core.values import read_only, value


@value(kw_only=True)
class Request:
    """One request as it travels.

    `path` is percent-encoded and starts with `/v1/`; `query` keeps its order, not yet encoded; `body` is JSON in UTF-8
    or `None`; `headers` has lower-case names and holds no credential: that belongs to the transport, which sends
    `token` instead where there is one, and none when the request is `anonymous`. `secrets` are texts in the body that
    no error may show.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = attrs.field(factory=dict)
    body: bytes | None = attrs.field(default=None, repr=False)
    token: str | None = attrs.field(default=None, repr=False)
    anonymous: bool = False
    secrets: tuple[str, ...] = attrs.field(default=(), repr=False)


@value
class Match:
    """What a method and path mean: the endpoint, and the decoded values of its path parameters."""

    endpoint: Endpoint
    parameters: Mapping[str, str]


_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")
_PLACE = re.compile(r"\{(\w+)\}")
_INTEGER = re.compile(r"-?[0-9]{1,15}")

MAX_INTEGER = 2**63 - 1
"""The largest integer that a service keeps, up and down."""

MAX_AGENT_KEY = 255
"""Characters of an agent key."""


def build_request(
    name: str,
    arguments: Mapping[str, Any],
    *,
    agent_key: str | None = None,
    idempotency_key: str | None = None,
    token: str | None = None,
) -> Result[Request, Problem]:
    """The request that calls the endpoint `name`.

    `arguments` are the path, query and body parameters by name; `None` means not given. `arguments["agent_key"]` wins
    over `agent_key`, and is an error when blank. `idempotency_key` is sent when it is not empty, `token` replaces the
    transport's credential. Problems: BK801 for arguments the endpoint does not take, lacks or has with another type;
    BK802 without an agent key.
    """
    endpoint = ENDPOINT.get(name)
    if endpoint is None:
        return Failure(Problem("BK801", f"the API has no endpoint {name!r}"))
    given = {key: argument for key, argument in arguments.items() if argument is not None}
    key = str(given.pop("agent_key", agent_key) or "").strip()
    places = _PLACE.findall(endpoint.path)
    parameters = {parameter.name: parameter for parameter in (*endpoint.query, *(endpoint.body or ()))}
    if unknown := sorted(given.keys() - parameters.keys() - set(places)):
        return Failure(Problem("BK801", f"{name} takes no {', '.join(unknown)}"))
    if idempotency_key and not endpoint.repeatable:
        return Failure(Problem("BK801", f"{name} takes no idempotency key"))
    if idempotency_key and not _IDEMPOTENCY_KEY.fullmatch(idempotency_key):
        hint = "nothing was sent; a UUID will do"
        return Failure(
            Problem("BK801", "an idempotency key is at most 255 letters, digits and signs of ASCII", hint=hint)
        )
    for place in places:
        if not isinstance(given.get(place), str) or not given[place] or given[place] in (".", ".."):
            return Failure(Problem("BK801", f"{name} needs {place}, a non-empty string"))
    if fault := _argument_fault(endpoint, given):
        return Failure(Problem("BK801", f"{name}: {fault}"))
    if endpoint.agent_key and not key:
        hint = "pass --agent, set BEAKER_AGENT_KEY, or give the integration an agent_key in .beaker/beaker.yaml"
        return Failure(Problem("BK802", "no agent key is given", hint=hint))

    path = _PLACE.sub(lambda place: quote(given[place[1]], safe=""), endpoint.path)
    query = [("agent_key", key)] if endpoint.agent_key == "query" else []
    query += [(sent.name, _query_text(given, sent)) for sent in endpoint.query if _is_sent(given, sent)]
    body: JsonObject | None = None
    if endpoint.body is not None:
        body = {"agent_key": key} if endpoint.agent_key == "body" else {}
        body.update({sent.name: given.get(sent.name, sent.default) for sent in endpoint.body if _is_sent(given, sent)})
    try:
        encoded = None if body is None else strict_json.dumps(strict_json.json_value(body, "the body")).encode()
    except (TypeError, ValueError) as error:
        return Failure(Problem("BK801", f"{name}: {error}"))
    headers = {"content-type": "application/json", "accept": "application/json"}
    if idempotency_key:
        headers["idempotency-key"] = idempotency_key
    request = Request(
        method=endpoint.method,
        path=path,
        query=tuple(query),
        headers=read_only(headers),
        body=encoded,
        token=token,
        anonymous=endpoint.auth == "none",
        secrets=tuple(given[sent.name] for sent in endpoint.body or () if sent.secret and sent.name in given),
    )
    return Success(request)


def match_request(method: str, path: str) -> Result[Match, ApiProblem]:
    """The endpoint that answers `method` on the percent-encoded `path`; 404 or 405 when there is none."""
    segments = path.split("/")
    found: Match | None = None
    for endpoint in ENDPOINTS:
        parameters = _fit(endpoint.path.split("/"), segments) if endpoint.method == method else None
        if parameters is not None and (found is None or len(parameters) < len(found.parameters)):
            found = Match(endpoint, read_only(parameters))
    if found is not None:
        return Success(found)
    if allowed := allowed_methods(path):
        message = f"{path} does not take {method}, only {', '.join(allowed)}"
        return Failure(ApiProblem("BK451", message, status=405))
    return Failure(ApiProblem("BK451", f"there is no route {path}", status=404))


def allowed_methods(path: str) -> tuple[str, ...]:
    """The methods that the percent-encoded `path` takes, sorted; none when there is no such route."""
    segments = path.split("/")
    fitting = {endpoint.method for endpoint in ENDPOINTS if _fit(endpoint.path.split("/"), segments) is not None}
    return tuple(sorted(fitting))


def read_arguments(match: Match, request: Request) -> Result[dict[str, Any], Problems]:
    """The arguments of a request, defaults filled in, `agent_key` included; every fault is a BK450.

    A body that an endpoint does not take is ignored when it is empty or `{}`.
    """
    endpoint = match.endpoint
    arguments: dict[str, Any] = dict(match.parameters)
    problems: list[Problem] = []
    query: dict[str, Any] = {}
    for name, text in request.query:
        if name in query:
            problems.append(Problem("BK450", f"the query has {name} twice"))
        query[name] = text
    body: dict[str, Any] = {}
    if request.body:
        parsed = strict_json.parse(request.body, "the body")
        if not is_successful(parsed):
            return Failure((Problem("BK450", str(parsed.failure())),))
        if not isinstance(parsed.unwrap(), dict):
            return Failure((Problem("BK450", "the body must be a JSON object"),))
        body = parsed.unwrap()
    for place, values, known in (
        ("query", query, endpoint.query),
        ("body", body, endpoint.body or ()),
    ):
        names = {parameter.name for parameter in known} | ({"agent_key"} if endpoint.agent_key == place else set())
        problems += [Problem("BK450", f"the {place} has no key {key!r}") for key in sorted(values.keys() - names)]
        for parameter in known:
            read = _read_argument(place, values, parameter)
            problems.append(read) if isinstance(read, Problem) else arguments.update(read)
    if endpoint.agent_key:
        key = (query if endpoint.agent_key == "query" else body).get("agent_key")
        if isinstance(key, str) and key.strip():
            arguments["agent_key"] = key.strip()
            if len(key.strip()) > MAX_AGENT_KEY or not key.strip().isprintable():
                problems.append(Problem("BK450", f"an agent key has 1 to {MAX_AGENT_KEY} printable characters"))
        else:
            problems.append(Problem("BK450", f"the {endpoint.agent_key} needs agent_key, a non-empty string"))
    if endpoint.exactly_one and sum(arguments.get(name) is not None for name in endpoint.exactly_one) != 1:
        problems.append(Problem("BK450", f"exactly one of {', '.join(endpoint.exactly_one)} must be given"))
    return Failure(tuple(problems)) if problems else Success(arguments)


def _argument_fault(endpoint: Endpoint, given: Mapping[str, Any]) -> str | None:
    for parameter in (*endpoint.query, *(endpoint.body or ())):
        argument = given.get(parameter.name)
        if argument is None:
            if parameter.required:
                return f"{parameter.name} is missing"
        elif not fits(argument, parameter.kind):
            return f"{parameter.name} must be of type {parameter.kind}, not {type(argument).__name__}"
    if endpoint.exactly_one and sum(name in given for name in endpoint.exactly_one) != 1:
        return f"exactly one of {', '.join(endpoint.exactly_one)} must be given"
    return None


def _is_sent(given: Mapping[str, Any], parameter: Parameter) -> bool:
    argument = given.get(parameter.name, parameter.default)
    return argument is not None and not (parameter.non_empty and not argument)


def _query_text(given: Mapping[str, Any], parameter: Parameter) -> str:
    return str(given.get(parameter.name, parameter.default))


def _fit(template: list[str], segments: list[str]) -> dict[str, str] | None:
    if len(template) != len(segments):
        return None
    parameters = {}
    for wanted, found in zip(template, segments, strict=True):
        if place := _PLACE.fullmatch(wanted):
            if not found:
                return None
            parameters[place[1]] = unquote(found)
        elif wanted != found:
            return None
    return parameters


def _read_argument(place: str, values: Mapping[str, Any], parameter: Parameter) -> dict[str, Any] | Problem:
    argument = values.get(parameter.name)
    if argument is None:
        if parameter.required:
            return Problem("BK450", f"the {place} needs {parameter.name}")
        return {parameter.name: parameter.default}
    if place == "query" and parameter.kind == "integer" and _INTEGER.fullmatch(argument):
        argument = int(argument)
    if not fits(argument, parameter.kind):
        return Problem("BK450", f"{parameter.name} must be of type {parameter.kind}")
    if parameter.kind == "integer" and abs(argument) > MAX_INTEGER:
        return Problem("BK450", f"{parameter.name} must be at most {MAX_INTEGER}")
    return {parameter.name: argument}
