"""What this system lets a run do, found out by doing it."""

import sys
from pathlib import Path

import pytest

from beaker.core.doctor import check_sandbox
from beaker.runtime.abilities import abilities


def test_abilities__here__let_runs_take_place(tmp_path: Path) -> None:
    """These tests run customer code; nothing stays in the folder."""
    found = abilities(tmp_path)
    assert found is not None
    assert (found.ends_groups, found.locks, found.adopts_orphans) == (True, True, sys.platform == "linux")
    assert check_sandbox(sys.platform, found).state == "ok"
    assert list(tmp_path.iterdir()) == []


def test_abilities__folder_that_is_not_there__holds_no_locks(tmp_path: Path) -> None:
    """A fault of it, not an error of the check."""
    found = abilities(tmp_path / "gone")
    assert found is not None
    assert (found.ends_groups, found.locks) == (True, False)


def test_abilities__no_interpreter_can_be_started__is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be started, nothing can be ended."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
    found = abilities(tmp_path)
    assert found is not None
    assert not found.ends_groups


def test_abilities__windows__are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are no groups to look for."""
    monkeypatch.setattr(sys, "platform", "win32")
    assert abilities(tmp_path) is None
