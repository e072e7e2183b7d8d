"""The embedded place: the service called in-process, without sockets, as a transport for the client."""

import os
import secrets
import sqlite3
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from urllib.parse import quote, unquote

from returns.pipeline import is_successful

from beaker.core.api import Request, Response
from beaker.core.environment import GrantedEnvironment, granted_environment
from beaker.core.problems import Problem, Refused
from beaker.core.project_layout import BEAKER_CONFIG_PATH, BEAKER_LOCAL_DIR
from beaker.files.atomic import os_problem
from beaker.service.database import database_fault
from beaker.service.handle import guarded, handle
from beaker.service.local_repository import LocalRepository
from beaker.service.local_workers import LocalWorkers, Resumption
from beaker.service.place import Place, deleted, open_place, utc_now
from beaker.service.ports import Caller, Ports, refuse
from beaker.service.run_table import RunRecord, open_runs

SCHEME = "beaker-local:"
ORGANIZATION = "local"
AGENT_KEY = "local"
"""The agent that is used when nobody names one."""

LOCAL_DIR_VARIABLE = "BEAKER_LOCAL_DIR"


class EmbeddedTransport:
    """Carries requests to the service inside this process. `close` it; it is also a context manager.

    `workers.process(run_id)` is the worker that this process started in the foreground.
    """

    def __init__(self, place: Place, ports: Ports, workers: LocalWorkers) -> None:
        self.place = place
        self.workers = workers
        self.ports = ports
        self._caller = Caller(ORGANIZATION)

    def send(self, request: Request) -> Response:
        """Answer one request of the API; 410 (BK743) once the place was deleted."""
        return self._answered(lambda: handle(request, self._caller, self.ports))

    def upload(self, url: str, headers: Mapping[str, str], path: Path, size: int) -> Response:
        """Take the bytes of an announced file; size and SHA-256 are checked against the announcement."""
        kind, _, rest = url.removeprefix(SCHEME).partition("/")
        artifact_id, _, name = rest.partition("/")
        if not url.startswith(SCHEME) or kind != "uploads" or not name:
            return refuse(404, Problem("BK453", f"this place has no upload URL {url!r}"))
        from beaker.service.uploads import receive

        return self._answered(lambda: guarded(lambda: receive(self.ports, unquote(artifact_id), unquote(name), path)))

    def download(self, url: str, path: Path) -> None:
        """Write the bytes of a blob to the new file `path`."""
        kind, _, rest = url.removeprefix(SCHEME).partition("/")
        digest = rest.partition("/")[0]
        if not url.startswith(SCHEME) or kind != "blobs" or len(digest) != 64 or not digest.isalnum():
            raise Refused(Problem("BK453", f"this place has no download URL {url!r}"))
        try:
            self.place.blobs.copy(digest, path)
        except (OSError, Refused) as error:
            if self.place.gone():
                raise Refused(deleted(self.place.state_dir)) from error
            if isinstance(error, Refused):
                raise
            raise Refused(os_problem(error, "write the download", path)) from error

    def resume_unlocked_runs(self) -> tuple[Resumption, ...]:
        """Start a worker again for every run that has not ended and has none.

        A run that needs an environment name which is not set here is left alone, and the name is said (BK741); so are
        all runs of a place that can only be read. The runs of a place that was deleted are forgotten.
        """
        if self.place.gone():
            return ()
        return tuple(self._resume(run) for run in open_runs(self.place.database) if not self.workers.lives(run.id))

    def close(self) -> None:
        """Close the store; detached workers go on."""
        self.workers.release()
        self.place.database.close()

    def __enter__(self) -> "EmbeddedTransport":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answered(self, work: Callable[[], Response]) -> Response:
        # A request that meets the deletion half-way fails in some way; why is what counts.
        response = None if self.place.gone() else work()
        if response is None or (response.status >= 400 and self.place.gone()):
            return refuse(410, deleted(self.place.state_dir))
        return response

    def _resume(self, run: RunRecord) -> Resumption:
        if (why := self.place.database.read_only) is not None:
            return Resumption(run.id, Problem(why.code, f"the run {run.id} waits: {why.message}", why.where, why.hint))
        names = run.entry.get("required_env")
        optimizer = run.settings.get("harness_optimization")
        passed = optimizer.get("proposer_env") if isinstance(optimizer, dict) else None
        granted = self.ports.granted(_names(names))
        missing = (*granted.missing, *self.ports.unset(_names(passed)))
        if missing:
            hint = "set it and repeat the command, or look only with --no-resume"
            message = f"the run {run.id} waits: it needs {', '.join(missing)}, which is not set here"
            return Resumption(run.id, Problem("BK741", message, hint=hint))
        try:
            self.workers.start(run.id, granted.values)
        except OSError as error:
            return Resumption(run.id, os_problem(error, f"start a worker for the run {run.id}"))
        return Resumption(run.id, lost=run.status == "RUNNING")


class LocalTransfers:
    """URLs that only this place understands."""

    def upload_url(self, artifact_id: str, path: str) -> str:
        """Where the bytes of an announced file go."""
        return f"{SCHEME}uploads/{quote(artifact_id, safe='')}/{quote(path, safe='')}"

    def blob_url(self, digest: str, name: str) -> str:
        """Where the bytes of a blob come from."""
        return f"{SCHEME}blobs/{digest}/{quote(name)}"


def open_embedded(
    project_root: Path,
    state_dir: Path | None,
    environ: Mapping[str, str],
    caller_env: Mapping[str, str] | None = None,
    *,
    config_file: str = BEAKER_CONFIG_PATH,
    foreground: bool = False,
) -> EmbeddedTransport:
    """Open the embedded place of a project.

    Its state lies in `state_dir`, else where `BEAKER_LOCAL_DIR` of `environ` says, else in `.beaker/local`. `environ`
    is the environment of the command, which workers inherit; `caller_env` that in which names granted to a run are
    looked up, `environ` by default; what it lacks may come from the project's `.beaker/.env`. `config_file` counts
    from `project_root`. With `foreground` workers stay with this process instead of outliving it.

    State that is there but cannot be written is opened to be read. Raises `Refused`: BK742 on Windows, BK740 when the
    folder can neither be made nor read, BK471 when a newer Beaker wrote it,
    BK472 to BK474 when the store cannot be used.
    """
    if sys.platform == "win32":
        raise Refused(Problem("BK742", "local runs do not work on Windows", hint="run Beaker inside WSL"))
    root = project_root.resolve()
    moved = environ.get(LOCAL_DIR_VARIABLE, "").strip()
    folder = state_dir or (root / moved if moved else root / BEAKER_LOCAL_DIR)
    try:
        place = open_place(folder.absolute())
    except sqlite3.Error as error:
        _, problem = database_fault(error)
        raise Refused(Problem(problem.code, problem.message, str(folder), problem.hint)) from error
    try:
        place.blobs.sweep()
    except OSError:
        pass  # what cannot be removed now, a later command removes
    caller = environ if caller_env is None else caller_env
    environment = _Environment(root, caller)
    workers = LocalWorkers(place, {**environ, **caller}, foreground=foreground)
    ports = Ports(
        database=place.database,
        blobs=place.blobs,
        repository=LocalRepository(root, config_file),
        workers=workers,
        transfers=LocalTransfers(),
        now=utc_now,
        new_id=lambda prefix: f"{prefix}_{secrets.token_hex(8)}",
        granted=environment.granted,
        unset=environment.unset,
        program=environment.program,
    )
    return EmbeddedTransport(place, ports, workers)


class _Environment:
    """What the caller's environment holds: names that a run is granted (else the project's dotenv file has them), and
    programs."""

    def __init__(self, root: Path, caller: Mapping[str, str]) -> None:
        self._root = root
        self._caller = caller

    def granted(self, names: Iterable[str]) -> GrantedEnvironment:
        from beaker.files.dotenv import read_dotenv

        wanted = tuple(names)
        dotenv = read_dotenv(self._root) if wanted else None
        if dotenv is not None and not is_successful(dotenv):
            raise Refused(dotenv.failure())
        found = {} if dotenv is None else dotenv.unwrap()
        return granted_environment(wanted, secrets={}, caller=self._caller, dotenv=found)

    def unset(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name not in self._caller)

    def program(self, name: str) -> bool:
        import shutil

        return shutil.which(name, path=self._caller.get("PATH", os.defpath)) is not None


def _names(listed: object) -> tuple[str, ...]:
    return tuple(name for name in listed if isinstance(name, str)) if isinstance(listed, list) else ()
