"""Case ids and case files of one attempt: which loader owns an id, where it may put files, what is captured of them.

`<root>/staging/<hash of the case id>` is handed out and goes when the case is accepted; `<root>/views/<the same hash>`
is the sealed folder that holds what was captured. A case without files has none.
"""

import shutil
from collections.abc import Iterable
from contextvars import ContextVar
from pathlib import Path

from returns.pipeline import is_successful

from beaker.core.case_files import folder_name, plan_captures, unexpected
from beaker.core.cases import CapturedFile, Case
from beaker.core.problems import Refused
from beaker.files.case_files import capture, look, other_contents, remove_view
from beaker.runtime.folders import remove_folder

VIEWS = "views"

_LOADER: ContextVar[str | None] = ContextVar("beaker_row_loader", default=None)
"""The row (`file:line`) whose loader runs in this context."""


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
        reserved = case.id in self._reserved.get(row, ())
        if reserved:
            self._reserved[row].discard(case.id)
        else:
            self._own(case.id, row)
        if not case.files and not reserved:
            return ()
        staging = self._staging(case.id)
        captured = self._capture(case, staging)
        shutil.rmtree(staging, ignore_errors=True)
        return captured

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
        """Delete everything."""
        remove_folder(self._root)

    def _capture(self, case: Case, staging: Path) -> tuple[CapturedFile, ...]:
        found, staged = look(staging, case.files)
        planned = plan_captures(case.files, found, staged, attempt_bytes=self._captured_bytes)
        if not is_successful(planned):
            raise Refused((*planned.failure(), *other_contents(staging, case.files, found)))
        if not case.files:
            return ()
        view = self.view(case.id)
        captured = capture(staging, view, planned.unwrap())
        if faults := unexpected(case.files, captured):
            remove_view(view)
            raise Refused(faults)
        self._captured_bytes += sum(file.size for file in captured)
        return captured

    def _own(self, case_id: str, row: str) -> None:
        if (owner := self._owners.get(case_id)) is not None:
            rows = f"{owner} twice" if owner == row else f"{owner} and {row}"
            raise DuplicateCaseId(f"the case id {case_id!r} comes from {rows}; ids are unique over both splits")
        self._owners[case_id] = row

    def _staging(self, case_id: str) -> Path:
        return self._root / "staging" / folder_name(case_id)
