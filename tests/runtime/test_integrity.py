"""The baseline's integrity: every change below its root is noticed, and only changes are."""

import os
from pathlib import Path

import pytest
from returns.pipeline import is_successful

from beaker.runtime.integrity import check_baseline, record_baseline


@pytest.fixture
def root(tmp_path):
    made = tmp_path / "baseline"
    (made / "pkg" / "empty").mkdir(parents=True)
    (made / "app.py").write_text("one")
    (made / "pkg" / "data.bin").write_bytes(b"\0" * 3_000_000)
    (made / "link").symlink_to("app.py")
    return made


def test_check__nothing_changed__is_fine_quick_and_full(root):
    """An untouched tree passes, and the answer is a record to go on with."""
    baseline = record_baseline(root).unwrap()
    assert set(baseline.files) == {"app.py", "pkg/data.bin", "link"}
    assert check_baseline(baseline).unwrap() == baseline
    assert check_baseline(baseline, full=True).unwrap() == baseline


def test_check__touched_but_equal__is_fine_and_remembered(root):
    """A file that was rewritten with the same content passes after being hashed, once."""
    baseline = record_baseline(root).unwrap()
    (root / "app.py").unlink()
    (root / "app.py").write_text("one")
    refreshed = check_baseline(baseline).unwrap()
    assert refreshed != baseline
    assert check_baseline(refreshed).unwrap() == refreshed


@pytest.mark.parametrize(
    "change, told",
    [
        (lambda root: (root / "app.py").write_text("two"), "app.py was changed"),
        (lambda root: (root / "pkg" / "new.py").write_text(""), "pkg/new.py was added"),
        (lambda root: (root / "pkg" / "empty" / "x.pyc").write_text(""), "pkg/empty/x.pyc was added"),
        (lambda root: (root / "app.py").unlink(), "app.py was removed"),
        (lambda root: (root / "app.py").rename(root / "b.py"), "b.py was added, app.py was removed"),
        (lambda root: (root / "link").unlink() or (root / "link").symlink_to("/etc"), "link was changed"),
        (lambda root: (root / "app.py").unlink() or (root / "app.py").symlink_to("link"), "app.py was changed"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("full", [False, True])
def test_check__changed__names_what(root, change, told, full):
    """Changed, added and removed files and redirected links are refused by name."""
    baseline = record_baseline(root).unwrap()
    change(root)
    problem = check_baseline(baseline, full=full).failure()
    assert problem.code == "BK554"
    assert told in problem.message


def test_check__same_size_and_restored_times__is_noticed(root):
    """Setting back the modification time does not hide a change: the change time cannot be set."""
    baseline = record_baseline(root).unwrap()
    before = (root / "app.py").stat()
    (root / "app.py").write_text("two")
    os.utime(root / "app.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not is_successful(check_baseline(baseline))


def test_check__many_changes__are_counted(root):
    """Five changes are named, the rest is a number; control characters in names are visible."""
    baseline = record_baseline(root).unwrap()
    for index in range(7):
        (root / f"\x1b{index}").write_text("")
    message = check_baseline(baseline).failure().message
    assert "and 2 more" in message
    assert "\x1b" not in message


def test_check__special_file_or_no_root__is_a_problem(root, tmp_path):
    """A pipe where a file was, and a tree that is gone, are problems, not exceptions."""
    baseline = record_baseline(root).unwrap()
    (root / "app.py").unlink()
    os.mkfifo(root / "app.py")
    assert check_baseline(baseline).failure().code == "BK553"
    assert record_baseline(root).failure().code == "BK553"
    assert record_baseline(Path("/not/there")).failure().code == "BK553"
