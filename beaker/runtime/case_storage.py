"""Case ids and staging folders of one attempt: which loader owns an id, where it may put files.

Case files themselves come with a later version: a case that declares some is refused when it is yielded.
"""

import shutil
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path

_LOADER: ContextVar[str | None] = ContextVar("beaker_row_loader", default=None)
"""The row (`file:line`) whose loader runs in this context."""


class DuplicateCaseId(ValueError):
    """Two rows, or one row twice, claim the same case id."""


class CaseStorage:
    """The staging folders below `root` and the ids of all splits. Create it with a path that does not exist yet."""

    def __init__(self, root: Path) -> None:
        root.mkdir(mode=0o700, parents=True)
        self._root = root
        self._owners: dict[str, str] = {}
        self._reserved: dict[str, set[str]] = {}

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
        folder = self._folder(case_id)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def claim(self, case_id: str, row: str) -> None:
        """Note that `row` yields this case; `DuplicateCaseId` when the id is taken."""
        reserved = self._reserved.get(row, ())
        if case_id in reserved:
            self._reserved[row].discard(case_id)
            shutil.rmtree(self._folder(case_id), ignore_errors=True)
        else:
            self._own(case_id, row)

    def unused(self, row: str) -> list[str]:
        """The ids that `row` reserved and never yielded, sorted."""
        return sorted(self._reserved.pop(row, ()))

    def remove(self) -> None:
        """Delete everything."""
        shutil.rmtree(self._root, ignore_errors=True)

    def _own(self, case_id: str, row: str) -> None:
        if (owner := self._owners.get(case_id)) is not None:
            rows = f"{owner} twice" if owner == row else f"{owner} and {row}"
            raise DuplicateCaseId(f"the case id {case_id!r} comes from {rows}; ids are unique over both splits")
        self._owners[case_id] = row

    def _folder(self, case_id: str) -> Path:
        return self._root / "staging" / sha256(case_id.encode()).hexdigest()
