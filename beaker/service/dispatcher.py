"""Looks after the runs of a served place: starts their workers, not too many at once, and again when one was lost."""

import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from queue import SimpleQueue

from beaker.core.run_queue import FOREIGN_SECONDS, RunQueue, announce, begin, lose, meet, next_run, refuse
from beaker.service.local_workers import LocalWorkers
from beaker.service.place import Place
from beaker.service.ports import Ports
from beaker.service.resuming import resume
from beaker.service.run_table import RunRecord, find_run, open_runs

LOOK_SECONDS = 1.0
"""How often the dispatcher looks by itself; a launch and a cancelled run wake it."""

END_SECONDS = 45.0
"""How long a worker that was asked to end may take for its teardowns."""


class QueuedWorkers:
    """The `Workers` port of a served place: a launched run waits in the queue, which `dispatcher` works through."""

    def __init__(self, workers: LocalWorkers, dispatcher: "Dispatcher") -> None:
        self._workers = workers
        self._dispatcher = dispatcher

    def start(self, run_id: str, granted: Mapping[str, str]) -> None:
        """Put a run in the queue. What it is granted is looked up anew when its turn comes."""
        self._dispatcher.announce(run_id)

    def stop(self, run_id: str) -> None:
        """End the worker of a cancelled run, if it has one."""
        self._workers.stop(run_id)
        self._dispatcher.wake()


class Dispatcher:
    """Keeps at most `limit` runs of a place going, as `beaker.core.run_queue` decides.

    A thread of its own looks, for which `open_place` opens the place and `make_ports` gives its ports; `workers` are
    those of the foreground, `say` takes lines for the log of the server. `gone` is called once the place was deleted:
    there is nothing left to look after. The runs that are open at the beginning are due at once.
    """

    def __init__(
        self,
        open_place: Callable[[], Place],
        make_ports: Callable[[Place], Ports],
        workers: LocalWorkers,
        *,
        limit: int,
        say: Callable[[str], None],
        gone: Callable[[], None],
    ) -> None:
        self._open_place = open_place
        self._make_ports = make_ports
        self._workers = workers
        self._queue = RunQueue(limit)
        self._say = say
        self._said: dict[str, str] = {}
        self._announced: SimpleQueue[str] = SimpleQueue()
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._gone = gone
        self._thread = threading.Thread(target=self._attend, name="dispatcher")

    def start(self) -> None:
        """Begin to look after the runs."""
        self._thread.start()

    def announce(self, run_id: str) -> None:
        """A run of ours was launched: it is due at once."""
        self._announced.put(run_id)
        self._wake.set()

    def wake(self) -> None:
        """There may be room for another run: look at once."""
        self._wake.set()

    def close(self) -> None:
        """Start no worker any more, and end those that run so that their runs can go on later.

        Each may take its teardowns' time; one that does not end is killed.
        """
        self._closing.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()
        running = self._workers.running()
        for run_id in running:
            self._workers.let_go(run_id)
        deadline = time.monotonic() + END_SECONDS
        for run_id in running:
            process = self._workers.process(run_id)
            assert process is not None
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._workers.take_ended()

    def _attend(self) -> None:
        place: Place | None = None
        failure = ""
        try:
            while not self._closing.is_set():
                try:
                    if place is None:
                        place = self._open_place()
                        self._queue = meet(self._queue, _ids(place), due=time.monotonic())
                    if place.gone():
                        self._gone()
                        return
                    self._look(place, self._make_ports(place))
                    failure = ""
                except Exception as error:
                    # Mostly a full or busy disk. Whatever it is: without this thread no run would ever go on, so what
                    # could not be done now is tried again with the next look, and said once.
                    said, failure = failure, f"looking after the runs failed: {type(error).__name__}: {error}"
                    if failure != said:
                        self._say(failure)
                self._wake.wait(LOOK_SECONDS)
                self._wake.clear()
        finally:
            if place is not None:
                place.database.close()

    def _look(self, place: Place, ports: Ports) -> None:
        now = time.monotonic()
        for run_id, status in self._workers.take_ended():
            self._note_end(place, run_id, status, now)
        # Taken before the runs are read: whatever was announced is among them, or has ended.
        announced = [self._announced.get() for _ in range(self._announced.qsize())]
        waiting = {run.id: run for run in open_runs(place.database)}
        self._queue = meet(self._queue, tuple(waiting), due=now + FOREIGN_SECONDS)
        for run_id in announced:
            self._queue = announce(self._queue, run_id, now=now)
        busy = {*self._workers.running(), *(run_id for run_id in waiting if self._workers.lives(run_id))}
        while not self._closing.is_set() and (chosen := next_run(self._queue, busy, now=now)) is not None:
            if self._started(waiting[chosen], ports):
                self._queue = begin(self._queue, chosen, now=now)
                busy.add(chosen)
            else:
                self._queue = refuse(self._queue, chosen, now=now)

    def _started(self, run: RunRecord, ports: Ports) -> bool:
        """Start a worker for a run; whether that was possible. Why not is said once."""
        resumption = resume(run, ports, self._workers)
        said = "" if resumption.problem is None else str(resumption.problem)
        if resumption.problem is None:
            self._say(f"{run.id}: {'goes on with a new worker' if resumption.lost else 'started'}")
        elif said != self._said.get(run.id):
            self._say(said)
        self._said[run.id] = said
        return resumption.problem is None

    def _note_end(self, place: Place, run_id: str, status: int, now: float) -> None:
        run = find_run(place.database, run_id)
        if run is None or run.completed_at is not None:
            self._said.pop(run_id, None)
            self._say(f"{run_id}: {'gone' if run is None else run.status}")
            return
        self._queue, wait = lose(self._queue, run_id, now=now)
        again = "at once" if wait == 0 else f"in {wait:g} s"
        self._say(f"{run_id}: the worker ended with {status} before the run did; it goes on {again}")


def _ids(place: Place) -> tuple[str, ...]:
    return tuple(run.id for run in open_runs(place.database))
