"""What a service needs of the world, and what a handler is given and gives back."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from returns.result import Result

from beaker.core import strict_json
from beaker.core.agent_values import AgentValues
from beaker.core.api import Response, problem_detail
from beaker.core.environment import GrantedEnvironment
from beaker.core.problems import Problem, Problems
from beaker.core.values import value
from beaker.files.git import TreeFile
from beaker.service.agent_table import Agent
from beaker.service.blobs import Blobs
from beaker.service.database import Database

MAX_PAGE = 500


@value
class Caller:
    """Who calls: the organization, and whether it is a command on this machine or one that came over the network."""

    organization: str
    kind: Literal["local", "remote"] = "local"


class Repository(Protocol):
    """The repository that runs take their code from."""

    def name(self) -> str:
        """`owner/name`."""
        ...

    def config_path(self) -> str:
        """Where its configuration file stands, from the repository's root."""
        ...

    def checkout(self) -> str | None:
        """The folder of the working copy on this machine, whose places on `sys.path` a run takes over; if any."""
        ...

    def commit(self, ref: str | None) -> Result[str, Problem]:
        """The full id of the commit that `ref` names, of the default when it is `None`."""
        ...

    def snapshot(self) -> Result[str, Problem]:
        """The full id of a commit of the working copy as it stands, `left_out` included."""
        ...

    def left_out(self) -> Result[tuple[str, ...], Problem]:
        """Paths that differ from what is committed, so that a run would not include them."""
        ...

    def untracked(self, folder: str) -> Result[tuple[str, ...], Problem]:
        """Paths below `folder` that are neither committed nor ignored."""
        ...

    def read_file(self, commit: str, path: str) -> Result[bytes, Problem]:
        """One file of a commit."""
        ...

    def files(self, commit: str) -> Iterator[TreeFile]:
        """Every entry of a commit; raises `Refused`."""
        ...


class Workers(Protocol):
    """What runs the runs."""

    def start(self, run_id: str, granted: Mapping[str, str]) -> None:
        """Start a worker for a run that has none, with the values of the names it was granted."""
        ...

    def stop(self, run_id: str) -> None:
        """End the worker of a cancelled run, if it has one."""
        ...


class Transfers(Protocol):
    """The URLs under which blob bytes travel."""

    def upload_url(self, artifact_id: str, path: str) -> str:
        """Where the bytes of one announced file go."""
        ...

    def blob_url(self, digest: str, name: str) -> str:
        """Where the bytes of a blob come from; `name` is what they are called there."""
        ...


class Secrets(Protocol):
    """Where the values of agents are kept."""

    def read(self) -> AgentValues:
        """All of them; raises `Refused`."""
        ...

    def change(self, edit: Callable[[AgentValues], AgentValues]) -> AgentValues:
        """Keep what `edit` makes of them, alone among those who change them, and give that; raises `Refused`."""
        ...


@value(kw_only=True)
class Ports:
    """The world of a service.

    `now` answers in UTC; `new_id` gives a new URL-safe id with a prefix; `granted` finds the values of the names that
    an integration declares, for an agent by its key, and `unset` tells which names the caller's own environment lacks.
    `secrets` keeps the values of agents. `program` tells whether a program, by name or absolute path, can be started
    where runs take place.
    """

    database: Database
    blobs: Blobs
    repository: Repository
    workers: Workers
    transfers: Transfers
    now: Callable[[], datetime]
    new_id: Callable[[str], str]
    granted: Callable[[Iterable[str], str], GrantedEnvironment]
    unset: Callable[[Iterable[str]], tuple[str, ...]]
    program: Callable[[str], bool]
    secrets: Secrets


@value(kw_only=True)
class Call:
    """One call as a handler sees it: checked arguments, the agent it is about, and the ports."""

    arguments: Mapping[str, Any]
    caller: Caller
    ports: Ports
    agent: Agent | None = None
    idempotency_key: str | None = None

    def the_agent(self) -> Agent:
        """The agent; endpoints without an agent key must not ask."""
        assert self.agent is not None
        return self.agent


def answer(body: object, *, status: int = 200) -> Response:
    """A JSON answer."""
    encoded = strict_json.dumps(body).encode()
    return Response(status=status, headers={"content-type": "application/json"}, body=encoded)


def refuse(status: int, problems: Problem | Problems) -> Response:
    """A refusal with everything that is wrong in `detail`."""
    several = problems if isinstance(problems, tuple) else (problems,)
    return answer(problem_detail(several), status=status)


def page_of(call: Call) -> tuple[int, int] | Response:
    """The `limit` (at most 500 are given) and `offset` of a listing."""
    limit, offset = call.arguments["limit"], call.arguments["offset"]
    if limit < 1 or offset < 0:
        return refuse(
            422, Problem("BK450", f"limit must be at least 1 and offset at least 0, not {limit} and {offset}")
        )
    return min(limit, MAX_PAGE), offset


def timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC with microseconds, so that text order is time order."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
