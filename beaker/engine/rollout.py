"""One rollout process and the folders it works in: its own copy of the candidate's documents, and scratch space."""

import asyncio
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from beaker.core.optimizer import Timeouts
from beaker.engine.candidates import CandidateTree, tree_files
from beaker.engine.cleaning import ROLLOUTS
from beaker.engine.working_copy import remove_tree
from beaker.files.documents import write_tree
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.supervisor import Supervisor
from beaker.runtime.workers import RolloutResult, RolloutWorker


class Rollout:
    """A running process with its folder, which goes with it."""

    def __init__(self, worker: RolloutWorker, folder: Path, remark: Callable[[str], None]) -> None:
        self._worker = worker
        self._folder = folder
        self._remark = remark

    @property
    def alive(self) -> bool:
        """Whether it can take another case."""
        return self._worker.alive

    async def run(self, case_id: str, case_input: Any, *, attempt: int) -> RolloutResult:
        """Run one case; see `RolloutWorker.run`."""
        return await self._worker.run(case_id, case_input, attempt=attempt)

    async def close(self) -> None:
        """Leave `open_candidate`, end the process and remove its folder."""
        try:
            error = await self._worker.close()
            if error is not None:
                self._remark(f"leaving open_candidate failed: {error.message}")
        finally:
            remove_tree(self._folder)

    async def kill(self) -> None:
        """End the process at once and remove its folder."""
        try:
            await self._worker.kill()
        finally:
            remove_tree(self._folder)


class RolloutStarter:
    """Starts rollout processes, each in a folder of its own below `work`."""

    def __init__(
        self,
        supervisor: Supervisor,
        *,
        code: CodeRoot,
        tree: Callable[[str], CandidateTree],
        env: Mapping[str, str],
        timeouts: Timeouts,
        work: Path,
        remark: Callable[[str], None],
    ) -> None:
        self._supervisor = supervisor
        self._code = code
        self._tree = tree
        self._env = env
        self._timeouts = timeouts
        self._root = work / ROLLOUTS
        self._remark = remark
        self._count = itertools.count(1)

    async def start(self, digest: str) -> Rollout:
        """A process for the candidate with this digest. Raises `WorkerFailed`, and `OSError` when the disk refuses."""
        folder = self._root / str(next(self._count))
        try:
            await asyncio.to_thread(_lay_out, folder, self._tree(digest))
            worker = await RolloutWorker.start(
                self._supervisor,
                self._code,
                env=self._env,
                timeouts=self._timeouts,
                targets_dir=folder / "targets",
                scratch_dir=folder / "scratch",
                case_files_dir=folder / "case_files",
            )
        except BaseException:
            remove_tree(folder)
            raise
        return Rollout(worker, folder, self._remark)


def _lay_out(folder: Path, tree: CandidateTree) -> None:
    (folder / "targets").mkdir(parents=True)
    write_tree(folder / "targets", tree.documents, tree_files(tree))
    (folder / "targets").chmod(0o555)
    (folder / "scratch").mkdir()
    (folder / "case_files").mkdir(mode=0o555)
