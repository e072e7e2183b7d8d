"""Case ids and case files of one attempt: which loader owns an id, where it may put files, what is captured of them.

`<root>/staging/<hash of the case id>` is handed out and goes when the case is accepted; `<root>/views/<the same hash>`
is the sealed folder that holds what was captured. A case without files has none.
"""

import asyncio
import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from returns.pipeline import is_successful

from beaker.core.case_files import Capture, Found, Staged, folder_name, plan_captures, unexpected
from beaker.core.cases import CapturedFile, Case
from beaker.core.problems import Refused
from beaker.files.case_files import capture, look, other_contents, remove_view
from beaker.runtime.folders import remove_folder

T = TypeVar("T")

VIEWS = "views"

_LOADER: ContextVar[str | None] = ContextVar("beaker_row_loader", default=None)
"""The row (`file:line`) whose loader runs in this context."""

_Looked: TypeAlias = tuple[tuple[Found, ...], tuple[Staged, ...]]


class DuplicateCaseId(ValueError):
    """Two rows, or one row twice, claim the same case id."""


class CaseStorage:
    """The folders below `root` and the ids of all splits. Create it with a path that does not exist yet."""

    def __init__(self, root: Path) -> None:
        root.mkdir(mode=0o700, parents=True)
        self._root = root
        self._owners: dict[str, str] = {}
        self._reserved: dict[str, set[str]] = {}
        self._captured_bytes = 0
        self._threads: ThreadPoolExecutor | None = None

    def enter(self, row: str) -> None:
        """Mark this context, and the tasks it starts, as the loader of `row`; called once in a task of its own."""
        _LOADER.set(row)

    def directory_for(self, case_id: str) -> Path:
        """The staging folder of a case, reserved for the loader that asks.

        `RuntimeError` outside a loader, `DuplicateCaseId` for an id of another row or one already yielded.
        """
        row = _LOADER.get()
        if row is None:
            raise RuntimeError("case_files_dir may only be called inside load_cases")
        reserved = self._reserved.setdefault(row, set())
        if case_id not in reserved:
            self._own(case_id, row)
            reserved.add(case_id)
        folder = self._staging(case_id)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def accept(self, case: Case, row: str) -> tuple[CapturedFile, ...]:
        """Note that `row` yields this case, and capture its files.

        Raises `DuplicateCaseId` when the id is taken, `Refused` with everything that is wrong with the files, and
        `OSError` when the disk refuses.
        """
        if not self._claim(case, row):
            return ()
        return self._made(case, self._planned(case, _looked(case, self._staging(case.id))))

    async def accept_aside(self, case: Case, row: str) -> tuple[CapturedFile, ...]:
        """As `accept`, with the files read, hashed and copied in another thread: loaders of other rows go on meanwhile.

        Cancelling it waits for what that thread is at.
        """
        if not self._claim(case, row):
            return ()
        planned = self._planned(case, await self._aside(_looked, case, self._staging(case.id)))
        return await self._aside(self._made, case, planned)

    @property
    def ids(self) -> Iterable[str]:
        """The ids that are taken, in the order in which they were."""
        return self._owners.keys()

    def view(self, case_id: str) -> Path:
        """The folder that holds the captured files of a case, if it has any."""
        return self._root / VIEWS / folder_name(case_id)

    def unused(self, row: str) -> list[str]:
        """The ids that `row` reserved and never yielded, sorted."""
        return sorted(self._reserved.pop(row, ()))

    def remove(self) -> None:
        """Delete everything, once no thread works on it."""
        if self._threads is not None:
            self._threads.shutdown()
        remove_folder(self._root)

    def _claim(self, case: Case, row: str) -> bool:
        """Note that `row` yields this case; whether there may be something to capture."""
        if case.id in self._reserved.get(row, ()):
            self._reserved[row].discard(case.id)
            return True
        self._own(case.id, row)
        return bool(case.files)

    def _planned(self, case: Case, looked: _Looked) -> tuple[Capture, ...]:
        """What to capture; its bytes count as captured from here on."""
        found, staged = looked
        planned = plan_captures(case.files, found, staged, attempt_bytes=self._captured_bytes)
        if not is_successful(planned):
            raise Refused((*planned.failure(), *other_contents(self._staging(case.id), case.files, found)))
        self._captured_bytes += sum(one.size for one in planned.unwrap())
        return planned.unwrap()

    def _made(self, case: Case, planned: Sequence[Capture]) -> tuple[CapturedFile, ...]:
        """The captured files; the staging folder is gone then."""
        staging = self._staging(case.id)
        captured: tuple[CapturedFile, ...] = ()
        if case.files:
            view = self.view(case.id)
            captured = capture(staging, view, planned)
            if faults := unexpected(case.files, captured):
                remove_view(view)
                raise Refused(faults)
        shutil.rmtree(staging, ignore_errors=True)
        return captured

    async def _aside(self, work: Callable[..., T], *arguments: Any) -> T:
        if self._threads is None:  # of our own: customer code may fill, change or shut the loop's
            # One thread: of several rows with the same fault the first one is told.
            self._threads = ThreadPoolExecutor(1, thread_name_prefix="beaker-case-files")
        running = asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            await asyncio.wait([running])
            if not running.cancelled():
                running.exception()  # nobody else asks
            raise

    def _own(self, case_id: str, row: str) -> None:
        if (owner := self._owners.get(case_id)) is not None:
            rows = f"{owner} twice" if owner == row else f"{owner} and {row}"
            raise DuplicateCaseId(f"the case id {case_id!r} comes from {rows}; ids are unique over both splits")
        self._owners[case_id] = row

    def _staging(self, case_id: str) -> Path:
        return self._root / "staging" / folder_name(case_id)


def _looked(case: Case, staging: Path) -> _Looked:
    return look(staging, case.files)
