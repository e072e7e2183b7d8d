"""The embedded place: the service called in-process, without sockets, as a transport for the client."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, unquote

import beaker
from beaker.client.transport import Arriving
from beaker.core.api import Request, Response
from beaker.core.problems import Problem, Refused
from beaker.core.project_layout import BEAKER_CONFIG_PATH
from beaker.core.versions import SERVICE_HEADER
from beaker.files.atomic import os_problem
from beaker.service.handle import answered, guarded, handle
from beaker.service.local_ports import ORGANIZATION, local_ports
from beaker.service.local_workers import LocalWorkers
from beaker.service.place import Place, deleted, open_project_place
from beaker.service.ports import Caller, Ports, refuse
from beaker.service.resuming import Resumption, resume
from beaker.service.run_table import open_runs

SCHEME = "beaker-local:"


class EmbeddedTransport:
    """Carries requests to the service inside this process. `close` it; it is also a context manager.

    `workers.process(run_id)` is the worker that this process started in the foreground.
    """

    at_once = 1  # the store's connection belongs to one thread

    def __init__(self, place: Place, ports: Ports, workers: LocalWorkers) -> None:
        self.place = place
        self.workers = workers
        self.ports = ports
        self._caller = Caller(ORGANIZATION)

    def send(self, request: Request) -> Response:
        """Answer one request of the API; 410 (BK743) once the place was deleted."""
        answer = answered(self.place, lambda: handle(request, self._caller, self.ports))
        return replace(answer, headers={**answer.headers, SERVICE_HEADER: beaker.__version__})

    def upload(self, url: str, headers: Mapping[str, str], pieces: Iterable[bytes], size: int) -> Response:
        """Take the bytes of an announced file; size and SHA-256 are checked against the announcement."""
        kind, _, rest = url.removeprefix(SCHEME).partition("/")
        artifact_id, _, name = rest.partition("/")
        if not url.startswith(SCHEME) or kind != "uploads" or not name:
            return refuse(404, Problem("BK453", f"this place has no upload URL {url!r}"))
        from beaker.service.uploads import receive

        artifact_id, name = unquote(artifact_id), unquote(name)
        raised: list[Exception] = []

        def read() -> Iterator[bytes]:
            try:
                yield from pieces
            except Exception as error:
                raised.append(error)
                raise

        response = answered(self.place, lambda: guarded(lambda: receive(self.ports, artifact_id, name, read())))
        if raised:
            raise raised[0]  # the file of the caller failed, not the place
        return response

    @contextmanager
    def download(self, url: str, *, offset: int = 0) -> Iterator[Arriving]:
        """The bytes of a blob."""
        kind, _, rest = url.removeprefix(SCHEME).partition("/")
        digest = rest.partition("/")[0]
        if not url.startswith(SCHEME) or kind != "blobs" or len(digest) != 64 or not digest.isalnum():
            raise Refused(Problem("BK453", f"this place has no download URL {url!r}"))
        with ExitStack() as open_blob:
            try:
                pieces = open_blob.enter_context(self.place.blobs.pieces(digest, offset=offset))
            except (OSError, Refused) as error:
                if self.place.gone():
                    raise Refused(deleted(self.place.state_dir)) from error
                if isinstance(error, Refused):
                    raise
                raise Refused(os_problem(error, "read what is kept")) from error
            yield Arriving(offset, pieces)

    def resume_unlocked_runs(self) -> tuple[Resumption, ...]:
        """Start a worker again for every run that has not ended and has none.

        A run that needs an environment name which is not set here is left alone, and the name is said (BK741); so are
        all runs of a place that can only be read. The runs of a place that was deleted are forgotten, and those of one
        that `beaker serve` looks after are none of ours.
        """
        if self.place.gone() or self.place.served():
            return ()
        waiting = [run for run in open_runs(self.place.database) if not self.workers.lives(run.id)]
        return tuple(resume(run, self.ports, self.workers) for run in waiting)

    def close(self) -> None:
        """Close the store; detached workers go on."""
        self.workers.release()
        self.place.database.close()

    def __enter__(self) -> "EmbeddedTransport":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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
    root = project_root.resolve()
    place = open_project_place(root, state_dir, environ)
    caller = environ if caller_env is None else caller_env
    workers = LocalWorkers(place, {**environ, **caller}, foreground=foreground)
    ports = local_ports(place, root, config_file, caller, workers=workers, transfers=LocalTransfers())
    return EmbeddedTransport(place, ports, workers)
