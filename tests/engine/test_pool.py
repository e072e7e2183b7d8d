"""Laws of the pool of customer processes, with processes that do nothing."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from beaker.engine.pool import Pool


class Process:
    """What the pool asks of a process."""

    def __init__(self, key: str, *, closing: float = 0.0) -> None:
        self.key = key
        self.alive = True
        self.ended = ""
        self.closing = False
        self._closing = closing

    async def close(self) -> None:
        assert not self.closing, "closed twice"
        self.closing = True
        await asyncio.sleep(self._closing)
        self.alive, self.ended = False, "closed"

    async def kill(self) -> None:
        self.alive, self.ended = False, "killed"


class Place:
    """A pool and every process it ever started."""

    def __init__(self, processes: int, per_process: int = 1, *, closing: float = 0.0, reuse: bool = True) -> None:
        self.started: list[Process] = []
        self.failures: list[Exception] = []
        self._closing = closing
        self.pool = Pool(
            self._start,
            processes=processes,
            per_process=per_process,
            failed_close=self.failures.append,
            reuse=reuse,
        )

    async def _start(self, key: str) -> Process:
        await asyncio.sleep(0)
        if key == "broken":
            raise OSError("no process for this one")
        self.started.append(Process(key, closing=self._closing))
        return self.started[-1]

    @property
    def living(self) -> list[str]:
        return [process.key for process in self.started if process.alive]


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run a test to its end, within reason."""

    async def bounded() -> None:
        await asyncio.wait_for(test(), 10)

    asyncio.run(bounded())


def test_lease__one_after_the_other__uses_one_process() -> None:
    """A running process is used again before another one is started."""

    async def test() -> None:
        place = Place(4)
        for _ in range(5):
            async with place.pool.lease("a"):
                pass
        assert len(place.started) == 1
        await place.pool.close()
        assert place.living == []

    run(test)


def test_lease__many_at_once__never_exceeds_its_places() -> None:
    """Processes and things in them stay within their bounds, and everything gets done."""

    async def test() -> None:
        place = Place(2, 3)
        now = most = done = 0

        async def work(key: str) -> None:
            nonlocal now, most, done
            async with place.pool.lease(key) as lease:
                assert lease.worker.key == key
                now += 1
                most = max(most, now)
                assert len(place.living) <= 2
                await asyncio.sleep(0.001)
                now -= 1
                done += 1

        await asyncio.gather(*(work("abc"[number % 3]) for number in range(60)))
        assert done == 60
        assert 4 <= most <= 6
        await place.pool.close()

    run(test)


def test_lease__without_reuse__has_a_process_of_its_own_within_the_places() -> None:
    """Nobody finds what another left behind; a process that still ends keeps its place."""

    async def test() -> None:
        place = Place(2, closing=0.002, reuse=False)

        async def work(key: str) -> None:
            async with place.pool.lease(key) as lease:
                assert lease.exclusive
                assert len(place.living) <= 2
                await asyncio.sleep(0.001)

        await asyncio.gather(*(work("a") for _ in range(7)))
        assert len(place.started) == 7
        await place.pool.close()
        assert [process.ended for process in place.started] == ["closed"] * 7
        assert place.failures == []

    run(test)


def test_lease__of_another_key__ends_the_longest_idle() -> None:
    """Room for a new candidate comes from the one that was not used for longest."""

    async def test() -> None:
        place = Place(2)
        for key in "abac":
            async with place.pool.lease(key):
                pass
        assert [process.key for process in place.started if process.ended == "closed"] == ["b"]
        assert place.living == ["a", "c"]
        await place.pool.close()

    run(test)


def test_lease__alone__shares_with_nobody() -> None:
    """While one thing has a process to itself, others wait or go elsewhere."""

    async def test() -> None:
        place = Place(1, 4)
        inside = 0

        async def work(alone: bool) -> None:
            nonlocal inside
            async with place.pool.lease("a", alone=alone):
                inside += 1
                assert not alone or inside == 1
                await asyncio.sleep(0.001)
                assert not alone or inside == 1
                inside -= 1

        await asyncio.gather(*(work(number % 5 == 0) for number in range(30)))
        await place.pool.close()

    run(test)


def test_lease__alone__is_of_a_fresh_process() -> None:
    """One that served before will not do, and goes when there is no room for two."""

    async def test() -> None:
        place = Place(1)
        async with place.pool.lease("a") as lease:
            assert lease.exclusive
        async with place.pool.lease("a") as lease:
            assert not lease.exclusive
        async with place.pool.lease("a", alone=True) as lease:
            assert lease.exclusive
            assert place.living == ["a"]
        assert [process.ended for process in place.started] == ["closed", ""]
        await place.pool.close()

    run(test)


@pytest.mark.parametrize(
    ("served", "fails", "dies", "done"),
    [
        (0, True, True, 1),  # alone in a fresh process already
        (1, True, True, 2),
        (1, True, False, 1),  # the process is as good as before
        (1, False, True, 1),  # what it was ended by came later
    ],
)
def test_use__failure_with_the_process__counts_when_alone_in_a_fresh_one(
    served: int, fails: bool, dies: bool, done: int
) -> None:
    """Work is repeated once, exactly when something else may have been the cause."""

    async def test() -> None:
        place = Place(2)
        used: list[Process] = []

        async def work(process: Process) -> str:
            used.append(process)
            process.alive = not dies
            return "failed" if fails else "good"

        for _ in range(served):
            async with place.pool.lease("a"):
                pass
        found = await place.pool.use("a", work, failed=lambda found: found == "failed")
        assert found == ("failed" if fails else "good")
        assert len(used) == len(set(used)) == done
        await place.pool.close()

    run(test)


def test_use__beside_others__is_repeated_for_everybody_who_failed_with_the_process() -> None:
    """One of four ends their process: each of them is done again alone, and only the culprit fails."""

    async def test() -> None:
        place = Place(1, 4)

        async def work(process: Process, number: int) -> str:
            await asyncio.sleep(0.01)
            if number == 2:
                process.alive = False
            return "good" if process.alive else "failed"

        async def use(number: int) -> str:
            return await place.pool.use("a", lambda one: work(one, number), failed=lambda found: found == "failed")

        assert await asyncio.gather(*map(use, range(4))) == ["good", "good", "failed", "good"]
        await place.pool.close()

    run(test)


def test_lease__of_a_process_that_died__starts_another() -> None:
    """A dead process is given to nobody, and takes no room."""

    async def test() -> None:
        place = Place(1)
        async with place.pool.lease("a") as lease:
            lease.worker.alive = False
        async with place.pool.lease("a") as lease:
            assert lease.worker.alive
        assert len(place.started) == 2
        await place.pool.close()

    run(test)


def test_start__that_fails__reaches_the_lease_and_frees_the_room() -> None:
    """The error is the caller's; the next one finds the room free."""

    async def test() -> None:
        place = Place(1)
        with pytest.raises(OSError, match="no process"):
            async with place.pool.lease("broken"):
                pass
        async with place.pool.lease("a"):
            pass
        await place.pool.close()
        assert place.living == []

    run(test)


def test_lease__cancelled_while_waiting__leaves_the_pool_whole() -> None:
    """Somebody who gave up holds nothing."""

    async def test() -> None:
        place = Place(1)

        async def wait() -> None:
            async with place.pool.lease("b"):
                pass

        async with place.pool.lease("a"):
            waiting = asyncio.create_task(wait())
            await asyncio.sleep(0.01)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        async with place.pool.lease("b"):
            pass
        await place.pool.close()
        assert place.living == []

    run(test)


def test_close__of_a_process_that_takes_too_long__kills_it() -> None:
    """Patience is bounded."""

    async def test() -> None:
        place = Place(2, closing=60)
        async with place.pool.lease("a"):
            pass
        await place.pool.close(patience=0.01)
        assert [process.ended for process in place.started] == ["killed"]

    run(test)


def test_close__of_a_process_that_was_ending_already__is_as_impatient() -> None:
    """One that nobody can use any more may take its time, but not when all is ended."""

    async def test() -> None:
        place = Place(1, closing=60)
        async with place.pool.lease("a") as lease:
            lease.worker.alive = False
        await asyncio.sleep(0)
        await place.pool.close(patience=0.01)
        assert [process.ended for process in place.started] == ["killed"]

    run(test)


def test_close__that_fails__is_told_and_stops_nothing() -> None:
    """Nobody waits for the end of a process, so its failure is a remark."""

    async def test() -> None:
        place = Place(2)

        class Stubborn(Process):
            async def close(self) -> None:
                self.alive = False
                raise RuntimeError("teardown failed")

        async with place.pool.lease("a") as lease:
            lease.worker.__class__ = Stubborn
        async with place.pool.lease("b"):
            pass
        await place.pool.close()
        assert [str(failure) for failure in place.failures] == ["teardown failed"]
        assert place.living == []

    run(test)
