"""Watching over the code that scores: nothing that ran may have changed it (`runtime.integrity`)."""

import asyncio
from pathlib import Path

from returns.pipeline import is_successful

from beaker.core.problems import Refused
from beaker.runtime.integrity import Baseline, check_baseline, record_baseline


class Guard:
    """The record of one checkout; a comparison with it raises `Refused` (BK553, BK554)."""

    def __init__(self, baseline: Baseline) -> None:
        self._baseline = baseline
        self._one_at_a_time = asyncio.Lock()
        self._whole_before_test = False

    async def before(self, held_out: bool) -> None:
        """Before cases are scored: all content is compared once, before the first ones of TEST."""
        if held_out and not self._whole_before_test:
            await self.whole()
            self._whole_before_test = True

    async def after(self) -> None:
        """After a batch was scored, and before its scores are used: inodes, sizes and times are compared."""
        await self._compare(full=False)

    async def whole(self) -> None:
        """All content is compared."""
        await self._compare(full=True)

    async def _compare(self, *, full: bool) -> None:
        async with self._one_at_a_time:
            checked = await asyncio.to_thread(check_baseline, self._baseline, full=full)
            if not is_successful(checked):
                raise Refused(checked.failure())
            self._baseline = checked.unwrap()


async def guard(checkout: Path) -> Guard:
    """Record a checkout that nothing has run in yet."""
    recorded = await asyncio.to_thread(record_baseline, checkout)
    if not is_successful(recorded):
        raise Refused(recorded.failure())
    return Guard(recorded.unwrap())
