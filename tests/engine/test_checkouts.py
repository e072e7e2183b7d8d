"""Laws of the checkouts of a run's commit."""

import os
from pathlib import Path

from beaker.engine.candidates import CandidateTree
from beaker.engine.checkouts import Checkouts

DOCUMENTS = CandidateTree({"faq": {"a.md": "a"}})


def check_out(folder: Path) -> None:
    """What a commit holds here."""
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("x = 1\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("src/app.py")
    (folder / ".gitignore").write_text("*.log\n")


def test_checkouts__for_each_kind_of_process__are_apart(tmp_path: Path) -> None:
    """Writing in one changes none of the others, and each is made once."""
    made = Checkouts(check_out, tmp_path)
    folders = [made.setup(), made.candidate(DOCUMENTS), made.scorer(), made.project()]
    assert len(set(folders)) == 4
    (folders[1] / "src" / "app.py").write_text("x = 2\n")
    assert [(folder / "src" / "app.py").read_text() for folder in folders] == [
        "x = 1\n",
        "x = 2\n",
        "x = 1\n",
        "x = 1\n",
    ]
    assert made.ignore_rules() == b"*.log\n"


def test_project__as_it_was_made__is_read_only_and_kept(tmp_path: Path) -> None:
    """Files cannot be written, what was executable stays so, links are left alone."""
    made = Checkouts(check_out, tmp_path)
    project = made.project()
    modes = {name: os.lstat(project / name).st_mode & 0o777 for name in ("src", "src/app.py", "run.sh")}
    assert modes == {"src": 0o555, "src/app.py": 0o444, "run.sh": 0o555}
    inode = (project / "src" / "app.py").stat().st_ino
    assert made.project() == project
    assert (project / "src" / "app.py").stat().st_ino == inode


def test_project__that_was_changed__is_made_anew(tmp_path: Path) -> None:
    """Whatever was added, removed, rewritten or made writable."""
    made = Checkouts(check_out, tmp_path)
    app = made.project() / "src" / "app.py"
    for change in (
        lambda: app.parent.chmod(0o755) or (app.parent / "extra").touch(),
        lambda: app.chmod(0o644) or app.write_text("x = 3\n"),
        lambda: app.parent.chmod(0o755) or app.unlink(),
        lambda: app.chmod(0o777),
    ):
        change()
        made.project()
        assert app.read_text() == "x = 1\n"
        assert app.stat().st_mode & 0o777 == 0o444
        assert not (app.parent / "extra").exists()
