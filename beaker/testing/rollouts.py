"""Runtimes for `run_case` as a test wants them: documents laid out, files captured, a trace that can be looked at."""

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias, TypeVar

from returns.pipeline import is_successful

from beaker.core.cases import Case
from beaker.core.documents import TargetDocument, check_candidate_files
from beaker.core.strict_json import JsonObject
from beaker.core.targets import DocumentTargets
from beaker.core.traces import LONGEST, TraceParts, take, trace_of
from beaker.files.documents import write_tree
from beaker.runtime.failures import said
from beaker.runtime.shortening import preliminary
from beaker.sdk.runtimes import RolloutRuntime
from beaker.sdk.trace import Trace
from beaker.testing.case_files import captured_files
from beaker.testing.faults import IntegrationFault
from beaker.testing.folders import new_folder
from beaker.tracing.recorder import Recorder
from beaker.tracing.recording import RecordingTrace

CandidateT = TypeVar("CandidateT")

Documents: TypeAlias = Iterable[TargetDocument] | Mapping[str, Mapping[str, str]]
"""Documents of a candidate: seeds as `prepare_run` yields them, or `{group: {name: content}}`."""


class KeptTrace(RecordingTrace):
    """A recording trace of a test, which keeps what is recorded."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts = parts = TraceParts()
        super().__init__(
            Recorder(lambda message: take(parts, message), cut=lambda text: preliminary(text, LONGEST), say=said)
        )

    def close(self) -> None:
        """Record nothing any more, as behind a case."""
        self._recorder.close()

    def stored(self) -> JsonObject | None:
        """The trace as a run stores it, `None` when nothing was recorded; it is closed with this."""
        self.close()
        return trace_of(self._parts)


def rollout_runtime(
    *,
    case: Case | None = None,
    documents: Documents | None = None,
    groups: Iterable[str] | None = None,
    model: str | None = None,
    candidate: CandidateT | None = None,
    attempt: int = 1,
    timeout: float | None = None,
    trace: Trace | None = None,
) -> RolloutRuntime[CandidateT]:
    """A `RolloutRuntime` as a run would make it, for calling `run_case` or parts of the application oneself.

    `model`, `candidate` and `attempt` are its own. `case` gives the id and the files, which are captured under the
    rules of a run. `documents` are laid out read-only below `targets_dir`, in one folder for each of `groups` (those of
    the documents); with neither, `targets_dir` is `None`. `timeout`, in seconds from now, gives `deadline`; nothing
    enforces it here. The trace records, unless `trace` is given. The folders go when the process ends.
    `IntegrationFault` for documents or files that a run would refuse, `ValueError` for the name of a group that none
    can have.
    """
    files = None if case is None else captured_files(case)
    return RolloutRuntime(
        case_files_dir=files or new_folder("no-files"),
        trace=trace or KeptTrace(),
        model=model,
        targets_dir=_laid_out(documents, groups),
        candidate=candidate,
        case_id=None if case is None else case.id,
        attempt=attempt,
        deadline=None if timeout is None else time.monotonic() + timeout,
    )


def recorded_trace(runtime: RolloutRuntime[CandidateT]) -> JsonObject | None:
    """What `run_case` recorded with the trace of a `runtime` of `rollout_runtime()`, as a run stores it; `None` for
    nothing.

    Look once the case is over: nothing is recorded after this. `TypeError` when the runtime has another trace.
    """
    if not isinstance(runtime.trace, KeptTrace):
        raise TypeError(f"the runtime has a trace of its own, a {type(runtime.trace).__name__}")
    return runtime.trace.stored()


def _laid_out(documents: Documents | None, groups: Iterable[str] | None) -> Path | None:
    if isinstance(documents, Mapping):
        files = {(group, name): text for group, named in documents.items() for name, text in named.items()}
        found = list(documents)
    else:
        files = {(one.group, one.name): one.content for one in documents or ()}
        found = list({group: None for group, _ in files})
    declared = found if groups is None else list(groups)
    if not declared and not files:
        return None
    if declared:
        declared = [*DocumentTargets(tuple(declared)).groups]
    checked = check_candidate_files(declared, files)
    if not is_successful(checked):
        raise IntegrationFault(checked.failure())
    root = new_folder("targets")
    write_tree(root, declared, files)
    return root
