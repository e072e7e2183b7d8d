"""Laws of the folder that a worker works in."""

import tempfile
from pathlib import Path

import pytest

from beaker.service.work_folder import WorkFolder


def test_work_folder__of_a_killed_worker__is_removed_by_its_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever comes later finds it; a second removal has nothing to do."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = WorkFolder(tmp_path / "note", "run_1").make()
    assert made.parent == tmp_path.resolve()
    assert made.stat().st_mode & 0o777 == 0o700
    (made / "file").touch()
    later = WorkFolder(tmp_path / "note", "run_1")
    later.remove()
    assert list(tmp_path.iterdir()) == []
    later.remove()


@pytest.mark.parametrize("named", ["precious", "/", "", "beaker-run_2-x"])
def test_work_folder__a_note_that_names_something_else__removes_nothing(tmp_path: Path, named: str) -> None:
    """A damaged note costs nobody a folder."""
    (tmp_path / "precious").mkdir()
    (tmp_path / "beaker-run_2-x").mkdir()
    (tmp_path / "note").write_text(str(tmp_path / named) if named and named != "/" else named)
    WorkFolder(tmp_path / "note", "run_1").remove()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beaker-run_2-x", "precious"]
