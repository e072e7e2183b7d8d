"""What a flow may ask for: calls, and files that travel while it goes on.

A flow is a generator of steps, sans-I/O: whoever runs it does each step and sends back what came of it.
"""

from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import attrs
from returns.result import Result

from beaker.client.local_files import LocalFile
from beaker.client.remote_files import Fetched, RemoteFile
from beaker.core.api import Response
from beaker.core.problems import Problem
from beaker.core.values import value

T = TypeVar("T")


@value
class Call:
    """Call an endpoint; what came of it is the `Result` of `Api.call`."""

    name: str
    arguments: Mapping[str, Any]


@value
class Put:
    """A file that goes to an upload URL. In the end there is a `Response`, whatever its status."""

    url: str = attrs.field(repr=False)  # signed: whoever has it may write
    headers: Mapping[str, str]
    file: LocalFile


@value
class Get:
    """A file that comes from a download URL to `target`, verified; in the end it is `Fetched`."""

    file: RemoteFile
    target: Path


@value
class Begin:
    """Let a file travel; nothing comes of this step. Several travel at once, and `Next` tells of each by its `key`."""

    key: str
    move: Put | Get


@value
class Next:
    """Wait for what happens next to the files under way: what came of it is a `Moved` or an `Ended`."""


@value
class Moved:
    """So many bytes of the file have travelled by now. Small files are not told of."""

    key: str
    done: int


@value
class Ended:
    """A file has arrived, or will not: what its move says, or the problem it had."""

    key: str
    outcome: Result[Response | Fetched, Problem]


Happened: TypeAlias = Moved | Ended
Flow: TypeAlias = Generator[Call | Begin | Next, Any, Result[T, Problem]]
