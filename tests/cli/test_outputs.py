"""Files that a command was asked to write: tried before any work, named as they were given."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Remote = Callable[..., Any]


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        (["run", "report", "run_1", "--html", "taken/page.html"], "taken/page.html"),
        (["run", "report", "run_1", "--html", "folder"], "folder"),
        (["run", "pull", "run_1", "--output-dir", "taken"], "taken"),
        (["run", "pull", "run_1", "--output-dir", "taken/deep"], "taken/deep"),
        (["run", "pull", "run_1", "--output-dir", "folder"], "folder/candidates.json"),
        (["candidate", "download", "run_1.1", "--output-dir", "taken"], "taken"),
        (["run", "eval", "--html", "taken/page.html"], "taken/page.html"),
        (["run", "eval", "--html", "folder"], "folder"),
    ],
)
def test_output__cannot_be_there__is_refused_before_anything_is_asked(
    service: Any, remote: Remote, tmp_path: Path, argv: list[str], named: str
) -> None:
    """The refusal names the path as it was given, and nothing has been fetched or run."""
    (tmp_path / "taken").write_text("a file")
    (tmp_path / "folder" / "candidates.json").mkdir(parents=True)
    done = remote(*argv)
    assert done.code == 2
    assert f"BK701 {named}: cannot write" in done.err
    assert service.requests == []


def test_output__folders_that_are_missing__are_made(service: Any, remote: Remote, tmp_path: Path) -> None:
    """As with --output-dir, whoever names a file in a new folder gets both."""
    service.offer("run_1.1", {"patch.diff": b"x\n"})
    done = remote("candidate", "download", "run_1.1", "--output-dir", "new/deep")
    assert done.code == 0, done.err
    assert (tmp_path / "new" / "deep" / "run_1.1" / "patch.diff").read_bytes() == b"x\n"
