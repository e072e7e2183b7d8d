"""What `run eval` is to evaluate: the code as it stands or a candidate's, and which dataset."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.cli.evaluation_request import _means_folder, _settings, _tree, environments
from beaker.core.config_entry import IntegrationEntry
from beaker.core.problems import Refused
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


def test_settings__without_a_proposer__are_fine() -> None:
    """Nothing is proposed; the rest is judged as for a launch."""
    entry = IntegrationEntry(id="words")
    assert _settings({"max_concurrency": 2}, entry).max_concurrency == 2
    given: dict[str, Any] = {"harnessOptimization": {"timeouts": {"run_case": 7}}}
    assert _settings(given, entry).optimizer.timeouts.run_case == 7
    with pytest.raises(Refused) as refused:
        _settings({"max_concurrency": 0, "harness_optimization": {"seed": "x"}}, entry)
    assert {problem.where for problem in refused.value.problems} >= {"config.max_concurrency"}


def test_environments__models_reach_the_code__the_judge_only_the_scorer() -> None:
    """As in a run; every key is a secret, nothing else of the caller's environment is passed on."""
    environ = {
        "PATH": "/bin", "OTHER": "x", "BEAKER_API_KEY": "never", "BEAKER_INFERENCE_BASE_URL": "http://127.0.0.1:1",
        "BEAKER_INFERENCE_API_KEY": "model-key", "BEAKER_SCORER_INFERENCE_API_KEY": "judge-key",
    }  # fmt: skip
    entry = IntegrationEntry(id="words", scorer_model="openai:judge")
    customer, scorer, secrets = environments(environ, entry, {"TOKEN": "granted"}, run_id="eval-1")
    assert customer == {
        "PATH": "/bin", "TOKEN": "granted", "BEAKER_RUN_ID": "eval-1", "BEAKER_INFERENCE_API_KEY": "model-key",
        "BEAKER_INFERENCE_BASE_URL": "http://127.0.0.1:1",
    }  # fmt: skip
    assert scorer == {
        **customer, "BEAKER_SCORER_MODEL": "openai:judge", "BEAKER_SCORER_INFERENCE_API_KEY": "judge-key",
    }  # fmt: skip
    assert secrets == ["granted", "model-key", "judge-key"]
    plain = environments({"BEAKER_SCORER_INFERENCE_API_KEY": "k"}, IntegrationEntry(id="words"), {}, run_id="e")
    assert plain == ({"BEAKER_RUN_ID": "e"}, {"BEAKER_RUN_ID": "e"}, ["k"])
    spec = IntegrationEntry(id="words", section="specs")  # which may name its judge itself
    its_own = environments({"BEAKER_SCORER_INFERENCE_API_KEY": "k"}, spec, {}, run_id="e")
    assert its_own[1] == {"BEAKER_RUN_ID": "e", "BEAKER_SCORER_INFERENCE_API_KEY": "k"}
    keyless = environments({}, entry, {}, run_id="e")[1]
    assert keyless == {"BEAKER_RUN_ID": "e", "BEAKER_SCORER_MODEL": "openai:judge"}
