"""The files of a case that a test made or loaded: captured and sealed as `load_cases` would have them."""

import shutil
from pathlib import Path

from beaker.core.cases import Case, CaseFile
from beaker.core.problems import Refused
from beaker.runtime.case_storage import VIEWS, CaseStorage
from beaker.runtime.case_views import CaseViews
from beaker.testing.faults import IntegrationFault
from beaker.testing.folders import new_folder

_ROW = "the test"


def captured_files(case: Case) -> Path | None:
    """A new sealed folder with the files of `case`; `None` for a case without any.

    In a run the files have to lie in the case's staging folder; a test's may lie anywhere, and are copied. The other
    rules hold: names, sizes, SHA-256, no links (`IntegrationFault`).
    """
    if not case.files:
        return None
    root = new_folder("case") / "files"
    storage = CaseStorage(root)
    storage.enter(_ROW)
    staging = storage.directory_for(case.id)
    try:
        files = [_staged(file, staging / str(at)) for at, file in enumerate(case.files)]
        captured = storage.accept(Case(case.id, None, files=files), _ROW)
    except Refused as refused:
        raise IntegrationFault(refused.problems) from None
    views = CaseViews(root / VIEWS)
    return views.folder(Case(case.id, None, files=[CaseFile(file.name, file.name) for file in captured]))


def _staged(file: CaseFile, place: Path) -> CaseFile:
    if file.path.is_symlink() or not file.path.is_dir():
        if file.path.exists() or file.path.is_symlink():
            shutil.copy2(file.path, place, follow_symlinks=False)
    else:
        shutil.copytree(file.path, place, symlinks=True)
    return CaseFile(file.name, place, file.expected_sha256, file.expected_size_bytes)
