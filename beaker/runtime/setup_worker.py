"""The host's side of the setup process."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beaker.core.case_files import captured_of
from beaker.core.cases import Case, case_fingerprint
from beaker.core.datasets import SPLITS
from beaker.core.documents import TargetDocument
from beaker.core.optimizer import Timeouts
from beaker.core.problems import Problems
from beaker.core.values import value
from beaker.runtime.case_storage import VIEWS
from beaker.runtime.case_views import CaseViews
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.connection import Connection, OnEvent
from beaker.runtime.failures import StageProblem, WorkerFailed
from beaker.runtime.starting import LoadedIntegration, limits_of, start_child
from beaker.runtime.supervisor import Supervisor


@value
class Prepared:
    """What an open setup gave: the cases by split (`train`, `test`), the seed documents of all document targets, the
    rows per split, the fingerprint of the cases (empty when not all were asked for), and where the marker
    `TODO(beaker)` still stands. `views` has the captured files of the cases, as long as the setup is open.

    `case_counts` counts the cases per split, also those that were not asked for.
    """

    cases: Mapping[str, tuple[Case, ...]]
    documents: tuple[TargetDocument, ...]
    row_counts: Mapping[str, int]
    case_counts: Mapping[str, int]
    fingerprint: str
    placeholders: tuple[str, ...]
    views: CaseViews


class SetupWorker:
    """A process that imports the Integration, checks rows, and holds `prepare_run` open until it is closed."""

    def __init__(self, connection: Connection, loaded: LoadedIntegration, timeouts: Timeouts) -> None:
        self.loaded = loaded
        self._connection = connection
        self._limits = limits_of(timeouts)
        self._stage = ""
        self._is_open = False
        self.interrupted: Problems = ()
        """What failed while the setup was left because a call was cancelled; nobody else is told."""

    @classmethod
    async def start(
        cls, supervisor: Supervisor, code: CodeRoot, *, env: Mapping[str, str], timeouts: Timeouts
    ) -> "SetupWorker":
        """Start the process, import the Integration from `code` and validate it; `WorkerFailed` when that fails."""
        connection, loaded = await start_child(supervisor, "setup", code, env=env, timeouts=timeouts, arguments={})
        return cls(connection, loaded, timeouts)

    @property
    def alive(self) -> bool:
        """Whether the process lives."""
        return self._connection.alive

    def output(self) -> str:
        """What the process printed since the last look."""
        return self._connection.output()

    async def check_rows(self, dataset_dir: Path) -> dict[str, int]:
        """Validate every row of both splits; the number of rows per split.

        Raises `WorkerFailed` with every bad row of both files (`file:line`, field), up to 50, the rest counted.
        """
        answer = await self._ask("check_rows", {"dataset_dir": str(dataset_dir)})
        try:
            return _counts(answer["row_counts"])
        except (KeyError, TypeError) as nonsense:
            raise self._connection.nonsense(nonsense) from None

    async def prepare(
        self,
        *,
        run_id: str,
        extra: Mapping[str, Any],
        dataset_dir: Path,
        dataset_name: str,
        dataset_revision: str,
        storage: Path,
        keep_cases: int | None = None,
        row_limit: int | None = None,
        case_ids: tuple[str, ...] = (),
    ) -> Prepared:
        """Validate the rows (unless just done), enter `prepare_run` and hold it, load the cases of both splits.

        `storage` is a folder for staged files; it must not exist and is removed on close. `keep_cases` bounds the
        cases per split that are handed over, `row_limit` the rows per split that are loaded. With `case_ids` exactly
        those cases are handed over, and an id that no case has is a failure. Raises `WorkerFailed` with the first
        failure, then those of the teardown that followed it.
        """
        cases: dict[str, list[Case]] = {"train": [], "test": []}
        views = CaseViews(storage / VIEWS)

        def on_event(name: str, message: dict[str, Any]) -> None:
            if name == "cases":
                cases[message["split"]].extend(map(views.case, message["cases"]))

        arguments = {
            "run_id": run_id,
            "extra": dict(extra),
            "dataset_dir": str(dataset_dir),
            "dataset_name": dataset_name,
            "dataset_revision": dataset_revision,
            "storage": str(storage),
            "keep_cases": keep_cases,
            "row_limit": row_limit,
            "case_ids": list(case_ids),
            "teardown": self._limits["teardown"],
        }
        answer = await self._ask("prepare", arguments, on_event)
        self._is_open = True
        kept = {split: tuple(listed) for split, listed in cases.items()}
        try:
            return Prepared(
                cases=kept,
                documents=tuple(TargetDocument(**document) for document in answer["documents"]),
                row_counts=_counts(answer["row_counts"]),
                case_counts=_counts(answer["case_counts"]),
                fingerprint=_fingerprint(kept) if keep_cases is None else "",
                placeholders=tuple(answer["placeholders"]),
                views=views,
            )
        except (KeyError, TypeError, ValueError) as nonsense:
            raise self._connection.nonsense(nonsense) from None

    async def close(self) -> None:
        """Leave `prepare_run` and end the process, within `timeouts.teardown` seconds.

        Raises `WorkerFailed` when leaving failed or took too long, and when the process ended while the setup was open;
        it is gone in any case. A second call does nothing.
        """
        was_open, self._is_open = self._is_open, False
        if not self._connection.alive:
            await self._connection.kill()
            if was_open and (lost := self._connection.lost) is not None:
                raise WorkerFailed(lost.kind, lost.problems, self._connection.output())
            return
        if failed := await self._leave("close"):
            raise WorkerFailed(*failed, self._connection.output())

    async def kill(self) -> None:
        """End the process at once, without leaving `prepare_run`."""
        self._is_open = False
        await self._connection.kill()

    async def _ask(self, op: str, arguments: Mapping[str, Any], on_event: OnEvent | None = None) -> dict[str, Any]:
        """A request after whose failure no setup is open: code that is late or unwanted is stopped and may clean up."""
        self._stage = "check_rows"

        def note(name: str, message: dict[str, Any]) -> None:
            if name == "stage":
                self._stage = message["stage"]
            elif on_event is not None:
                on_event(name, message)

        try:
            return await self._connection.request(op, arguments, stage=self._stage, limits=self._limits, on_event=note)
        except WorkerFailed as failure:
            also = await self._stop() if failure.kind == "timed_out" else ()
            raise WorkerFailed(failure.kind, (*failure.problems, *also), self._connection.output()) from None
        except asyncio.CancelledError:
            self.interrupted = await self._stop()
            raise

    async def _stop(self) -> Problems:
        """Interrupt what the process does, let it leave `prepare_run`, and end it; what failed meanwhile."""
        if self._stage in ("check_rows", "teardown"):  # nothing is open, or leaving it was tried already
            await self._connection.kill()
            return ()
        left = await self._leave("stop")
        return () if left is None else left[1]

    async def _leave(self, op: str) -> tuple[str, Problems] | None:
        """Have the process leave what is open and end; the kind and the problems of a failure."""
        limit, begun = self._limits["teardown"], False

        def note(name: str, message: dict[str, Any]) -> None:
            nonlocal begun
            begun = begun or (name == "stage" and message["stage"] == "teardown")

        try:
            limits = {**self._limits, "leaving": limit}
            await self._connection.request(op, {}, stage="leaving", limits=limits, on_event=note)
        except WorkerFailed as failure:
            if failure.kind == "timed_out" and not begun:
                return failure.kind, (_never_left(self._stage, limit),)
            if failure.kind == "raised":
                await self._connection.finish()
            return failure.kind, failure.problems
        else:
            await self._connection.finish()
            return None
        finally:
            await self._connection.kill()


def _never_left(stage: str, limit: float) -> StageProblem:
    """The problem of a setup whose teardown never began: what blocks the process cannot be interrupted."""
    open_one = "what prepare_run had begun" if stage == "prepare_run" else "what prepare_run had opened"
    message = f"{stage} blocked the process for {limit:g} s after it was told to stop: {open_one} was not torn down"
    hint = "await what takes long (asyncio.sleep, asyncio.to_thread); code that blocks (time.sleep) stops for nobody"
    return StageProblem("BK550", message, hint=hint, stage="teardown")


def _counts(told: Any) -> dict[str, int]:
    """How many there are of each split; `KeyError` or `TypeError` for what does not say so."""
    if not isinstance(told, dict) or not all(type(told[split]) is int for split in SPLITS):
        raise TypeError("the numbers of each split are missing")
    return {split: told[split] for split in SPLITS}


def _fingerprint(cases: Mapping[str, tuple[Case, ...]]) -> str:
    captured = {case.id: captured_of(case) for listed in cases.values() for case in listed if case.files}
    return case_fingerprint(cases, captured=captured)
