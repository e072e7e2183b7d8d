"""The active trace belongs to the context that activated it."""

import asyncio
import threading

from beaker.sdk.trace import NOOP_TRACE, NoopTrace, Trace
from beaker.tracing import activate_trace, current_trace


def test_current_trace__nothing_active__is_the_inert_one() -> None:
    """Without an active trace the inert one answers."""
    assert current_trace() is NOOP_TRACE


def test_activate__nested__the_innermost_is_current() -> None:
    """Activation nests, and ends with its block, also when the block fails."""
    outer, inner = NoopTrace(), NoopTrace()
    with activate_trace(outer) as active:
        assert active is outer is current_trace()
        try:
            with activate_trace(inner):
                assert current_trace() is inner
                raise KeyError
        except KeyError:
            pass
        assert current_trace() is outer
    assert current_trace() is NOOP_TRACE


def test_activate__tasks_and_threads__keep_their_own() -> None:
    """Concurrent cases do not see each other's trace; a child task sees its parent's; a bare thread sees none."""
    seen: dict[str, Trace] = {}

    async def case(name: str, trace: Trace) -> None:
        with activate_trace(trace):
            await asyncio.sleep(0)
            seen[name] = await asyncio.create_task(asyncio.sleep(0, current_trace()))
            seen[f"{name} in a thread"] = await asyncio.to_thread(current_trace)

    async def both() -> None:
        await asyncio.gather(case("one", one), case("two", two))

    one, two = NoopTrace(), NoopTrace()
    asyncio.run(both())
    assert seen == {"one": one, "two": two, "one in a thread": one, "two in a thread": two}
    with activate_trace(one):
        thread = threading.Thread(target=lambda: seen.update(bare=current_trace()))
        thread.start()
        thread.join()
    assert seen["bare"] is NOOP_TRACE
