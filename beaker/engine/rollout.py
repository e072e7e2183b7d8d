"""One rollout process and the folders it works in: the candidate's code, its own copy of the candidate's documents, and
scratch space.
"""

import asyncio
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

from beaker.core.case_files import folder_name
from beaker.core.cases import Case
from beaker.core.limits import DEFAULT_LIMITS, Limits
from beaker.core.optimizer import Timeouts
from beaker.engine.candidates import CandidateTree, tree_files
from beaker.engine.checkouts import Checkouts
from beaker.engine.cleaning import ROLLOUTS
from beaker.engine.folders import remove_tree
from beaker.files.documents import tree_difference, write_tree
from beaker.runtime.case_views import CaseViews
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.supervisor import Supervisor
from beaker.runtime.workers import RolloutResult, RolloutWorker


class Rollout:
    """A running process; `leave` removes its folders once it has ended.

    Each run of a case gets a copy of its files in `views`, below `files`.
    """

    def __init__(
        self,
        worker: RolloutWorker,
        *,
        views: CaseViews,
        files: Path,
        leave: Callable[[], None],
        remark: Callable[[str], None],
    ) -> None:
        self._worker = worker
        self._views = views
        self._files = files
        self._leave = leave
        self._remark = remark
        self._left = False

    @property
    def alive(self) -> bool:
        """Whether it can take another case."""
        return self._worker.alive

    async def run(self, case: Case, *, attempt: int) -> RolloutResult:
        """Run one case; see `RolloutWorker.run`.

        Raises `Refused` when the case's captured files are others by now, and `OSError` when they cannot be copied.
        """
        if not case.files:
            return await self._worker.run(case.id, case.input, attempt=attempt)
        folder = self._files / folder_name(case.id)
        try:
            copied = await asyncio.to_thread(self._views.copy, case, folder)
            return await self._worker.run(case.id, case.input, attempt=attempt, case_files_dir=copied)
        finally:
            await asyncio.shield(asyncio.to_thread(remove_tree, folder))

    async def close(self) -> None:
        """Leave `open_candidate`, end the process and remove its folders."""
        try:
            error = await self._worker.close()
            if error is not None:
                self._remark(f"leaving open_candidate failed: {error.message}")
        finally:
            await self._remove()

    async def kill(self) -> None:
        """End the process at once and remove its folders."""
        try:
            await self._worker.kill()
        finally:
            await self._remove()

    async def _remove(self) -> None:
        if not self._left:
            self._left = True
            await asyncio.shield(asyncio.to_thread(self._leave))


class RolloutStarter:
    """Starts rollout processes, each in a folder of its own below `work`, with the code that `checkouts` has for its
    candidate: `code` names the Integration in a checkout, `tree` gives a candidate by its digest. `views` has the files
    of the cases.
    """

    def __init__(
        self,
        supervisor: Supervisor,
        *,
        code: Callable[[Path], CodeRoot],
        checkouts: Checkouts,
        tree: Callable[[str], CandidateTree],
        views: CaseViews,
        env: Mapping[str, str],
        timeouts: Timeouts,
        limits: Limits = DEFAULT_LIMITS,
        work: Path,
        remark: Callable[[str], None],
    ) -> None:
        self._supervisor = supervisor
        self._code = code
        self._checkouts = checkouts
        self._tree = tree
        self._views = views
        self._env = env
        self._timeouts = timeouts
        self._limits = limits
        self._root = work / ROLLOUTS
        self._remark = remark
        self._count = itertools.count(1)

    async def start(self, digest: str) -> Rollout:
        """A process for the candidate with this digest. Raises `WorkerFailed`, and `OSError` when the disk refuses."""
        folder = self._root / str(next(self._count))
        tree = self._tree(digest)
        checkout = await asyncio.to_thread(self._checkouts.candidate, tree)

        def leave() -> None:
            remove_tree(folder)
            self._checkouts.release(checkout)

        try:
            await asyncio.to_thread(_lay_out, folder, tree)
            worker = await RolloutWorker.start(
                self._supervisor,
                self._code(checkout),
                env=self._env,
                timeouts=self._timeouts,
                targets_dir=folder / "targets" if tree.documents else None,
                scratch_dir=folder / "scratch",
                case_files_dir=folder / "case_files",
                limits=self._limits,
                difference=lambda: _difference(folder, tree),
            )
        except BaseException:
            await asyncio.shield(asyncio.to_thread(leave))
            raise
        return Rollout(worker, views=self._views, files=folder / "files", leave=leave, remark=self._remark)


def _lay_out(folder: Path, tree: CandidateTree) -> None:
    if tree.documents:
        (folder / "targets").mkdir(parents=True)
        write_tree(folder / "targets", tree.documents, tree_files(tree))
        (folder / "targets").chmod(0o555)
    (folder / "scratch").mkdir(parents=True)
    (folder / "case_files").mkdir(mode=0o555)


def _difference(folder: Path, tree: CandidateTree) -> str:
    return tree_difference(folder / "targets", tree.documents, tree_files(tree)) if tree.documents else ""
