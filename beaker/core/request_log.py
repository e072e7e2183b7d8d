"""A request and its answer in a line each, without what nobody else may read."""

from urllib.parse import quote, quote_plus, urlencode

from beaker.core.api import Request, Response
from beaker.core.responses import request_id_of

HIDDEN = "[hidden]"


def request_line(request: Request, place: str) -> str:
    """`> POST https://api.example/v1/x?limit=1 (12 bytes)`.

    Headers are left out and the body is counted, never shown; what the request calls secret, and its own token, are
    hidden in the address too.
    """
    query = f"?{urlencode(request.query)}" if request.query else ""
    address = place.rstrip("/") + request.path + query
    for secret in filter(None, (*request.secrets, request.token)):
        for written in (secret, quote(secret, safe=""), quote_plus(secret)):
            address = address.replace(written, HIDDEN)
    return f"> {request.method} {address}" + ("" if request.body is None else f" ({len(request.body)} bytes)")


def answer_line(response: Response, *, seconds: float) -> str:
    """`< 200, 345 bytes, 0.12 s, request r-1`."""
    named = request_id_of(response)
    return f"< {response.status}, {len(response.body)} bytes, {seconds:.2f} s" + (f", request {named}" if named else "")
