"""What a place answers about runs, candidates, reports and datasets, as values.

Read is what is known of these answers; whatever else a place says stays in `body`, the whole answer. What a place
leaves out, or says in another type, is `None` or empty: a place may know more, or less, than this version.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

import attrs
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.runs import RunOutcome, normal_status, outcome
from beaker.core.values import read_only, value

T = TypeVar("T")


@value(kw_only=True)
class Run:
    """A run. `status` is in upper case, `UNKNOWN` when it is missing; times have a time zone.

    `winner_id` and `baseline_id` are candidates, once there are any; `difference` is the winner's mean objective on
    TEST minus the baseline's, and lies from `low` to `high` with the confidence of the run's settings.
    """

    id: str
    status: str
    created_at: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    finish_reason: str | None = None
    error_message: str | None = None
    baseline_id: str | None = None
    winner_id: str | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    web_url: str | None = None
    body: Mapping[str, Any] = attrs.field(factory=dict, repr=False)

    @property
    def outcome(self) -> RunOutcome:
        """What this says to somebody who waits for the run."""
        return outcome(self.body)

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.outcome.ended

    @property
    def needs_review(self) -> bool:
        """Whether somebody has to look at a paused baseline before the run goes on."""
        return self.outcome.needs_review

    @property
    def completed(self) -> bool:
        """Whether the run did all that it was to do."""
        return self.status == "COMPLETED"


@value(kw_only=True)
class Candidate:
    """A candidate of a run: what it was made from, and its mean objectives on TRAIN and TEST."""

    id: str
    status: str | None = None
    parent_id: str | None = None
    origin: str | None = None
    reason: str | None = None
    created_at: datetime | None = None
    train: float | None = None
    test: float | None = None
    body: Mapping[str, Any] = attrs.field(factory=dict, repr=False)


@value(kw_only=True)
class EvalReport:
    """What one candidate gave on one split. `objective` counts a failed case as 0, `objective_scored` leaves it out;
    `field_scores` are the means of the fields. What each case gave is in `body["cases"]`."""

    id: str
    candidate_id: str | None = None
    split: str | None = None
    objective: float | None = None
    objective_scored: float | None = None
    cases_total: int | None = None
    scored: int | None = None
    failed: int | None = None
    field_scores: Mapping[str, float] = attrs.field(factory=dict)
    body: Mapping[str, Any] = attrs.field(factory=dict, repr=False)


@value(kw_only=True)
class Dataset:
    """A revision of a dataset. `sample_counts` are rows by split, and in `total`; `files` are sizes in bytes by path,
    which lists of datasets leave out."""

    artifact_id: str
    name: str | None = None
    revision: str | None = None
    status: str | None = None
    is_production: bool = False
    sample_counts: Mapping[str, int] = attrs.field(factory=dict)
    created_at: datetime | None = None
    completed_at: datetime | None = None
    metadata: Mapping[str, Any] = attrs.field(factory=dict)
    files: Mapping[str, int] = attrs.field(factory=dict)
    body: Mapping[str, Any] = attrs.field(factory=dict, repr=False)

    @property
    def reference(self) -> str | None:
        """What a launch names to use exactly this revision."""
        return f"{self.name}@{self.revision}" if self.name and self.revision else None


def read_run(body: object) -> Result[Run, Problem]:
    """A run from its answer; BK825 for what has no id."""
    return _identified(body, "id", "a run", _run)


def read_candidate(body: object) -> Result[Candidate, Problem]:
    """A candidate from its answer; BK825 for what has no id."""
    return _identified(body, "id", "a candidate", _candidate)


def read_eval_report(body: object) -> Result[EvalReport, Problem]:
    """A report from its answer; BK825 for what has no id."""
    return _identified(body, "id", "an eval report", _eval_report)


def read_dataset(body: object) -> Result[Dataset, Problem]:
    """A dataset from its record; BK825 for what has no artifact id."""
    return _identified(body, "artifact_id", "a dataset", _dataset)


def read_all(items: object, read: Callable[[object], Result[T, Problem]]) -> Result[tuple[T, ...], Problem]:
    """Every item of a list, read; the first problem when one cannot be, BK825 for what is no list."""
    if not isinstance(items, list | tuple):
        return Failure(Problem("BK825", "the place answered with something other than a list"))
    done: list[T] = []
    for item in items:
        one = read(item)
        if not is_successful(one):
            return Failure(one.failure())
        done.append(one.unwrap())
    return Success(tuple(done))


def _identified(body: object, key: str, what: str, made: Callable[[str, Mapping[str, Any]], T]) -> Result[T, Problem]:
    if not isinstance(body, Mapping) or not _text(body, key):
        return Failure(Problem("BK825", f"the place described {what} without its {key}"))
    return Success(made(body[key], body))


def _run(run_id: str, body: Mapping[str, Any]) -> Run:
    result = _mapping(body, "result")
    test = _mapping(result, "test")
    return Run(
        id=run_id,
        status=normal_status(body.get("status")),
        created_at=_time(body, "created_at"),
        started_at=_time(body, "started_at"),
        completed_at=_time(body, "completed_at"),
        finish_reason=_text(body, "finish_reason"),
        error_message=_text(body, "error_message"),
        baseline_id=_text(result, "baseline_id"),
        winner_id=_text(result, "winner_id"),
        difference=_number(test, "difference"),
        low=_number(test, "low"),
        high=_number(test, "high"),
        web_url=next(filter(None, (_text(body, key) for key in ("web_url", "app_url", "url"))), None),
        body=read_only(body),
    )


def _candidate(candidate_id: str, body: Mapping[str, Any]) -> Candidate:
    scores = _mapping(body, "scores")
    return Candidate(
        id=candidate_id,
        status=_text(body, "status"),
        parent_id=_text(body, "parent_id"),
        origin=_text(body, "origin"),
        reason=_text(body, "reason"),
        created_at=_time(body, "created_at"),
        train=_number(_mapping(scores, "train"), "objective"),
        test=_number(_mapping(scores, "test"), "objective"),
        body=read_only(body),
    )


def _eval_report(report_id: str, body: Mapping[str, Any]) -> EvalReport:
    fields = {name: _number(_mapping(field), "mean") for name, field in _mapping(body, "field_scores").items()}
    return EvalReport(
        id=report_id,
        candidate_id=_text(body, "candidate_id"),
        split=_text(body, "split"),
        objective=_number(body, "objective"),
        objective_scored=_number(body, "objective_scored"),
        cases_total=_count(body, "cases_total"),
        scored=_count(body, "scored"),
        failed=_count(body, "failed"),
        field_scores=read_only({name: mean for name, mean in fields.items() if mean is not None}),
        body=read_only(body),
    )


def _dataset(artifact_id: str, body: Mapping[str, Any]) -> Dataset:
    counts = _mapping(body, "sample_counts")
    listed = body.get("files")
    files = [_mapping(item) for item in listed] if isinstance(listed, list | tuple) else []
    sizes = {_text(item, "path"): _count(item, "size_bytes") for item in files}
    return Dataset(
        artifact_id=artifact_id,
        name=_text(body, "name"),
        revision=_text(body, "revision"),
        status=_text(body, "status"),
        is_production=body.get("is_production") is True,
        sample_counts=read_only({split: n for split in counts if (n := _count(counts, split)) is not None}),
        created_at=_time(body, "created_at"),
        completed_at=_time(body, "completed_at"),
        metadata=read_only(_mapping(body, "metadata")),
        files=read_only({path: size for path, size in sizes.items() if path and size is not None}),
        body=read_only(body),
    )


def _mapping(found: Any, key: str | None = None) -> Mapping[str, Any]:
    """An object, or the one below `key`; empty when there is none."""
    below = found if key is None else found.get(key)
    return below if isinstance(below, Mapping) else {}


def _text(body: Mapping[str, Any], key: str) -> str | None:
    found = body.get(key)
    return found if isinstance(found, str) and found.strip() else None


def _count(body: Mapping[str, Any], key: str) -> int | None:
    found = body.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _number(body: Mapping[str, Any], key: str) -> float | None:
    found = body.get(key)
    try:
        return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None
    except OverflowError:  # an integer beyond all floats
        return None


def _time(body: Mapping[str, Any], key: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(_text(body, key) or "")
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
