"""The captured files of cases on the host's side: sealed folders that the setup process made, checked before use.

Scoring reads the sealed folders themselves, so they are compared with what was captured before each scoring. A rollout,
where a candidate's code runs, gets a copy of its own.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beaker.core.case_files import captured_of, folder_name
from beaker.core.cases import CapturedFile, Case, CaseFile
from beaker.core.problems import Problem, Refused
from beaker.files.case_files import State, check_view, copy_view


class CaseViews:
    """The views below `root`. Methods raise `Refused` (BK555) when one is not what was captured."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._states: dict[str, Mapping[str, State]] = {}

    def case(self, told: Mapping[str, Any]) -> Case:
        """A case as the setup process tells it; its files are the captured ones. `TypeError` or `ValueError`."""
        files = [CapturedFile(**file) for file in told["files"]]
        folder = self._root / folder_name(told["id"]) if files else self._root
        declared = [CaseFile(file.name, folder / file.name, file.sha256, file.size) for file in files]
        return Case(**{**told, "files": declared})

    def folder(self, case: Case) -> Path | None:
        """The sealed folder with the files of a case, `None` for a case without any."""
        return self._root / folder_name(case.id) if case.files else None

    def check(self, case: Case) -> None:
        """Compare the sealed folder with what was captured: everything at the first look, then what was touched."""
        if (folder := self.folder(case)) is not None:
            try:
                self._states[case.id] = check_view(folder, captured_of(case), self._states.get(case.id, {}))
            except Refused as refused:
                raise _of(case, refused) from None

    def copy(self, case: Case, target: Path) -> Path | None:
        """Copy the files of a case to the new folder `target`, sealed; `None`, and no folder, without files.

        `OSError` when the disk refuses.
        """
        folder = self.folder(case)
        if folder is None:
            return None
        try:
            copy_view(folder, target, captured_of(case))
        except Refused as refused:
            raise _of(case, refused) from None
        return target


def _of(case: Case, refused: Refused) -> Refused:
    return Refused(
        Problem(one.code, one.message, f"case {case.id!r}" if not one.where else one.where, one.hint)
        for one in refused.problems
    )
