"""Watching over the code that scores: nothing that ran may have changed it (`runtime.integrity`)."""

import asyncio
from pathlib import Path

from returns.pipeline import is_successful

from beaker.core.problems import Refused
from beaker.runtime.integrity import Baseline, check_baseline, record_baseline


class Guard:
    """The record of one checkout, taken when it is made and compared before it is used. Raises `Refused`."""

    def __init__(self, checkout: Path) -> None:
        recorded = record_baseline(checkout)
        if not is_successful(recorded):
            raise Refused(recorded.failure())
        self._baseline: Baseline = recorded.unwrap()
        self._one_at_a_time = asyncio.Lock()
        self._held_out = False

    async def check(self, held_out: bool) -> None:
        """Compare the files with the record, all of their content before TEST is scored for the first time."""
        async with self._one_at_a_time:
            await self._compare(full=held_out and not self._held_out)
            self._held_out = self._held_out or held_out

    async def check_all(self) -> None:
        """Compare all of the content: what was scored until now can be trusted."""
        async with self._one_at_a_time:
            await self._compare(full=True)

    async def _compare(self, *, full: bool) -> None:
        checked = await asyncio.to_thread(check_baseline, self._baseline, full=full)
        if not is_successful(checked):
            raise Refused(checked.failure())
        self._baseline = checked.unwrap()
