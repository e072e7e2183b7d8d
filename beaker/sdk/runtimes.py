"""What Beaker hands to the hooks: the runtimes of a setup and of a rollout, and the dataset a run is pinned to."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import attrs

from beaker.core.fields import count, labelled, named
from beaker.core.strict_json import json_object
from beaker.core.text import text
from beaker.core.values import ReadOnlyDict, read_only, value
from beaker.sdk.earlier_warnings import warn_caller
from beaker.sdk.trace import Trace

# What `open_candidate` yields, as `run_case` sees it.
CandidateT = TypeVar("CandidateT")

_split_counts = named(count, "split")


def _row_counts(value: Any, label: str) -> ReadOnlyDict[str, int]:
    return read_only(_split_counts(value, label))


@value
class PinnedDatasetInfo:
    """The dataset of a run: its `name` and the `revision` that the run is pinned to.

    `split_row_counts` maps `train` and `test` to their numbers of rows; `metadata` is that of the dataset's manifest.
    """

    name: str = attrs.field(converter=labelled(text, "PinnedDatasetInfo.name"))
    revision: str = attrs.field(converter=labelled(text, "PinnedDatasetInfo.revision"))
    split_row_counts: Mapping[str, int] = attrs.field(
        converter=labelled(_row_counts, "PinnedDatasetInfo.split_row_counts")
    )
    metadata: Mapping[str, Any] = attrs.field(
        factory=dict, converter=labelled(json_object, "PinnedDatasetInfo.metadata")
    )


@value
class SetupRuntime:
    """What `prepare_run` and `load_cases` are given.

    `run_id` names the run; `config` is the launch setting `extra`, read-only and `{}` when there is none; `dataset` is
    the pinned dataset.
    """

    run_id: str = attrs.field(converter=labelled(text, "SetupRuntime.run_id"))
    config: Mapping[str, Any] = attrs.field(converter=labelled(json_object, "SetupRuntime.config"))
    dataset: PinnedDatasetInfo
    _case_files_provider: Callable[[str], Path] = attrs.field(repr=False, eq=False, alias="_case_files_provider")

    if TYPE_CHECKING:

        def __init__(
            self,
            run_id: str,
            config: Mapping[str, Any],
            dataset: PinnedDatasetInfo,
            _case_files_provider: Callable[[str], Path],
        ) -> None: ...

    def case_files_dir(self, case_id: str) -> Path:
        """The writable staging directory of one case, reserved for the row loader that asks.

        Repeated calls give the same directory. Raises `ValueError` when another row has the id and `RuntimeError`
        outside `load_cases`.
        """
        return self._case_files_provider(text(case_id, "case_id"))


@value(kw_only=True)
class RolloutRuntime(Generic[CandidateT]):
    """What `run_case` is given besides the input.

    `case_files_dir` holds the case's files, read-only, empty without any. `trace` is always usable. `model` is the
    `provider:model` of a run that compares models, else `None`: keep the application's own. `case_id` names the case
    for logs; it says nothing about what is expected. `targets_dir` has one directory per document group, `None` without
    document targets. `candidate` is what `open_candidate` yielded. `attempt` counts from 1; `deadline` is when this
    attempt's time limit ends, on the clock of `time.monotonic()`, and `None` without one.
    """

    case_files_dir: Path
    trace: Trace
    model: str | None = None
    targets_dir: Path | None = None
    candidate: CandidateT | None = None
    case_id: str | None = None
    attempt: int = 1
    deadline: float | None = None

    @property
    def candidate_runtime(self) -> CandidateT | None:
        """What `candidate` was called before 0.6.5. Warns."""
        warn_caller("runtime.candidate_runtime is deprecated since 0.6.5: write runtime.candidate instead")
        return self.candidate
