"""The checkout on this machine as the repository that runs take their code from."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.problems import Problem, Refused
from beaker.files import git
from beaker.files.git import TreeFile
from beaker.files.git_commits import snapshot
from beaker.files.own_outputs import without_own_outputs
from beaker.files.project import find_git_root


class LocalRepository:
    """The Git checkout around `project_root`, with its configuration at `config_file` of the project.

    Outside Git every question but the name is answered with BK711. The name is asked for once.
    """

    def __init__(self, project_root: Path, config_file: str) -> None:
        self._project = project_root.resolve()
        self._config = self._project / config_file
        self._root = find_git_root(self._project)

    def name(self) -> str:
        """`owner/name` of the GitHub remote, else `local/<folder>`."""
        return self._name

    @cached_property
    def _name(self) -> str:
        if self._root is not None:
            remote = git.remote_repository(self._root)
            if is_successful(remote) and (named := remote.unwrap()) is not None:
                return named
        return f"local/{(self._root or self._project).name or 'project'}"

    def config_path(self) -> str:
        """The path of the configuration from the root of the checkout, symbolic links followed."""
        root = (self._root or self._project).resolve()
        resolved = self._config.resolve()
        return resolved.relative_to(root).as_posix() if root in resolved.parents else self._config.name

    def checkout(self) -> str | None:
        """The root of the checkout."""
        return None if self._root is None else str(self._root)

    def commit(self, ref: str | None) -> Result[str, Problem]:
        """The commit of a local branch, tag or commit id; HEAD for `None`."""
        return self._rooted().bind(
            lambda root: git.head_commit(root) if ref is None else git.resolve_ref(root, ref.strip())
        )

    def snapshot(self) -> Result[str, Problem]:
        """A commit of the checkout as it stands, with everything that `left_out` names; HEAD when that is nothing."""
        also = (self.config_path(),)
        return self._rooted().bind(lambda root: snapshot(root, "The checkout as it was launched", also=also))

    def left_out(self) -> Result[tuple[str, ...], Problem]:
        """Changed tracked files, and a configuration that is not committed."""
        return self._rooted().bind(lambda root: git.dirty_files(root, also=(self.config_path(),)))

    def untracked(self, folder: str) -> Result[tuple[str, ...], Problem]:
        """Files below a folder of the checkout that Git neither tracks nor ignores, but for what Beaker wrote there."""
        return self._rooted().bind(
            lambda root: git.untracked_files(root, below=folder).map(lambda paths: without_own_outputs(root, paths))
        )

    def read_file(self, commit: str, path: str) -> Result[bytes, Problem]:
        """One file of a commit."""
        return self._rooted().bind(lambda root: git.read_file_at(root, commit, path))

    def files(self, commit: str) -> Iterator[TreeFile]:
        """Every entry of a commit."""
        root = self._rooted()
        if not is_successful(root):
            raise Refused(root.failure())
        return git.read_commit(root.unwrap(), commit)

    def _rooted(self) -> Result[Path, Problem]:
        if self._root is not None:
            return Success(self._root)
        hint = "make it one (`git init`), and commit your files: a run takes its code from a commit"
        return Failure(Problem("BK711", "the project is not in a Git repository", str(self._project), hint))
