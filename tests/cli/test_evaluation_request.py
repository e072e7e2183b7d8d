"""What `run eval` is to evaluate: the code as it stands or a candidate's, and which dataset."""

from collections.abc import Callable
from pathlib import Path

import pytest

from beaker.cli.evaluation_request import _means_folder, _tree
from beaker.core.repository_tree import RepositoryFile
from beaker.files.git import head_commit
from beaker.files.patches import make_patch
from beaker.service.local_repository import LocalRepository


def test_tree__downloaded_candidate__has_its_documents_and_edits(tmp_path: Path, git: Callable[..., str]) -> None:
    """The patch gives exactly the edits it was made of: changed, created, deleted, executable, binary."""
    project, folder = tmp_path / "project", tmp_path / "candidate"
    (project / "src").mkdir(parents=True)
    (project / "src" / "a.py").write_bytes(b"x = 1\n")
    (project / "gone.txt").write_bytes(b"gone\n")
    (project / "kept.txt").write_bytes(b"kept\n")
    git("init", "-q", cwd=project)
    git("add", ".", cwd=project)
    git("commit", "-qm", "as it is", cwd=project)
    before = {"src/a.py": RepositoryFile("100644", b"x = 1\n"), "gone.txt": RepositoryFile("100644", b"gone\n")}
    edits = {
        "src/a.py": RepositoryFile("100644", b"x = 2\n"),
        "gone.txt": None,
        "run.sh": RepositoryFile("100755", b"#!/bin/sh\n"),
        "logo.bin": RepositoryFile("100644", bytes(range(256))),
    }
    documents = folder / "tree" / "documents" / "book" / "deep"
    documents.mkdir(parents=True)
    (documents / "é.md").write_bytes("é\r\n".encode())
    (folder / "patch.diff").write_bytes(make_patch(before, edits).unwrap())
    status = git("status", "--porcelain", cwd=project)
    tree = _tree(folder, LocalRepository(project, "beaker.yaml"), head_commit(project).unwrap())
    assert tree.documents == {"book": {"deep/é.md": "é\r\n"}}
    assert tree.repository == edits
    assert git("status", "--porcelain", cwd=project) == status
    (folder / "patch.diff").unlink()
    assert _tree(folder, LocalRepository(project, "beaker.yaml"), "HEAD").repository == {}


@pytest.mark.parametrize(
    "asked, is_folder",
    [("./data", True), ("../data", True), ("/data", True), ("~/data", True), ("a/b", True), ("here", True),
     ("name", False), ("name@production", False), ("name@sha256:a/b", False)],
)  # fmt: skip
def test_means_folder__path_or_reference(asked: str, is_folder: bool, tmp_path: Path) -> None:
    """Whatever looks like a path is one, and a folder that is there."""
    (tmp_path / "here").mkdir()
    assert _means_folder(asked, tmp_path) is is_folder
