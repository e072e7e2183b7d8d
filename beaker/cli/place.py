"""Where a command's API is: the project and configuration around it, the agent, the credential, the transport."""

import argparse
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.cli.shell import Io, one_line
from beaker.core.config import LEGACY_CODE, ProjectConfig
from beaker.core.credentials import LOCAL, Credential, choose_agent_key, choose_base_url, choose_credential
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.project_layout import BEAKER_CONFIG_FILE_ENV
from beaker.core.selection import choose
from beaker.core.values import value
from beaker.files.dotenv import read_dotenv
from beaker.files.project import Project, find_project, load_project_config

if TYPE_CHECKING:
    from beaker.client.api import Api
    from beaker.core.needless import GivenOptions
    from beaker.service.embedded import EmbeddedTransport

T = TypeVar("T")

Answer = dict[str, Any]
"""A JSON object that a place answered. It is shown, not judged."""

RESUME_EVERY = 5.0
"""Seconds between two looks for runs that have lost their worker: a worker needs a moment to show that it lives."""


@value
class Surroundings:
    """What lies around the working directory: the project, its configuration, and what could not be read of it.

    `config` is `None` when there is no file or `problems` say what is wrong with it.
    """

    project: Project | None
    config: ProjectConfig | None
    problems: Problems


class Place:
    """An API that is ready to be called, and who calls it.

    `embedded` is this machine's own, else `None`, and then there is a `credential`. `near` tells that asking costs next
    to nothing: the place is on this machine, if behind HTTP.
    """

    def __init__(
        self,
        api: "Api",
        agent_key: str,
        io: Io,
        *,
        embedded: "EmbeddedTransport | None" = None,
        resumes: bool = False,
        near: bool = False,
        credential: Credential | None = None,
    ) -> None:
        self.api = api
        self.agent_key = agent_key
        self.credential = credential
        self.embedded = embedded
        self.near = near or embedded is not None
        self._io = io
        self._resumes = resumes
        self._resumed_at = float("-inf")
        self._restarts: Counter[str] = Counter()

    @property
    def local(self) -> bool:
        """Whether runs take place on this machine."""
        return self.embedded is not None

    def call(self, name: str, /, **arguments: Any) -> Answer:
        """What the endpoint `name` answers; `Refused` with every problem that it states."""
        return answered(self.api.call(name, **arguments))

    def stands_still(self, run_id: str) -> bool:
        """Whether a run of this machine has no worker, none that this command has just started for it, and no server
        that will start one."""
        if self.embedded is None or self.embedded.place.served() or self.embedded.workers.lives(run_id):
            return False
        started = self.embedded.workers.process(run_id)
        return started is None or started.poll() is not None

    def resume(self) -> None:
        """Start the workers of this machine's unfinished runs that have lost theirs, unless told only to look.

        Says what was started, and once per run what hinders one. `Refused` (BK722) when a worker ends again and again.
        """
        if self.embedded is None or not self._resumes or self._io.now() - self._resumed_at < RESUME_EVERY:
            return
        from beaker.core.runs import worker_lost_too_often

        self._resumed_at = self._io.now()
        for resumption in self.embedded.resume_unlocked_runs():
            run_id = resumption.run_id
            self._restarts[run_id] += 1
            if resumption.problem is not None:
                if self._restarts[run_id] == 1:
                    self._io.warn(resumption.problem)
                continue
            log = str(self.embedded.place.log_path(run_id))
            if (problem := worker_lost_too_often(run_id, self._restarts[run_id], log)) is not None:
                raise Refused(problem)
            if resumption.lost:
                # Said under --quiet too: work begins that nobody asked for with this command.
                self._io.tell(f"the run {one_line(run_id)} had lost its worker; it goes on with a new one")


def answered(result: "Result[T, Problem] | Result[T, Problems]") -> T:
    """What a call answered; `Refused` with every problem that the answer states."""
    from beaker.core.api import stated_problems

    if is_successful(result):
        return result.unwrap()
    failure: Any = result.failure()
    raise Refused(stated_problems(failure) if isinstance(failure, Problem) else failure)


def look_around(arguments: argparse.Namespace, io: Io) -> Surroundings:
    """Find and read the project of the working directory. `Refused` for a configuration that was named and is not."""
    given = io.environ.get(BEAKER_CONFIG_FILE_ENV) if arguments.config_file is None else arguments.config_file
    project = answered(find_project(io.cwd, given))
    if project is None and given is not None:
        hint = "give its path from here or from a folder above, up to the Git root (--config-file, BEAKER_CONFIG_FILE)"
        raise Refused(Problem("BK118", f"there is no configuration file {one_line(given)!r}", str(io.cwd), hint))
    if project is None:
        return Surroundings(None, None, ())
    loaded = load_project_config(project)
    if not is_successful(loaded):
        return Surroundings(project, None, loaded.failure())
    return Surroundings(project, loaded.unwrap(), ())


@contextmanager
def opened(
    arguments: argparse.Namespace,
    io: Io,
    *,
    resume: bool = True,
    around: Surroundings | None = None,
    foreground: bool = False,
    needs_agent: bool = True,
) -> Iterator[Place]:
    """The place that a command works with, closed afterwards. `Refused` when something to reach it is missing; the key
    of an agent is missing only to a command that `needs_agent`, others get an empty one.

    On this machine, runs whose worker was lost are started again first, unless `resume` is false or `--no-resume` was
    given; with `foreground` workers end with this command.
    """
    around = look_around(arguments, io) if around is None else around
    agent = arguments.agent if "agent" in arguments else None
    _refuse_broken_config(around, said=not needs_agent or bool(agent or io.environ.get("BEAKER_AGENT_KEY")))
    from beaker.cli.requests import over_network, told
    from beaker.client.api import Api

    configured = around.config.api if around.config is not None else None
    base_url = answered(choose_base_url(arguments.base_url, io.environ, local=arguments.local, configured=configured))
    if base_url.is_local:
        key = _agent_key(arguments, io, around, agent, default=LOCAL)
        with _embedded(arguments, io, around, foreground) as embedded:
            place = Place(
                Api(told(embedded, io, "this machine: "), key, sleep=io.sleep),
                key,
                io,
                embedded=embedded,
                resumes=resume and not arguments.no_resume,
            )
            place.resume()
            yield place
        return
    refuse_needless(arguments, local=False)
    from beaker.client.network import HttpTransport

    key = _agent_key(arguments, io, around, agent, default=None) if needs_agent else ""
    credential = answered(credential_for(arguments.api_key, io, base_url.url))
    transport = HttpTransport(base_url.url, credential.token, insecure_http=arguments.insecure_http)
    try:
        api = Api(over_network(transport, io, base_url.url), key, sleep=io.sleep)
        yield Place(api, key, io, near=transport.near, credential=credential)
    finally:
        transport.close()


def advising(arguments: argparse.Namespace, io: Io, around: Surroundings, agent_key: str | None) -> Io:
    """The view whose `command` gives lines that work as they stand: with `--local` where nothing was said of another
    place that could be reached, be it that no agent (`agent_key` is the configured one) or that no login is known.
    """
    if arguments.base_url is not None or arguments.local or arguments.api_key is not None or arguments.insecure_http:
        return io
    configured = around.config.api if around.config is not None else None
    base_url = answered(choose_base_url(None, io.environ, configured=configured))
    agent = choose_agent_key(None, io.environ, agent_key, dotenv=answered(read_dotenv(io.cwd)))
    login = credential_for(None, io, base_url.url)
    if base_url.is_local or (is_successful(agent) and is_successful(login)):
        return io
    return io.derive(options=" ".join(filter(None, ("--local", io.options))))


def credential_for(flag: str | None, io: Io, base_url: str) -> Result[Credential, Problem]:
    """The token for an API; stored logins are looked at only when the option does not decide."""
    from beaker.files.credential_store import credential_store

    logins = Success(()) if (flag or "").strip() else credential_store(io.environ).logins_for(base_url)
    if not is_successful(logins):
        return Failure(logins.failure())
    return choose_credential(flag, logins.unwrap(), io.environ, base_url=base_url, now=datetime.now(UTC))


def refuse_needless(arguments: argparse.Namespace, *, local: bool = True) -> None:
    """Refuse (BK904) the options that have no use on this machine, when it is `local`, else those that have none
    elsewhere."""
    from beaker.core.needless import needless

    if (problem := needless(given_options(arguments), local=local)) is not None:
        raise Refused(problem)


def given_options(arguments: argparse.Namespace) -> "GivenOptions":
    """Which global options about a place were given."""
    from beaker.core.needless import GivenOptions

    return GivenOptions(
        api_key=arguments.api_key is not None,
        insecure_http=arguments.insecure_http,
        no_resume=arguments.no_resume,
    )


def _embedded(arguments: argparse.Namespace, io: Io, around: Surroundings, foreground: bool) -> "EmbeddedTransport":
    from beaker.service.embedded import open_embedded

    refuse_needless(arguments)
    if around.project is None:
        hint = "go to a folder with .beaker/beaker.yaml in or above it, or try `beaker demo`"
        raise Refused(Problem("BK720", "there is no project here to work with locally", str(io.cwd), hint))
    project = around.project
    return open_embedded(project.root, None, io.environ, config_file=project.config_file, foreground=foreground)


def _agent_key(
    arguments: argparse.Namespace, io: Io, around: Surroundings, flag: str | None, *, default: str | None
) -> str:
    integration_id = arguments.integration_id if "integration_id" in arguments else None
    spec_id = arguments.spec_id if "spec_id" in arguments else None
    entry = choose(around.config, integration_id, spec_id).value_or(None)
    dotenv = answered(read_dotenv(io.cwd))
    chosen = choose_agent_key(flag, io.environ, entry.agent_key if entry else None, dotenv=dotenv)
    if not is_successful(chosen) and default is not None:
        return default
    return answered(chosen).key


def _refuse_broken_config(around: Surroundings, *, said: bool) -> None:
    """A configuration that cannot be read hides the agent's key; with a key said elsewhere the command can go on."""
    legacy = any(problem.code == LEGACY_CODE for problem in around.problems)
    if around.problems and (legacy or not said):
        raise Refused(around.problems)
