"""The checkout as a repository: named, pinned, read at a commit, wherever the project lies in it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from beaker.core.problems import Refused
from beaker.service.local_repository import LocalRepository

CONFIG = ".beaker/beaker.yaml"


def git(folder: Path, *arguments: str) -> str:
    """One Git command in `folder`."""
    identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgSign=false")
    done = subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_name__github_remote__else_the_folder(project: Path) -> None:
    """`owner/name` of the remote; without one `local/<folder>`."""
    assert LocalRepository(project, CONFIG).name() == "local/project"
    git(project, "remote", "add", "origin", "git@github.com:acme/Invoices.git")
    assert LocalRepository(project, CONFIG).name() == "acme/Invoices"


def test_commit__head_branch_tag_id__are_pinned(project: Path) -> None:
    """Every way to name the commit gives its full id, with HEAD detached too."""
    head = git(project, "rev-parse", "HEAD")
    git(project, "tag", "v1")
    git(project, "checkout", "-q", "--detach")
    repository = LocalRepository(project, CONFIG)
    assert {repository.commit(ref).unwrap() for ref in (None, "main", "v1", head[:8], " HEAD ")} == {head}
    assert repository.commit("--all").failure().code == "BK712"
    assert repository.checkout() == str(project.resolve())


def test_project__below_the_root__is_found_from_there(project: Path) -> None:
    """In a monorepo the configuration counts from the root of the checkout."""
    service = project / "services" / "api"
    (service / ".beaker").mkdir(parents=True)
    shutil.move(project / CONFIG, service / CONFIG)
    git(project, "add", "--all")
    git(project, "commit", "-qm", "moved")
    repository = LocalRepository(service, CONFIG)
    assert repository.config_path() == "services/api/.beaker/beaker.yaml"
    commit = repository.commit(None).unwrap()
    assert b"integrations" in repository.read_file(commit, repository.config_path()).unwrap()
    (project / "propose.py").write_text("elsewhere in the repository", encoding="utf-8")
    assert repository.left_out().unwrap() == ("propose.py",)


def test_config_path__link__is_the_real_file(project: Path) -> None:
    """A linked configuration is looked for where it really is."""
    (project / "conf").mkdir()
    shutil.move(project / CONFIG, project / "conf" / "real.yaml")
    os.symlink("../conf/real.yaml", project / CONFIG)
    assert LocalRepository(project, CONFIG).config_path() == "conf/real.yaml"


def test_files__commit__not_the_working_copy(project: Path) -> None:
    """What is committed is read, whatever lies there now."""
    (project / "propose.py").write_text("changed", encoding="utf-8")
    repository = LocalRepository(project, CONFIG)
    found = {file.path: file.data for file in repository.files(repository.commit(None).unwrap())}
    assert found["propose.py"] == b"print('hello')\n"
    assert set(found) == {".beaker/beaker.yaml", "propose.py"}


def test_repository__outside_git__says_what_to_do(tmp_path: Path) -> None:
    """Without Git every question but the name is refused with a next step."""
    folder = tmp_path / "plain"
    folder.mkdir()
    repository = LocalRepository(folder, CONFIG)
    assert repository.name() == "local/plain"
    assert repository.checkout() is None
    for answer in (repository.commit(None), repository.left_out(), repository.read_file("a", "b")):
        assert (answer.failure().code, "git init" in answer.failure().hint) == ("BK711", True)
    with pytest.raises(Refused):
        list(repository.files("a"))
