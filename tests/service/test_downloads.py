"""Downloads of candidates that edit the repository: the patch that makes the edits, and the files as they are then."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.client.flows import download_candidate
from beaker.core.repository_tree import RepositoryFile
from beaker.engine.candidates import CandidateTree
from beaker.service.ports import timestamp
from beaker.service.reports import search_of
from beaker.service.run_table import find_run
from beaker.service.trees import keep_tree, load_tree

EDITS = {
    "propose.py": RepositoryFile("100755", b"print('better')\n"),
    "lib/new file.bin": RepositoryFile("100644", b"\x00\xff" * 40),
    " odd ": RepositoryFile("100644", b"no final newline"),
    "old.txt": None,
}


@pytest.fixture
def run_id(world: Any, play: Callable[..., None]) -> str:
    """A run whose candidate 2 edits the repository beside its documents."""
    world.write("old.txt", "old\n")
    world.commit()
    world.dataset()
    run_id: str = world.launch()["id"]
    play(world, run_id)
    database = world.place.database
    state = search_of(database, find_run(database, run_id))
    assert state is not None
    digest = state.candidates[2].tree
    documents = load_tree(database, run_id, digest).documents
    database.execute("DELETE FROM trees WHERE run_id = :run_id AND digest = :digest", run_id=run_id, digest=digest)
    edited = CandidateTree(documents, EDITS)
    tracked = ("propose.py", "old.txt")
    keep_tree(database, run_id, digest, edited, is_tracked=tracked.__contains__, now=timestamp(world.clock()))
    return run_id


def test_download__edited_repository__brings_a_patch_that_fits_the_pinned_commit(
    world: Any, run_id: str, tmp_path: Path
) -> None:
    """`git apply` in a fresh clone gives exactly the edited files, whatever the checkout has become since."""
    world.write("propose.py", "later\n")
    world.commit()
    pulled = tmp_path / "pulled"
    paths = download_candidate(world.api, f"{run_id}.2", pulled).unwrap()
    assert paths == (
        "patch.diff",
        "changes/playbooks.json",
        *(f"tree/documents/playbooks/{name}.md" for name in "abc"),
        "tree/repository/lib/new file.bin",
        "tree/repository/propose.py",
        "report.html",
    )
    assert (pulled / "tree/repository/lib/new file.bin").read_bytes() == EDITS["lib/new file.bin"].content
    commit = world.api.call("get_optimization_run", run_id=run_id).unwrap()["github_source"]["commit"]
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(world.root), str(clone)], check=True)
    subprocess.run(["git", "-C", str(clone), "checkout", "-q", commit], check=True)
    subprocess.run(["git", "-C", str(clone), "apply", "--index", str(pulled / "patch.diff")], check=True)
    for path, file in EDITS.items():
        if file is None:
            assert not (clone / path).exists()
        else:
            assert (clone / path).read_bytes() == file.content
            assert bool((clone / path).stat().st_mode & 0o100) == (file.mode == "100755")
    status = subprocess.run(
        ["git", "-C", str(clone), "status", "--porcelain"], capture_output=True, text=True, check=True
    )
    assert len(status.stdout.splitlines()) == len(EDITS)


def test_download__documents_alone__brings_no_patch(world: Any, run_id: str, tmp_path: Path) -> None:
    """Where the repository did not change there is nothing to apply."""
    paths = download_candidate(world.api, f"{run_id}.1", tmp_path).unwrap()
    assert "patch.diff" not in paths
    assert not any(path.startswith("tree/repository") for path in paths)
