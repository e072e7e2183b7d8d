"""Finding projects, configurations and dotenv files on a real disk."""

import os
from pathlib import Path

import pytest
from returns.pipeline import is_successful

from beaker.core.config_entry import IntegrationEntry
from beaker.files.dotenv import find_dotenv, read_dotenv
from beaker.files.project import (
    Project,
    config_path_in_repository,
    find_git_root,
    find_project,
    load_project_config,
    read_config,
    resolve_import_root,
    settings_file,
)


def put(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A folder that looks like a Git checkout, below one that holds a configuration and a dotenv file."""
    put(tmp_path / ".beaker" / "beaker.yaml", "integrations: {outer: {entrypoint: a:b}}\n")
    put(tmp_path / ".beaker" / ".env", "BEAKER_AGENT_KEY=outer\n")
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    return tmp_path / "repo"


def found(cwd: Path, config_file: str | None = None) -> Project:
    project = find_project(cwd, config_file).unwrap()
    assert project is not None
    return project


def test_find_project__nested_folders__nearest_configuration_wins(repo: Path) -> None:
    """The search goes up from the working directory, whatever is below it or beside it."""
    put(repo / ".beaker" / "beaker.yaml")
    put(repo / "svc" / ".beaker" / "beaker.yaml")
    (repo / "svc" / "deep").mkdir()
    (repo / "other").mkdir()
    assert found(repo / "svc" / "deep").root == repo / "svc"
    assert found(repo / "other").root == found(repo).root == repo
    assert found(repo / "svc") == Project(
        repo / "svc", repo / "svc" / ".beaker" / "beaker.yaml", ".beaker/beaker.yaml", repo
    )


def test_find_project__git_root__ends_the_search(repo: Path) -> None:
    """A configuration above the checkout is somebody else's; outside Git the search goes on."""
    assert find_project(repo).unwrap() is None
    os.rmdir(repo / ".git")
    put(repo / ".git", "gitdir: elsewhere\n")
    assert find_project(repo).unwrap() is None
    os.unlink(repo / ".git")
    outer = found(repo)
    assert outer.root == repo.parent
    assert outer.git_root is None


def test_find_project__folder_in_place_of_the_file__is_skipped(repo: Path) -> None:
    """Only a regular file, or a link to one, is a configuration."""
    (repo / "svc" / ".beaker" / "beaker.yaml").mkdir(parents=True)
    real = put(repo / "real.yaml")
    (repo / ".beaker").mkdir()
    (repo / ".beaker" / "beaker.yaml").symlink_to(real)
    assert found(repo / "svc").root == repo


@pytest.mark.parametrize(
    "config_file, root",
    [("svc/.beaker/beaker.yaml", "svc"), ("cfg/b.yaml", "."), ("b.yaml", "."), (" ./cfg//b.yaml ", ".")],
)
def test_find_project__other_path__root_is_what_the_path_counts_from(repo: Path, config_file: str, root: str) -> None:
    """The root is the path's own base, but a `.beaker/beaker.yaml` belongs to the folder that holds it."""
    for name in ("svc/.beaker/beaker.yaml", "cfg/b.yaml", "b.yaml"):
        put(repo / name)
    (repo / "deep").mkdir()
    assert found(repo / "deep", config_file).root == repo / root


@pytest.mark.parametrize("config_file", ["", " ", ".", "/a", "../a", "a\\b", "a://b"])
def test_find_project__impossible_path__is_refused(repo: Path, config_file: str) -> None:
    """A blank or absolute path, or one that leaves the folder, is a usage error."""
    assert find_project(repo, config_file).failure().code == "BK115"


def test_find_project__working_directory_behind_a_link__is_resolved(repo: Path, tmp_path: Path) -> None:
    """The search starts where the working directory really is."""
    put(repo / ".beaker" / "beaker.yaml")
    (repo / "deep").mkdir()
    link = tmp_path / "link"
    link.symlink_to(repo / "deep")
    assert found(link).root == repo


def test_find_git_root__nothing_above__is_none(tmp_path: Path) -> None:
    """Outside Git there is no root."""
    assert find_git_root(tmp_path) is None


def test_load_project_config__file__is_read_with_its_name(repo: Path) -> None:
    """The problems of a configuration name the file from the project's root, and the line."""
    path = put(repo / ".beaker" / "beaker.yaml", "integrations:\n  a: {entrypoint: m:x}\n")
    project = found(repo)
    assert load_project_config(project).unwrap().integrations["a"].entrypoint == "m:x"
    put(path, "integrations:\n  a: {entrypoint: m:x, entrypoint: n:y}\n")
    (problem,) = load_project_config(project).failure()
    assert problem.where == ".beaker/beaker.yaml:2"
    put(path, "integrations:\nspec: {}\n")
    assert [one.where[-2:] for one in load_project_config(project).failure()] == [":1", ":2"]
    path.unlink()
    (problem,) = load_project_config(project).failure()
    assert problem.code == "BK701"
    assert is_successful(read_config(b"\xef\xbb\xbfintegrations: {}\r\n", "f"))


def test_config_path_in_repository__links__are_followed(repo: Path, tmp_path: Path) -> None:
    """A commit holds the real path; one outside the repository, or no repository, is refused."""
    real = put(repo / "configs" / "real.yaml")
    (repo / "svc" / ".beaker").mkdir(parents=True)
    link = repo / "svc" / ".beaker" / "beaker.yaml"
    link.symlink_to(real)
    assert config_path_in_repository(found(repo / "svc")).unwrap() == "configs/real.yaml"
    link.unlink()
    link.symlink_to(put(tmp_path / "outside.yaml"))
    assert config_path_in_repository(found(repo / "svc")).failure().code == "BK116"
    os.rmdir(repo / ".git")
    assert config_path_in_repository(found(repo / "svc")).failure().code == "BK116"


def test_resolve_import_root__folders__must_exist_inside(repo: Path, tmp_path: Path) -> None:
    """source_dir stays in the checkout and package_import_root in source_dir, links followed."""
    (repo / "src" / "pkg").mkdir(parents=True)
    (repo / "link").symlink_to(repo / "src")
    (repo / "out").symlink_to(tmp_path)
    (repo / "src" / "up").symlink_to(repo)

    def entry(source_dir: str, package_import_root: str | None = None) -> IntegrationEntry:
        return IntegrationEntry(id="a", source_dir=source_dir, package_import_root=package_import_root)

    assert resolve_import_root(repo, entry(".")).unwrap() == repo
    assert resolve_import_root(repo, entry("src", "pkg")).unwrap() == repo / "src" / "pkg"
    assert resolve_import_root(repo, entry("link")).unwrap() == repo / "src"
    for bad in (entry("out"), entry("missing"), entry("src", "up"), entry("src", "missing"), entry("..")):
        problem = resolve_import_root(repo, bad).failure()
        assert problem.code == "BK117"
        assert problem.where.startswith("integrations.a.")
        assert problem.hint


def test_read_dotenv__nearest_file__up_to_the_git_root(repo: Path) -> None:
    """One file counts, the nearest; nothing above the checkout does, and no folder of that name."""
    (repo / "svc" / "deep").mkdir(parents=True)
    assert read_dotenv(repo / "svc" / "deep").unwrap() == {}
    put(repo / ".beaker" / ".env", "A=1\nB=2\n")
    assert read_dotenv(repo / "svc" / "deep").unwrap() == {"A": "1", "B": "2"}
    (repo / "svc" / ".beaker" / ".env").mkdir(parents=True)
    assert find_dotenv(repo / "svc" / "deep") == repo / ".beaker" / ".env"
    put(repo / "svc" / "deep" / ".beaker" / ".env", "\ufeffA=3\n")
    assert read_dotenv(repo / "svc" / "deep").unwrap() == {"A": "3"}


def test_read_dotenv__outside_git__only_the_folder_itself(tmp_path: Path) -> None:
    """Without a repository nobody vouches for the folders above."""
    put(tmp_path / ".beaker" / ".env", "A=1\n")
    (tmp_path / "sub").mkdir()
    assert read_dotenv(tmp_path / "sub").unwrap() == {}
    assert read_dotenv(tmp_path).unwrap() == {"A": "1"}


def test_read_dotenv__other_encoding__says_which_line(tmp_path: Path) -> None:
    """A file that is not UTF-8 is a problem with a line, not a traceback."""
    file = put(tmp_path / ".beaker" / ".env")
    file.write_bytes(b"A=1\nB=caf\xe9\n")
    problem = read_dotenv(tmp_path).failure()
    assert problem.code == "BK130"
    assert problem.where == f"{file}:2"
    assert problem.hint


def test_settings_file__configuration__says_where_a_setting_is(tmp_path: Path) -> None:
    """The working copy's file places settings; one that cannot be read places none."""
    from beaker.core.launch_places import place_settings
    from beaker.core.problems import Problem

    (tmp_path / ".beaker").mkdir()
    config = tmp_path / ".beaker" / "beaker.yaml"
    config.write_text("config_defaults:\n  seed: 1\n", encoding="utf-8")
    project = find_project(tmp_path, None).unwrap()
    assert project is not None
    source = settings_file(project, None)
    assert source is not None
    (problem,) = place_settings([Problem("BK402", "is not known", "config.seed")], source, given={})
    assert problem.where == ".beaker/beaker.yaml:2"
    config.write_text("a: b: c\n", encoding="utf-8")
    assert settings_file(project, None) is None
    config.unlink()
    assert settings_file(project, None) is None


def test_read_dotenv__link__stays_in_the_repository(repo: Path, tmp_path: Path) -> None:
    """A link of a repository supplies nothing from elsewhere on this machine; one inside it is read."""
    link = repo / ".beaker" / ".env"
    link.parent.mkdir()
    link.symlink_to(put(repo / "shared.env", "A=1\n"))
    assert read_dotenv(repo).unwrap() == {"A": "1"}
    link.unlink()
    link.symlink_to(put(tmp_path / "elsewhere.env", "A=2\n"))
    problem = read_dotenv(repo).failure()
    assert (problem.code, problem.where) == ("BK130", str(link))
    (repo / ".git").rmdir()
    assert read_dotenv(repo).failure().code == "BK130"
    link.unlink()
    link.parent.rmdir()
    (repo / ".git").mkdir()
    link.parent.symlink_to(tmp_path / ".beaker")
    assert read_dotenv(repo).failure().code == "BK130"


def test_read_dotenv__file_of_any_size__is_not_read_whole(tmp_path: Path) -> None:
    """What is too large to hold variables is refused before it is read."""
    file = put(tmp_path / ".beaker" / ".env")
    with file.open("wb") as opened:
        opened.truncate(10**9)
    assert read_dotenv(tmp_path).failure().code == "BK130"
