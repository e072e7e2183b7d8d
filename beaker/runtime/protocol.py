"""The lines that a host and its children exchange; `docs/worker-protocol.md` describes them.

A message is one JSON object on one line of ASCII. A host sends requests `{"id", "op", ...}`; a child answers each with
`{"id", "ok"}` or `{"id", "error"}`, after any number of events `{"id", "event", ...}`.
"""

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from beaker.core.strict_json import dumps
from beaker.runtime.shortening import preliminary

PROTOCOL_VERSION = 1

MAX_MESSAGE = 64 * 1024 * 1024
"""Bytes one message may have, its line end included."""

QUOTED = 160
"""Characters that are shown of what is no message, and of why."""

PIPE_LOST = 121
"""Exit status of a child that found its pipe closed by the code it runs."""


class ProtocolError(Exception):
    """What arrived is not a message. Its text is cut as `preliminary` does."""


def encode(message: dict[str, Any]) -> bytes:
    """One line. `TypeError` or `ValueError` for what is not JSON; the caller looks at the size."""
    return dumps(message).encode("ascii") + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """Read one line; `ProtocolError` when it is no JSON object."""
    try:
        message = _DECODER.decode(line.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"{_quoted(line)} is not a message: {error}") from None
    if not isinstance(message, dict):
        raise ProtocolError(f"{_quoted(line)} is not a message")
    return message


class Lines:
    """Cuts arriving bytes into lines; `ProtocolError` when one grows beyond `MAX_MESSAGE`."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take the next bytes and give every line they complete, without its end."""
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._parts.append(data[start:end])
            line = b"".join(self._parts)
            self._parts.clear()
            self._size = 0
            start = end + 1
            yield line
        if start < len(data):
            rest = data[start:]
            self._size += len(rest)
            if self._size > MAX_MESSAGE:
                raise ProtocolError(f"a message is longer than {MAX_MESSAGE} bytes")
            self._parts.append(rest)


def _quoted(line: bytes) -> str:
    return preliminary(repr(line.decode("utf-8", "backslashreplace")), QUOTED)


def _refuse(literal: str) -> NoReturn:
    raise ValueError(f"{literal} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse)
