"""One attempt inside the setup process: from the setup class to loaded cases, and back out in reverse order."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from returns.pipeline import is_successful

from beaker.core.case_choice import unknown_ids
from beaker.core.cases import CapturedFile, Case
from beaker.core.convert import to_json
from beaker.core.datasets import SPLITS
from beaker.core.documents import TargetDocument, check_documents
from beaker.core.problems import Problem
from beaker.core.strict_json import dumps
from beaker.core.targets import DocumentTargets
from beaker.runtime import placeholders
from beaker.runtime.case_storage import CaseStorage
from beaker.runtime.contexts import HookContext
from beaker.runtime.failures import StageFailed, StageProblem, stage_problem
from beaker.runtime.loading import STAGE, CaseLoader
from beaker.runtime.places import defined_at
from beaker.runtime.protocol import MAX_MESSAGE
from beaker.runtime.rows import CheckedDataset
from beaker.sdk.earlier import named_results
from beaker.sdk.integration import Integration
from beaker.sdk.loading import origin_of
from beaker.sdk.runtimes import PinnedDatasetInfo, SetupRuntime
from beaker.sdk.setups import RunSetup, check_setup_results

_BATCH_BYTES = 1 << 18
_CASE_BYTES = MAX_MESSAGE - 1024

_CONSTRUCTING = "the setup class is made once per attempt, without arguments; look at its __init__"
_PREPARING = "it must come to its `yield`; what it needs must be in the commit or in the environment"
_YIELDING = "yield one result per kind of target that the Integration declares"
_SEEDING = "correct the seed documents that prepare_run yields"

Announce = Callable[[str], None]
SendCases = Callable[[str, list[str]], None]


class Attempt:
    """One instance of the setup class and everything that is open because of it.

    `announce` is told the stage that begins, `send_cases` takes encoded cases of a split, `stopping` says whether the
    host asked to stop, which cancels the task as well: nothing further begins, what is open is left. `raised` is the
    exception that ended it, where customer code raised one or it was stopped. `interrupted` is the stage in which the
    task was cancelled though nobody asked for a stop, which only code in this process can have done.
    """

    def __init__(
        self,
        integration: Integration,
        dataset: CheckedDataset,
        request: dict[str, Any],
        *,
        announce: Announce,
        send_cases: SendCases,
        stopping: Callable[[], bool],
    ) -> None:
        self.raised: BaseException | None = None
        self.interrupted = ""
        self._stage = "prepare_run"
        self._integration = integration
        self._dataset = dataset
        self._request = request
        self._announce = announce
        self._send_cases = send_cases
        self._stopping = stopping
        self._patience = min(float(request["teardown"]) / 2, 10.0)
        self._batches: dict[str, _Batch] = {}
        self._left_behind: list[StageProblem] = []

    async def hold(self, ready: Callable[[dict[str, Any]], Awaitable[None]]) -> list[StageProblem]:
        """Open the setup, load the cases, await `ready` with what they are, and leave the setup again.

        `ready` returns when the attempt is over. Answers what failed: the cause first, then what failed while leaving.
        """
        problems: list[StageProblem] = []
        storage: CaseStorage | None = None
        context: HookContext | None = None
        cause: BaseException | None = None
        try:
            self._begin("prepare_run")
            setup = self._construct()
            storage = self._make_storage()
            runtime = self._make_runtime(storage)
            opened = self._call_prepare_run(setup, runtime)
            results = await self._enter(opened)
            context = opened
            documents = self._check_results(results, opened)
            self._begin("load_cases")
            await self._load(setup, runtime, storage)
            await ready(self._described(documents))
        except StageFailed as failure:
            problems += failure.problems
            cause, self.raised = failure.error, failure.raised
        except asyncio.CancelledError as stopped:
            if (task := asyncio.current_task()) is not None:
                task.uncancel()
            cause = self.raised = stopped
            if not self._stopping():
                self.interrupted = self._stage
        finally:
            self._announce("teardown")
            problems += self._left_behind
            if context is not None and (problem := await context.leave(cause)) is not None:
                problems.append(problem)
            if storage is not None:
                storage.remove()
        return problems

    def _begin(self, stage: str) -> None:
        if self._stopping():  # customer code swallowed the cancellation
            raise asyncio.CancelledError
        self._stage = stage
        self._announce(stage)

    def _construct(self) -> RunSetup[Any]:
        try:
            return self._integration.run_setup()
        except BaseException as error:
            name = self._integration.run_setup.__name__
            raise StageFailed(
                stage_problem("BK330", "prepare_run", error, doing=f"constructing {name}", hint=_CONSTRUCTING), error
            ) from None

    def _make_storage(self) -> CaseStorage:
        root = Path(self._request["storage"])
        try:
            return CaseStorage(root)
        except OSError as error:
            message = f"cannot create the folder for case files: {error}"
            raise StageFailed(StageProblem("BK343", message, str(root), stage="prepare_run")) from None

    def _make_runtime(self, storage: CaseStorage) -> SetupRuntime:
        request = self._request
        try:
            dataset = PinnedDatasetInfo(
                request["dataset_name"], request["dataset_revision"], self._dataset.row_counts, self._dataset.metadata
            )
            return SetupRuntime(request["run_id"], request["extra"], dataset, storage.directory_for)
        except (TypeError, ValueError) as error:
            raise StageFailed(StageProblem("BK342", str(error), stage="prepare_run"), error) from None

    def _call_prepare_run(self, setup: RunSetup[Any], runtime: SetupRuntime) -> HookContext:
        try:
            manager = setup.prepare_run(runtime=runtime)
        except BaseException as error:
            problem = stage_problem("BK332", "prepare_run", error, doing="calling prepare_run", hint=_PREPARING)
            raise StageFailed(problem, error) from None
        return HookContext(manager, "prepare_run", setup.prepare_run)

    async def _enter(self, context: HookContext) -> Any:
        try:
            return await context.enter()
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and self._stopping():
                raise
            problem = stage_problem("BK332", "prepare_run", error, doing="prepare_run", hint=_PREPARING)
            raise StageFailed(problem, error) from None

    def _check_results(self, results: object, opened: HookContext) -> tuple[TargetDocument, ...]:
        targets = self._integration.targets
        try:
            named = named_results(results, opened.manager, self._integration.run_setup.prepare_run)
            _, found = check_setup_results(named, targets)
        except (TypeError, ValueError, DeprecationWarning) as error:  # a customer may make errors of warnings
            problem = StageProblem("BK333", str(error), self._prepare_run_at(), _YIELDING, "prepare_run")
            raise StageFailed(problem, error) from None
        documents = () if found is None else found.target_documents
        problems: list[StageProblem] = []
        for target in targets:
            if isinstance(target, DocumentTargets):
                checked = check_documents(one for one in documents if one.group in target.groups)
                if not is_successful(checked):
                    problems += [
                        StageProblem(one.code, *self._seed_fault(one), "prepare_run") for one in checked.failure()
                    ]
        if problems:
            raise StageFailed(problems)
        return documents

    def _prepare_run_at(self) -> str:
        return defined_at(self._integration.run_setup.prepare_run)

    def _seed_fault(self, fault: Problem) -> tuple[str, str, str]:
        """A fault of a seed document, at the hook that handed it over."""
        return str(fault), self._prepare_run_at(), fault.hint or _SEEDING

    async def _load(self, setup: RunSetup[Any], runtime: SetupRuntime, storage: CaseStorage) -> None:
        def keep(case: Case, captured: tuple[CapturedFile, ...]) -> _Encoded:
            encoded = _encoded(case, captured)
            # Reading every file again is for smoke alone, which keeps some of the cases only.
            if captured and not encoded.is_marked and self._request["keep_cases"] is not None:
                return encoded._replace(is_marked=placeholders.in_files(storage.view(case.id), captured))
            return encoded

        loader = CaseLoader(setup, runtime, storage, keep=keep, patience=self._patience)
        for split in SPLITS:
            batch = _Batch(split, self._wanted(), self._send_cases)

            try:
                await loader.load(self._dataset.rows(split, self._request["row_limit"]), batch.take, split=split)
            except asyncio.CancelledError:
                self._left_behind = loader.problems
                raise
            finally:
                self._batches[split] = batch
            batch.send()
        if unknown := unknown_ids(self._request.get("case_ids") or (), storage.ids):
            raise StageFailed([StageProblem(one.code, one.message, one.where, one.hint, STAGE) for one in unknown])

    def _wanted(self) -> Callable[[int, str], bool]:
        """Whether the case of that number (from 1) and id of a split is to be handed over."""
        ids, most = self._request.get("case_ids"), self._request["keep_cases"]
        if ids:
            return lambda number, case_id: case_id in ids
        return lambda number, case_id: most is None or number <= most

    def _described(self, documents: tuple[TargetDocument, ...]) -> dict[str, Any]:
        return {
            "row_counts": self._dataset.row_counts,
            "case_counts": {split: batch.count for split, batch in self._batches.items()},
            "documents": [to_json(document) for document in documents],
            "placeholders": [*self._placeholders(documents)],
        }

    def _placeholders(self, documents: tuple[TargetDocument, ...]) -> Iterator[str]:
        yield from placeholders.in_source(self._integration)
        is_spec = origin_of(self._integration) is not None
        for split, batch in self._batches.items():
            if is_spec and batch.has_example:
                yield f"the case {placeholders.EXAMPLE_CASE!r} of {split}"
            if batch.marked:
                yield f"{batch.marked} of {batch.count} cases of {split}, the first is {batch.first_marked!r}"
        yield from placeholders.in_documents(documents)


class _Encoded(NamedTuple):
    id: str
    line: str
    is_marked: bool


def _encoded(case: Case, captured: tuple[CapturedFile, ...]) -> _Encoded:
    """The case as it travels; `TypeError` or `ValueError` when its content was changed and is no JSON any more."""
    told = {"id": case.id, "input": case.input, "expected": case.expected, "metadata": case.metadata}
    line = dumps({**told, "files": [to_json(file) for file in captured]})
    if len(line) > _CASE_BYTES:
        raise ValueError(f"it has {len(line)} bytes; at most {_CASE_BYTES} are allowed")
    # The marker is plain ASCII, so it stands in the encoded text exactly when a key or a text holds it.
    return _Encoded(case.id, line, placeholders.MARKER in line)


class _Batch:
    """Counts the cases of one split and sends those that are wanted, many at a time."""

    def __init__(self, split: str, wanted: Callable[[int, str], bool], send: SendCases) -> None:
        self.count = 0
        self.marked = 0
        self.has_example = False
        self.first_marked = ""
        self._split = split
        self._wanted = wanted
        self._send = send
        self._lines: list[str] = []
        self._size = 0

    def take(self, case: _Encoded) -> None:
        self.count += 1
        self.has_example = self.has_example or case.id == placeholders.EXAMPLE_CASE
        if case.is_marked:
            self.first_marked = self.first_marked or case.id
            self.marked += 1
        if self._wanted(self.count, case.id):
            if self._size + len(case.line) > _BATCH_BYTES:
                self.send()
            self._lines.append(case.line)
            self._size += len(case.line)

    def send(self) -> None:
        if self._lines:
            self._send(self._split, self._lines)
        self._lines = []
        self._size = 0
