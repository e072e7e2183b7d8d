"""Workers of runs as processes of this machine, one per run."""

import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from beaker.core.interpreters import PYTHON_VARIABLE
from beaker.service.locks import is_held, terminate
from beaker.service.place import Place

LEASHED = "--leashed"
"""Tells a worker that its standard input is a pipe from whoever started it: when that closes, its owner is gone."""

ARGUMENTS = ("-P", "-m", "beaker.service.worker")
"""`-P`: no file of the working directory may stand in for a module of ours."""


GRANTED = "BEAKER_GRANTED_"
"""What stands before a granted name in a worker's environment: its value is for the integration's code, and a proposer
that is passed the same name gets what the caller's environment holds."""


class LocalWorkers:
    """Starts and ends workers. `environ` is what they get; a detached worker outlives this process.

    With `foreground` a worker belongs to this process's terminal and process group, and ends when this process does,
    however that ends; `process` gives access to it.
    """

    def __init__(self, place: Place, environ: Mapping[str, str], *, foreground: bool = False) -> None:
        self._place = place
        self._environ = dict(environ)
        self._foreground = foreground
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._leashes: dict[str, int] = {}

    def use_python(self, program: str) -> None:
        """Have the workers that are started from now on run the project's code with this interpreter."""
        self._environ[PYTHON_VARIABLE] = program

    def start(self, run_id: str, granted: Mapping[str, str]) -> None:
        """Start a worker for a run; one too many finds the run's lock taken and ends by itself."""
        self._reap()
        if self._foreground:
            self._start_leashed(run_id, granted)
        else:
            self._spawn(run_id, granted, (), subprocess.DEVNULL, start_new_session=True)

    def _start_leashed(self, run_id: str, granted: Mapping[str, str]) -> None:
        held, leash = os.pipe()
        try:
            self._spawn(run_id, granted, (LEASHED,), held)
        except BaseException:
            os.close(leash)
            raise
        finally:
            os.close(held)
        # Only this process has this end, and nobody writes to it: it closes when the process is no more.
        self.let_go(run_id)
        self._leashes[run_id] = leash

    def _spawn(
        self, run_id: str, granted: Mapping[str, str], more: tuple[str, ...], stdin: int, **options: Any
    ) -> None:
        folder = self._place.run_dir(run_id)
        folder.mkdir(parents=True, exist_ok=True)
        with self._place.log_path(run_id).open("ab") as log:
            self._processes[run_id] = subprocess.Popen(
                [sys.executable, *ARGUMENTS, str(self._place.state_dir), run_id, *more],
                stdin=stdin,
                stdout=log,
                stderr=log,
                cwd=folder,
                env={**self._environ, **{f"{GRANTED}{name}": text for name, text in granted.items()}},
                **options,
            )

    def stop(self, run_id: str) -> None:
        """Ask the worker of a run to end, which ends all that it started; what a killed one left is ended here."""
        if terminate(self._place.lock_path(run_id), run_id) or self.lives(run_id):
            return
        record, work_note = self._place.record_path(run_id), self._place.work_note(run_id)
        if record.exists():
            from beaker.runtime.supervisor import end_recorded

            end_recorded(record)
        if work_note.exists():
            from beaker.service.work_folder import WorkFolder

            WorkFolder(work_note, run_id).remove()

    def let_go(self, run_id: str) -> None:
        """Have the worker stop that this process started in the foreground for a run, as it would if this process
        ended. Unlike with a signal, one that was asked already is not asked twice, which would cut its teardown off.
        """
        if (leash := self._leashes.pop(run_id, None)) is not None:
            os.close(leash)

    def lives(self, run_id: str) -> bool:
        """Whether a run has a worker, started by whatever process."""
        return is_held(self._place.lock_path(run_id))

    def process(self, run_id: str) -> "subprocess.Popen[bytes] | None":
        """The worker that this process started for a run, if it did."""
        return self._processes.get(run_id)

    def running(self) -> tuple[str, ...]:
        """The runs whose worker, started by this process, has not ended."""
        return tuple(run_id for run_id, process in self._processes.items() if process.poll() is None)

    def take_ended(self) -> tuple[tuple[str, int], ...]:
        """The run and the exit status of each worker of this process that has ended since the last call; negative for
        a signal, as `subprocess` has it."""
        ended = []
        for run_id, process in list(self._processes.items()):
            if (status := process.poll()) is not None:
                self.let_go(run_id)
                del self._processes[run_id]
                ended.append((run_id, status))
        return tuple(ended)

    def release(self) -> None:
        """Let detached workers go: from now on they are nobody's children."""
        self._reap()
        if not self._foreground:
            for process in self._processes.values():
                # Otherwise the interpreter warns of a child that still runs, which is just what is wanted.
                process.returncode = 0
            self._processes.clear()

    def _reap(self) -> None:
        for run_id, process in list(self._processes.items()):
            if process.poll() is None:
                continue
            self.let_go(run_id)
            if not self._foreground:
                del self._processes[run_id]
