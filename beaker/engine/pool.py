"""A bounded pool of customer processes, each serving one key (a candidate, or the baseline's scorer).

A process is started when work for its key waits and room is left, kept while it may be useful, and ended to make room
for another key. The longest idle one goes first. Things that were done in one process may spoil it for each other, so a
failure in it is only believed when it happened alone (`use`).
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Generic, Protocol, TypeVar


class Worker(Protocol):
    """What the pool asks of a process."""

    @property
    def alive(self) -> bool:
        """Whether it can take more work."""
        ...

    async def close(self) -> object:
        """Let it leave what it entered, and end it."""
        ...

    async def kill(self) -> None:
        """End it at once."""
        ...


W = TypeVar("W", bound=Worker)
R = TypeVar("R")


class _Slot(Generic[W]):
    """One place for a process; `worker` is `None` while it starts.

    `taken` weighs the leases on it, `served` counts all there ever were.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.worker: W | None = None
        self.taken = 0
        self.served = 0


class Lease(Generic[W]):
    """A process to do one thing with."""

    def __init__(self, worker: W, slot: _Slot[W]) -> None:
        self.worker = worker
        self._slot = slot

    @property
    def exclusive(self) -> bool:
        """Whether nothing else was ever done in the process, up to now."""
        return self._slot.served == 1


class Pool(Generic[W]):
    """At most `processes` processes at once, each working on at most `per_process` things.

    `start` makes the process of a key; what it raises reaches the lease that asked. `failed_close` is told what went
    wrong when a process was ended: nobody waits for that any more. Without `reuse` a process is ended when its work is
    done, and nobody finds what another left in it.
    """

    def __init__(
        self,
        start: Callable[[str], Awaitable[W]],
        *,
        processes: int,
        per_process: int,
        failed_close: Callable[[Exception], None],
        reuse: bool = True,
    ) -> None:
        self._start = start
        self._reuse = reuse
        self._processes = processes
        self._per_process = per_process
        self._failed_close = failed_close
        self._slots: list[_Slot[W]] = []  # the longest idle first
        self._waiting: list[asyncio.Future[None]] = []
        self._ending: dict[asyncio.Task[None], _Slot[W]] = {}

    async def use(self, key: str, work: Callable[[W], Awaitable[R]], *, failed: Callable[[R], bool]) -> R:
        """Do `work` with a process of `key`.

        When it `failed` and the process cannot be used any more, that may be the doing of something else that was done
        in it, before or meanwhile: then `work` is done once more, alone in a fresh process, and that counts.
        """
        async with self.lease(key) as lease:
            found = await work(lease.worker)
            proven = lease.exclusive or lease.worker.alive or not failed(found)
        if not proven:
            async with self.lease(key, alone=True) as lease:
                found = await work(lease.worker)
        return found

    @asynccontextmanager
    async def lease(self, key: str, *, alone: bool = False) -> AsyncIterator[Lease[W]]:
        """A process of `key` to do one thing with; with `alone` a fresh one, and nobody else's work in it meanwhile."""
        weight = self._per_process if alone else 1
        slot = await self._take(key, weight, alone)
        try:
            assert slot.worker is not None
            yield Lease(slot.worker, slot)
        finally:
            self._give_back(slot, weight)

    async def close(self, *, patience: float | None = None) -> None:
        """End every process; one that has not ended after `patience` seconds is killed.

        Processes in use are ended when their leases end; wait for those first. Nothing may be leased afterwards.
        """
        slots, self._slots = self._slots, []
        begun = dict(self._ending)
        await asyncio.gather(
            *(self._end(slot, patience) for slot in slots if slot.taken == 0), self._hurry(begun, patience)
        )

    async def _hurry(self, begun: "dict[asyncio.Task[None], _Slot[W]]", patience: float | None) -> None:
        """Wait for processes that are ending already; kill those that have not ended after `patience` seconds."""
        if not begun:
            return
        _, late = await asyncio.wait(begun, timeout=patience)
        for ending in late:
            ending.cancel()
            if (worker := begun[ending].worker) is not None:
                await worker.kill()
        await asyncio.gather(*begun, return_exceptions=True)

    async def _take(self, key: str, weight: int, fresh: bool) -> _Slot[W]:
        while True:
            slot, old = self._place(key, weight, fresh)
            if slot is not None:
                break
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        if slot.worker is not None:
            return slot
        try:
            if old is not None:
                await self._end(old)
            slot.worker = await self._start(key)
        except BaseException:
            if slot in self._slots:
                self._slots.remove(slot)
            self._announce()
            raise
        if weight < self._per_process:
            self._announce()
        return slot

    def _place(self, key: str, weight: int, fresh: bool) -> tuple[_Slot[W] | None, _Slot[W] | None]:
        """A slot for `weight` things of `key`, and the slot that has to be ended first; neither: wait."""
        for slot in () if fresh else self._slots:
            if slot.key != key or slot.worker is None or slot.taken + weight > self._per_process or not self._reuse:
                continue
            if slot.worker.alive:
                slot.taken += weight
                slot.served += 1
                return slot, None
        old = None
        if len(self._slots) >= self._processes:
            old = next((slot for slot in self._slots if slot.taken == 0), None)
            if old is None:
                return None, None
            self._slots.remove(old)
        made: _Slot[W] = _Slot(key)
        made.taken, made.served = weight, 1
        self._slots.append(made)
        return made, old

    def _give_back(self, slot: _Slot[W], weight: int) -> None:
        slot.taken -= weight
        kept = slot in self._slots
        if kept:
            self._slots.remove(slot)
            if slot.worker is not None and slot.worker.alive:
                self._slots.append(slot)
                if not self._reuse:
                    slot.taken = weight  # its place is free when it has ended
                    self._end_later(slot)
                    return
            else:
                kept = False
        if not kept and slot.taken == 0:
            self._end_later(slot)
        self._announce()

    def _end_later(self, slot: _Slot[W]) -> None:
        ending = asyncio.get_running_loop().create_task(self._end(slot))
        self._ending[ending] = slot

        def ended(_: object) -> None:
            del self._ending[ending]
            if slot in self._slots:
                self._slots.remove(slot)
                self._announce()

        ending.add_done_callback(ended)

    async def _end(self, slot: _Slot[W], patience: float | None = None) -> None:
        if slot.worker is None:
            return
        try:
            await asyncio.wait_for(slot.worker.close(), patience)
        except TimeoutError:
            await slot.worker.kill()
        except Exception as error:
            self._failed_close(error)

    def _announce(self) -> None:
        """Let everybody who waits look again, in the order in which they came."""
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)
