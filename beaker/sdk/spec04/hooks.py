"""The hooks of the Spec generation, as typing protocols."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from beaker.core.dataset_schema import DatasetSchema
from beaker.sdk.spec04.cases import Case, CaseResult, CaseScore, FieldDiff
from beaker.sdk.spec04.contexts import DatasetRowContext, RolloutContext
from beaker.sdk.spec04.results import Evidence, Trajectory
from beaker.sdk.spec04.targets import OptimizationTargets

RowT = TypeVar("RowT")

ValueNormalizer: TypeAlias = Callable[[Any], Any]
"""Brings a value of a field into the form that is compared."""


class RunCase(Protocol):
    """Runs the application on one case. `targets` is `None` when the repository is what changes."""

    def __call__(
        self, *, case: Case, targets: OptimizationTargets | None, runtime: RolloutContext
    ) -> Awaitable[CaseResult]:
        """Run the application on `case`, with what the candidate and `runtime` give it."""


@runtime_checkable
class CaseDataLoader(Protocol[RowT]):
    """Reads rows and makes cases of them. `dataset_schema` says what a row is."""

    dataset_schema: DatasetSchema

    def parse_row(self, raw: dict[str, Any], context: DatasetRowContext) -> RowT:
        """The row that a line of the dataset holds."""

    def iter_cases(self, row: RowT, context: DatasetRowContext) -> Iterable[Case]:
        """The cases of one row, none or several."""


@runtime_checkable
class CaseScorer(Protocol):
    """Scores one result against its case."""

    def score_case(self, *, case: Case, result: CaseResult) -> Awaitable[CaseScore]:
        """Score `result`, which is that of `case`."""


@runtime_checkable
class EvidenceProvider(Protocol):
    """Finds out why a field came out as it did."""

    def evidence_for(self, *, trajectory: Trajectory, diff: FieldDiff) -> Sequence[Evidence]:
        """What speaks for what was expected, or explains what was predicted."""


@runtime_checkable
class FieldConfig(Protocol):
    """One field that is scored: its name, and where a result and the ground truth have it."""

    field_name: str
    result_path: str
    ground_truth_path: str
