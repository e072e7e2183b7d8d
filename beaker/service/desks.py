"""Threads that answer requests, each with an own opening of the place: a database connection belongs to one thread."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Generic, Protocol, TypeVar


class Closing(Protocol):
    """What has to be closed by the thread that opened it."""

    def close(self) -> None:
        """Close it."""
        ...


Desk = TypeVar("Desk", bound=Closing)
T = TypeVar("T")


class Desks(Generic[Desk]):
    """`count` threads, each of which opens a desk when it gets its first work and closes it at the end."""

    def __init__(self, open_desk: Callable[[], Desk], count: int) -> None:
        self._open = open_desk
        self._work: SimpleQueue[Callable[[Callable[[], Desk]], None] | None] = SimpleQueue()
        self._threads = [threading.Thread(target=self._attend, name=f"desk-{number}") for number in range(count)]
        for thread in self._threads:
            thread.start()

    async def do(self, work: Callable[[Desk], T]) -> T:
        """What `work` gives, or raises, when some thread has done it at its desk.

        Work that has begun is finished even when nobody waits for it any more.
        """
        outcome: Future[T] = Future()

        def job(desk: Callable[[], Desk]) -> None:
            if not outcome.set_running_or_notify_cancel():
                return
            try:
                outcome.set_result(work(desk()))
            except BaseException as error:
                outcome.set_exception(error)

        self._work.put(job)
        return await asyncio.wrap_future(outcome)

    def close(self) -> None:
        """Finish all work, and close the desks."""
        for _ in self._threads:
            self._work.put(None)
        for thread in self._threads:
            thread.join()

    def _attend(self) -> None:
        made: list[Desk] = []

        def desk() -> Desk:
            if not made:
                made.append(self._open())
            return made[0]

        try:
            while (job := self._work.get()) is not None:
                job(desk)
        finally:
            for one in made:
                one.close()
