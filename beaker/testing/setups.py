"""Running `prepare_run` and `load_cases` in the test's own process, and runtimes for calling them oneself."""

import asyncio
import contextvars
import json
import os
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from beaker.core.case_files import folder_name
from beaker.core.cases import Case
from beaker.core.datasets import SPLITS
from beaker.core.documents import TargetDocument
from beaker.core.strict_json import dumps, json_object
from beaker.core.values import value
from beaker.runtime.attempt import Attempt
from beaker.runtime.case_storage import VIEWS
from beaker.runtime.case_views import CaseViews
from beaker.runtime.failures import StageFailed
from beaker.runtime.repeated_ids import fields_of_ids
from beaker.runtime.rows import CheckedDataset
from beaker.sdk.integration import Integration
from beaker.sdk.runtimes import PinnedDatasetInfo, SetupRuntime
from beaker.sdk.validation import validate_integration
from beaker.testing.faults import IntegrationFault, failure
from beaker.testing.folders import new_folder
from beaker.testing.loops import run

Rows: TypeAlias = Iterable[Mapping[str, Any]]

Dataset: TypeAlias = str | os.PathLike[str] | Mapping[str, Rows] | Rows
"""A dataset: a folder with `train.jsonl` and `test.jsonl`, rows of both splits by their names, or TRAIN rows alone."""

_NAME, _REVISION = "local-dataset", "unpinned"
_TEARDOWN_SECONDS = 20.0


@value
class PreparedRun:
    """What a setup gave: the cases of both splits in the order of their rows, and the seed documents.

    `train` and `test` are tuples of `Case`; the files of a case are the captured ones, at the paths of its `CaseFile`
    values. `documents` are the seeds of all document targets, empty without any. `row_counts` has the number of rows
    per split.
    """

    train: tuple[Case, ...]
    test: tuple[Case, ...]
    documents: tuple[TargetDocument, ...]
    row_counts: Mapping[str, int]

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases of TRAIN, then those of TEST."""
        return self.train + self.test


def run_setup_once(
    integration: Integration,
    dataset: Dataset,
    *,
    config: Mapping[str, Any] | None = None,
    run_id: str = "test",
    limit: int | None = None,
) -> PreparedRun:
    """Validate the rows of `dataset`, enter `prepare_run` of `integration`, load every case, and leave again, in this
    process.

    All of it happens as in a run: the setup class is made without arguments, eight rows load at a time, ids are unique,
    files of cases are captured and stay until the process ends. `config` and `run_id` are those of the `SetupRuntime`;
    `limit` bounds the rows per split that become cases, all are validated.

    Whatever the hooks raise is raised here, unchanged but for a note that says where. `IntegrationFault` with every
    fault of the rows, and for each rule that a hook broke. `RuntimeError` inside a running event loop.
    """
    __tracebackhide__ = True
    request = _Request(integration, dataset, config, run_id, limit)
    made: list[PreparedRun] = []

    async def take(prepared: PreparedRun) -> None:
        made.append(prepared)

    run(lambda: _hold(request, take), "run_setup_once")
    return made[0]


@contextmanager
def open_setup(
    integration: Integration,
    dataset: Dataset,
    *,
    config: Mapping[str, Any] | None = None,
    run_id: str = "test",
    limit: int | None = None,
) -> Iterator[PreparedRun]:
    """As `run_setup_once`, but `prepare_run` stays open for the block: for setups that start what cases talk to.

    `integration`, `dataset`, `config`, `run_id` and `limit` are the same. The setup's event loop runs in a thread of
    its own meanwhile, so this also works inside a running event loop.
    """
    __tracebackhide__ = True
    request = _Request(integration, dataset, config, run_id, limit)
    held = _Held(request)
    try:
        yield held.opened()
    finally:
        held.close()


def setup_runtime(
    *,
    config: Mapping[str, Any] | None = None,
    run_id: str = "test",
    dataset_name: str = _NAME,
    dataset_revision: str = _REVISION,
    row_counts: Mapping[str, int] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> SetupRuntime:
    """A `SetupRuntime` for calling `prepare_run` or `load_cases` oneself.

    `config` and `run_id` are its own; `dataset_name`, `dataset_revision`, `row_counts` (per split) and `metadata` are
    those of its dataset. `case_files_dir` gives a folder for any id, anywhere; that a run allows it inside `load_cases`
    alone is checked by `run_setup_once`. The folders go when the process ends.
    """
    root = new_folder("case-files")

    def provide(case_id: str) -> Path:
        folder = root / folder_name(case_id)
        folder.mkdir(exist_ok=True)
        return folder

    counts = dict.fromkeys(SPLITS, 0) | dict(row_counts or {})
    dataset = PinnedDatasetInfo(dataset_name, dataset_revision, counts, metadata or {})
    return SetupRuntime(run_id, config or {}, dataset, provide)


@attrs.frozen
class _Request:
    integration: Integration
    dataset: Dataset
    config: Mapping[str, Any] | None
    run_id: str
    limit: int | None


async def _hold(request: _Request, ready: Callable[[PreparedRun], Awaitable[None]]) -> None:
    """Open the setup, await `ready` with what it gave, and leave it; raises what failed first."""
    __tracebackhide__ = True
    integration = request.integration
    folder = new_folder("setup")
    adapter, ids = validate_integration(integration), fields_of_ids(integration.run_setup)
    dataset = CheckedDataset(_dataset_folder(request.dataset), adapter, ids)
    try:
        dataset.check()
    except StageFailed as failed:
        raise IntegrationFault(failed.problems) from None
    storage, kept = folder / "storage", folder / VIEWS
    views = CaseViews(kept)
    cases: dict[str, list[Case]] = {split: [] for split in SPLITS}
    task = asyncio.current_task()

    async def on_ready(described: dict[str, Any]) -> None:
        if (storage / VIEWS).exists():
            (storage / VIEWS).rename(kept)  # they outlive the setup
        await ready(
            PreparedRun(
                train=tuple(cases["train"]),
                test=tuple(cases["test"]),
                documents=tuple(TargetDocument(**document) for document in described["documents"]),
                row_counts=described["row_counts"],
            )
        )

    attempt = Attempt(
        integration,
        dataset,
        {
            "run_id": request.run_id,
            "extra": dict(request.config or {}),
            "dataset_name": _NAME,
            "dataset_revision": _REVISION,
            "storage": str(storage),
            "keep_cases": None,
            "row_limit": request.limit,
            "case_ids": [],
            "teardown": _TEARDOWN_SECONDS,
        },
        announce=lambda stage: None,
        send_cases=lambda split, lines: cases[split].extend(views.case(json.loads(line)) for line in lines),
        stopping=lambda: task is not None and task.cancelling() > 0,
    )
    problems = await attempt.hold(on_ready)
    if problems or attempt.raised is not None:
        raise failure(problems, attempt.raised)


class _Held:
    """A setup that is open in a thread of its own, once it is opened and until it is closed.

    The thread that opens it may be interrupted anywhere.
    """

    def __init__(self, request: _Request) -> None:
        self._request = request
        self._prepared: Future[PreparedRun] = Future()
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._failed: BaseException | None = None
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._work,), name="beaker-setup", daemon=True)
        self._ended = threading.Event()

    def opened(self) -> PreparedRun:
        """Open it: what the setup gave, once it did; raises what failed."""
        __tracebackhide__ = True
        self._thread.start()
        return self._prepared.result()

    def close(self) -> None:
        """Leave the setup, stopping what is still under way; raises what failed while it was left."""
        __tracebackhide__ = True
        with suppress(RuntimeError):  # the loop is closed: it has ended
            self._loop.call_soon_threadsafe(self._end)
        while not self._ended.wait(1.0):
            if self._thread.ident is None:  # interrupted before the thread had begun
                self._loop.close()
                return
        self._thread.join()
        if self._prepared.exception() is None and self._failed is not None:
            raise self._failed

    def _end(self) -> None:
        if self._prepared.done():
            self._closing.set()
        elif self._task is not None:
            self._task.cancel()
        else:
            self._loop.call_soon(self._end)  # it has not begun yet

    def _work(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._held())
        except BaseException as error:
            self._failed = error
        finally:
            if self._failed is not None and not self._prepared.done():
                self._prepared.set_exception(self._failed)
            self._ended.set()

    async def _held(self) -> None:
        self._task = asyncio.current_task()
        await _hold(self._request, self._ready)

    async def _ready(self, prepared: PreparedRun) -> None:
        self._prepared.set_result(prepared)
        await self._closing.wait()


def _dataset_folder(dataset: Dataset) -> Path:
    if isinstance(dataset, str | os.PathLike):
        return Path(dataset)
    splits: dict[str, Any] = dict(dataset) if isinstance(dataset, Mapping) else {"train": dataset}
    if unknown := sorted(set(splits) - set(SPLITS)):
        raise ValueError(f"a dataset has the splits {' and '.join(SPLITS)}, not {', '.join(map(repr, unknown))}")
    folder = new_folder("dataset")
    for split in SPLITS:
        lines = [dumps(json_object(row, f"{split}[{at}]")) for at, row in enumerate(splits.get(split, ()))]
        (folder / f"{split}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder
