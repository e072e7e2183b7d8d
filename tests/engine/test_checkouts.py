"""Laws of the checkouts of a run's commit."""

import os
from pathlib import Path

import pytest

from beaker.core.repository_tree import RepositoryFile
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
    made.return_project(project)
    assert made.project() == project
    assert (project / "src" / "app.py").stat().st_ino == inode


def test_project__of_proposers_at_the_same_time__are_apart(tmp_path: Path) -> None:
    """Each has its own, so that one which is made anew is under nobody's feet; the next one gets a free one."""
    made = Checkouts(check_out, tmp_path)
    first, second = made.project(), made.project()
    assert first != second
    made.return_project(first)
    assert made.project() == first
    assert made.project() not in (first, second)


def test_project__that_was_changed__is_made_anew(tmp_path: Path) -> None:
    """Whatever was added, removed, rewritten or made writable."""
    made = Checkouts(check_out, tmp_path)
    project = made.project()
    app = project / "src" / "app.py"
    for change in (
        lambda: app.parent.chmod(0o755) or (app.parent / "extra").touch(),
        lambda: app.chmod(0o644) or app.write_text("x = 3\n"),
        lambda: app.parent.chmod(0o755) or app.unlink(),
        lambda: app.chmod(0o777),
    ):
        change()
        made.return_project(project)
        assert made.project() == project
        assert app.read_text() == "x = 1\n"
        assert app.stat().st_mode & 0o777 == 0o444
        assert not (app.parent / "extra").exists()


EDITED = CandidateTree(
    {},
    {
        "link.d/x": RepositoryFile("100644", b"new"),
        "run.sh": RepositoryFile("100644", b"echo"),
        "src": RepositoryFile("100755", b"a file now"),
        "src/app.py": None,
    },
)


def test_candidate__of_edits__is_the_commit_with_them(tmp_path: Path) -> None:
    """Deletions leave no empty folder, a folder becomes a file, modes are those of the edits, links stay."""
    made = Checkouts(check_out, tmp_path)
    folder = made.candidate(EDITED)
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if not path.is_dir()}
    assert sorted(files) == [".gitignore", "link", "link.d/x", "run.sh", "src"]
    assert os.readlink(files["link"]) == "src/app.py"
    assert (files["src"].read_bytes(), files["link.d/x"].read_bytes()) == (b"a file now", b"new")
    assert [files[name].stat().st_mode & 0o100 for name in ("src", "run.sh")] == [0o100, 0]
    deleted = made.candidate(CandidateTree({}, {"src/app.py": None}))
    assert not (deleted / "src").exists()


def test_candidate__whose_processes_have_ended__leaves_nothing(tmp_path: Path) -> None:
    """A checkout lives as long as a process runs in it; that of documents stays, and all of them share it."""
    made = Checkouts(check_out, tmp_path)
    first, second = made.candidate(EDITED), made.candidate(EDITED)
    assert first == second
    made.release(first)
    assert first.exists()
    made.release(first)
    assert not first.exists()
    assert made.candidate(EDITED) != first
    shared = made.candidate(DOCUMENTS)
    made.release(shared)
    assert made.candidate(CandidateTree({"other": {}})) == shared
    assert shared.exists()


@pytest.mark.parametrize("tree", [DOCUMENTS, EDITED], ids=["documents", "edited"])
def test_candidate__whose_files_were_written_to__is_made_anew(tmp_path: Path, tree: CandidateTree) -> None:
    """What a process leaves in its code is not run by the next one; whoever runs in the old checkout keeps it."""
    made = Checkouts(check_out, tmp_path)
    spoiled = made.candidate(tree)
    (spoiled / "sitecustomize.py").write_text("raise SystemExit")
    fresh = made.candidate(tree)
    assert fresh != spoiled
    assert not (fresh / "sitecustomize.py").exists()
    assert spoiled.exists()
    made.release(spoiled)
    assert not spoiled.exists()
    assert made.candidate(tree) == fresh
    (fresh / "run.sh").unlink()
    made.release(fresh)
    made.release(fresh)
    again = made.candidate(tree)
    assert not fresh.exists()
    assert (again / "run.sh").exists()


def test_file__of_a_candidate__is_its_edit_or_the_commits(tmp_path: Path) -> None:
    """Links, folders and what is not there are no files."""
    made = Checkouts(check_out, tmp_path)
    tree = CandidateTree({}, {"run.sh": None, "new": RepositoryFile("100644", b"n")})
    assert made.file(tree, "new") == RepositoryFile("100644", b"n")
    assert made.file(tree, "src/app.py") == RepositoryFile("100644", b"x = 1\n")
    assert made.file(DOCUMENTS, "run.sh") == RepositoryFile("100755", b"#!/bin/sh\n")
    for path in ("run.sh", "link", "src", "missing", "src/app.py/x"):
        assert made.file(tree, path) is None
