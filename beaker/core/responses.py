"""Answers of the API as values: what a success holds, and what a refusal says.

Whatever a service sends becomes a JSON object or an `ApiProblem`; nothing that is sent raises an exception.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import attrs
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core import strict_json
from beaker.core.endpoints import ENDPOINT, fits
from beaker.core.problems import Problem, Problems
from beaker.core.strict_json import JsonObject
from beaker.core.values import value
from beaker.core.wording import counted


@value(kw_only=True)
class Response:
    """One response as it travels: HTTP status, headers with lower-case names, the whole body."""

    status: int
    headers: Mapping[str, str] = attrs.field(factory=dict)
    body: bytes = b""


@value
class ApiProblem(Problem):
    """A call that did not succeed.

    `status` is the HTTP status, 0 when there was no answer or a broken one. `detail` is the JSON `detail` of the
    answer, else its text, of XML its `Code` and of a web page nothing; `body` is the whole answer as text.
    `retry_after` and `date` are the headers of these names, as they were sent, `request_id` is what the service calls
    the request.
    """

    status: int = 0
    detail: Any = None
    retry_after: str = ""
    date: str = ""
    request_id: str = ""
    body: str = attrs.field(default="", repr=False)


REQUEST_ID_HEADERS = ("x-request-id", "request-id", "x-amzn-requestid")
"""Headers in which services say what they call a request; the first one that is there counts."""

_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_COUNT = re.compile(r"[0-9]{1,15}")
_CODE = re.compile(r"BK\d{3}")
_KINDS = {"objects": "list of objects"}
_XML_CODE = re.compile(r"<Code>\s*([A-Za-z0-9._-]{1,80})\s*</Code>")
_DATE = re.compile(r"[A-Z][a-z]{2,8},? [A-Za-z0-9:, -]{8,30}")


def read_response(name: str, response: Response) -> Result[JsonObject, ApiProblem]:
    """The JSON object of a success, `{}` for an empty body where nothing has to be said; else what went wrong.

    Problems: BK804 for an answer that breaks the contract (status 0); otherwise the service's own code where it states
    one, else BK806 (401), BK807 (404), BK808 (5xx), BK805 (anything else).
    """
    if not 200 <= response.status < 300:
        return Failure(read_refusal(response))
    if response.headers.get("content-type", "").partition(";")[0].strip().lower() in _PAGES:
        hint = "check the base URL; a login page or a proxy may stand in between"
        return Failure(_broken(response, f"the answer to {name} is a web page, not the API's", hint))
    parsed = strict_json.parse(response.body if response.body.strip() else b"{}", f"the answer to {name}")
    if not is_successful(parsed):
        return Failure(_broken(response, str(parsed.failure())))
    answer = parsed.unwrap()
    if not isinstance(answer, dict):
        return Failure(_broken(response, f"the answer to {name} is not a JSON object"))
    for key, kind in ENDPOINT[name].answer:
        found = answer.get(key)
        if kind == "integer" and isinstance(found, str) and _COUNT.fullmatch(found):
            answer[key] = found = int(found)  # some services write counts as text
        if not fits(found, kind):
            return Failure(
                _broken(response, f"the answer to {name} lacks {key}, which must be of type {_KINDS.get(kind, kind)}")
            )
    return Success(answer)


def read_refusal(response: Response) -> ApiProblem:
    """What a response that is no success says; the codes are those of `read_response`."""
    text = response.body.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    detail: Any = body.get("detail", body) if isinstance(body, dict) else words_in(text.strip())
    status = response.status
    message = f"the service answered {status}"
    if detail is not None and body is None and text.lstrip().startswith("<"):
        message = f"{message}: {detail}"
    elif words := said(detail):
        message = words
    match status:
        case 401:
            code, hint = "BK806", "log in again (`beaker login`), or pass another API key (--api-key, BEAKER_API_KEY)"
        case 404:
            code, hint = "BK807", ""
        case 429:
            code, hint = "BK805", f"the service was asked too often (429); try again {_when(response)}"
        case _ if status >= 500:
            code, hint = "BK808", f"try again {_when(response)}" if status in (502, 503, 504) else ""
        case _:
            code, hint = "BK805", ""
    fallback = Problem(code, message, hint=hint)
    stated = _stated(detail, fallback) if isinstance(detail, dict) else fallback
    listed = stated_problems(ApiProblem(code, "", status=status, detail=detail))
    if len(listed) > 1:
        message, where = "; ".join(map(str, listed)), ""
    else:
        message, where = stated.message, stated.where
    return ApiProblem(
        stated.code,
        message,
        where,
        stated.hint,
        status,
        detail,
        retry_after=response.headers.get("retry-after", ""),
        date=response.headers.get("date", ""),
        request_id=request_id_of(response),
        body=text,
    )


def words_in(text: str) -> str | None:
    """What a refusal that is no JSON says. A store's XML has a code; beside it may be what was signed and the
    signature, so nothing else of it is shown. A web page says nothing of use."""
    if not text.startswith("<"):
        return text or None
    found = _XML_CODE.search(text)
    return None if found is None else found[1]


def _when(response: Response) -> str:
    """When the service says to come back: in seconds, or at the date as it wrote it; later, when it does not say."""
    asked = response.headers.get("retry-after", "").strip()
    if _COUNT.fullmatch(asked):
        return f"in {counted(int(asked), 'second')}"
    return f"after {asked}" if _DATE.fullmatch(asked) else "later"


def problem_detail(problems: Problems) -> JsonObject:
    """The body in which a service states problems: `{"detail": {code, message, where, hint, problems}}`.

    The first four are those of the first problem; `problems` lists every one in the same form.
    """
    listed: list[Any] = [
        {"code": problem.code, "message": problem.message, "where": problem.where, "hint": problem.hint}
        for problem in problems
    ]
    return {"detail": {**listed[0], "problems": listed}}


def stated_problems(problem: Problem) -> Problems:
    """Every problem that an answer stated, each with the service's code; `problem` itself when it stated no list."""
    detail = problem.detail if isinstance(problem, ApiProblem) else None
    listed = detail.get("problems") if isinstance(detail, dict) else None
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        return (problem,)
    return tuple(_stated(item, problem) for item in listed) or (problem,)


def stated_problem(stated: object) -> Problem:
    """A problem as an answer states it beside what was asked: an object with code, message, where and hint, or whatever
    else it is, which is then the message."""
    read = stated if isinstance(stated, Mapping) else {}
    code, message, where, hint = (str(read.get(key) or "") for key in ("code", "message", "where", "hint"))
    return Problem(code or "BK804", message or str(stated), where, hint)


def _broken(response: Response, message: str, hint: str = "") -> ApiProblem:
    """An answer that breaks the contract: whatever it said, it counts as none."""
    text = response.body.decode("utf-8", "replace")
    return ApiProblem("BK804", message, hint=hint, request_id=request_id_of(response), body=text)


def request_id_of(response: Response) -> str:
    """What the service calls the request that it answered; empty when it does not say."""
    return next((response.headers[name] for name in REQUEST_ID_HEADERS if response.headers.get(name)), "")


def _stated(item: Mapping[str, Any], fallback: Problem) -> Problem:
    """One problem in the form of `problem_detail`; what it lacks comes from `fallback`."""
    code, message, where, hint = (item.get(key) for key in ("code", "message", "where", "hint"))
    return Problem(
        code if isinstance(code, str) and _CODE.fullmatch(code) else fallback.code,
        message if isinstance(message, str) and message else fallback.message,
        where if isinstance(where, str) else fallback.where,
        hint if isinstance(hint, str) and hint else fallback.hint,
    )


def said(detail: Any) -> str:
    """The words of a `detail`, which is conventionally a string, an object with a message, or a list of either."""
    match detail:
        case str():
            return detail
        case {"message": str(message)} | {"msg": str(message)}:
            return message
        case list():
            return "; ".join(filter(None, map(said, detail)))
        case None:
            return ""
        case _:
            return json.dumps(detail, ensure_ascii=False)
