"""Running `load_cases` over the rows of a split: eight rows at a time, results in row order, every iterator closed."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from beaker.core.cases import CapturedFile, Case
from beaker.core.problems import Refused
from beaker.files.atomic import os_problem
from beaker.runtime.case_storage import CaseStorage, DuplicateCaseId
from beaker.runtime.failures import StageFailed, StageProblem, stage_problem
from beaker.runtime.places import defined_at
from beaker.sdk.row_place import CURRENT_ROW, RowPlace
from beaker.sdk.runtimes import SetupRuntime
from beaker.sdk.setups import RunSetup

STAGE = "load_cases"

_FILES = "correct the CaseFile values of the case, or what load_cases writes to runtime.case_files_dir(case_id)"
_RAISED = "it is called once per row; correct it, or the row that it cannot take"

ROWS_AT_ONCE = 8
ROWS_AHEAD = 256
"""How many rows may have begun behind the first unfinished one; bounds what waits to be handed on in order."""

Keep = Callable[[Case, tuple[CapturedFile, ...]], Any]


class CaseLoader:
    """Loads splits with one setup instance.

    `keep` turns an accepted case and its captured files into what is handed on; `TypeError` or `ValueError` from it is
    a fault of the case. `problems` collects what failed, the first failure in time first, then what went wrong while
    loaders were ended.
    """

    def __init__(
        self, setup: RunSetup[Any], runtime: SetupRuntime, storage: CaseStorage, *, keep: Keep, patience: float
    ) -> None:
        self.problems: list[StageProblem] = []
        self._setup = setup
        self._runtime = runtime
        self._storage = storage
        self._keep = keep
        self._patience = patience
        self._running: dict[asyncio.Task[list[Any]], str] = {}
        self._ended: asyncio.Future[None] | None = None
        self._first_error: BaseException | None = None
        self._closing = False

    async def load(self, rows: Iterator[tuple[str, Any]], on_kept: Callable[[Any], None], *, split: str) -> None:
        """Load every row of a split; `rows` gives (`file:line`, row), `on_kept` takes what `keep` gave, in order.

        After a failure no further row begins, the other loaders are cancelled and waited for (`patience` seconds),
        and `StageFailed` is raised with `problems`. Cancelling this does the same and raises `CancelledError`.
        """
        begun: deque[asyncio.Task[list[Any]]] = deque()
        self._closing = False

        def hand_on() -> None:
            while begun and begun[0].done() and not self.problems:
                for kept in begun.popleft().result():
                    on_kept(kept)

        try:
            for row, value in self._safely(rows):
                task = asyncio.create_task(self._load_row(RowPlace(split, row), value))
                self._running[task] = row
                task.add_done_callback(self._task_ended)
                begun.append(task)
                while not self.problems and (len(self._running) >= ROWS_AT_ONCE or len(begun) >= ROWS_AHEAD):
                    await self._one_more()
                    hand_on()
                if self.problems:
                    break
            while self._running and not self.problems:
                await self._one_more()
                hand_on()
        finally:
            await self._close()
        if self.problems:
            raise StageFailed(self.problems, self._first_error)
        hand_on()

    async def _one_more(self) -> None:
        self._ended = asyncio.get_running_loop().create_future()
        await self._ended

    def _task_ended(self, task: "asyncio.Task[list[Any]]") -> None:
        del self._running[task]
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    async def _close(self) -> None:
        """Cancel what still runs and wait for it, but not for ever."""
        self._closing = True
        if not self._running:
            return
        for task in self._running:
            task.cancel()
        await asyncio.wait(list(self._running), timeout=self._patience)
        for row in self._running.values():
            message = f"the loader did not end within {self._patience:g} s of being cancelled"
            hint = "let CancelledError pass where load_cases waits"
            self.problems.append(StageProblem("BK346", message, row, hint, STAGE))

    def _safely(self, rows: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        try:
            yield from rows
        except StageFailed as failure:
            self.problems += failure.problems
        except Exception as error:
            self.problems.append(stage_problem("BK337", STAGE, error, doing="reading the next row", hint=_RAISED))

    async def _load_row(self, place: RowPlace, value: Any) -> list[Any]:
        """What is kept of one row's cases; a failure is noted and gives none."""
        kept: list[Any] = []
        row = place.where
        CURRENT_ROW.set(place)  # for this task
        self._storage.enter(row)
        iterator: Any = None
        try:
            iterator = self._setup.load_cases(value, runtime=self._runtime)
            if not (hasattr(iterator, "__aiter__") and hasattr(iterator, "__anext__")):
                discard(iterator)
                message = f"load_cases must return an asynchronous iterator, not {type(iterator).__name__}"
                iterator = None
                where = defined_at(type(self._setup).load_cases)
                self._note("BK336", f"{row}: {message}", where, "write `async def load_cases` and yield each case")
                return []
            async for item in iterator:
                if self._closing or not await self._accept(row, item, kept):
                    return []
            if unused := self._storage.unused(row):
                message = f"case_files_dir was called for cases that were never yielded: {', '.join(unused)}"
                self._note(
                    "BK345", message, row, "yield a case of that id, or ask for the folder of one that is yielded"
                )
        except asyncio.CancelledError as error:
            if not self._closing:
                self._failed(row, error, "load_cases")
        except BaseException as error:
            self._failed(row, error, "load_cases")
        finally:
            await self._end(row, iterator)
        return kept

    async def _accept(self, row: str, item: object, kept: list[Any]) -> bool:
        if not isinstance(item, Case):
            message = f"load_cases must yield Case values, not {type(item).__name__}"
            self._note("BK338", message, row, "write `yield Case(id=..., input=..., expected=...)`")
            return False
        try:
            kept.append(self._keep(item, await self._storage.accept_aside(item, row)))
        except DuplicateCaseId as error:
            self._note("BK340", str(error), row, "make ids from something that differs in every row")
            return False
        except Refused as refused:
            if not self.problems:
                self.problems += (
                    StageProblem(one.code, f"the case {item.id!r}: {one.message}", row, one.hint or _FILES, STAGE)
                    for one in refused.problems
                )
            return False
        except OSError as error:
            fault = os_problem(error, f"capture the files of the case {item.id!r}")
            self._note(fault.code, f"{fault.message} ({fault.where})", row, fault.hint)
            return False
        except (TypeError, ValueError, RecursionError) as error:
            message = f"the case {item.id!r} is no JSON any more: {error}"
            self._note("BK341", message, row, "change nothing in a case that was made")
            return False
        return True

    async def _end(self, row: str, iterator: Any) -> None:
        close = getattr(iterator, "aclose", None)
        if close is None:
            return
        try:
            await close()
        except asyncio.CancelledError as error:
            if not self._closing:
                self._failed(row, error, "closing the loader")
        except BaseException as error:
            self._failed(row, error, "closing the loader")

    def _failed(self, row: str, error: BaseException, doing: str) -> None:
        if self.problems and not self._closing:
            return  # the first failure in time counts; later ones are told only when they hinder the end
        if not self.problems:
            self._first_error = error
        self.problems.append(stage_problem("BK337", STAGE, error, doing=f"{doing} for {row}", hint=_RAISED))

    def _note(self, code: str, message: str, row: str, hint: str = "") -> None:
        if not self.problems:
            self.problems.append(StageProblem(code, message, row, hint, STAGE))


def discard(thing: object) -> None:
    """Close a coroutine that a hook returned by mistake, so that nobody is told it was never awaited."""
    if asyncio.iscoroutine(thing):
        thing.close()
