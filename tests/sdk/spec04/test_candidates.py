"""Candidates as files, how one is refused, and what a finalizer is given."""

import copy
import pickle
from pathlib import Path

import pytest

from beaker.sdk.spec04 import (
    CandidateDiff,
    CandidateRejected,
    CandidateWorkspace,
    OptimizationCandidateRecord,
    OptimizationEvalReportRecord,
    OptimizationFinalizerContext,
    OptimizationFinalizerResult,
    OptimizationResultFinalizer,
    OptimizationTargets,
    ResourceChange,
    ValidationIssue,
)


def test_rejection__issues__tell_what_and_where() -> None:
    """Texts and issues, one or several; the message has all of them, and the exception travels."""
    issue = ValidationIssue("is empty", "kb", "a.md")
    rejected = CandidateRejected(["too long", issue])
    assert rejected.issues == (ValidationIssue("too long"), issue)
    assert str(rejected) == "too long; kb/a.md: is empty"
    assert CandidateRejected("no").issues == (ValidationIssue("no"),)
    assert str(CandidateRejected(issue)) == "kb/a.md: is empty"
    assert str(ValidationIssue("x", path="a.md")) == "a.md: x"
    assert (str(CandidateRejected()), CandidateRejected().issues) == ("the candidate was rejected", ())
    for travelled in (copy.copy(rejected), pickle.loads(pickle.dumps(rejected))):
        assert (travelled.issues, str(travelled)) == (rejected.issues, str(rejected))


@pytest.mark.parametrize(
    "before, after, op", [(None, "b", "create"), ("a", "b", "update"), ("a", None, "delete"), ("", "", "update")]
)
def test_resource_change__op__is_told_by_what_there_was(before: str | None, after: str | None, op: str) -> None:
    """An empty text is a text."""
    change = ResourceChange("kb", "a.md", before, after)
    assert change.op == op
    assert CandidateDiff([change]).changes == (change,)


def test_workspace__folders__are_found_by_name() -> None:
    """Read-only, with an empty diff by default."""
    workspace = CandidateWorkspace("c", {"kb": Path("/kb")}, Path("/scratch"))
    assert (workspace.resource_root("kb"), workspace.diff) == (Path("/kb"), CandidateDiff())
    with pytest.raises(KeyError):
        workspace.resource_root("more")
    with pytest.raises(TypeError, match="read-only"):
        workspace.resources["kb"] = Path("/x")  # type: ignore[index]  # a Mapping for readers


def test_finalizer__records__have_their_defaults() -> None:
    """A plain function is a finalizer; containers are not shared."""

    def finalize(context: OptimizationFinalizerContext) -> OptimizationFinalizerResult:
        return OptimizationFinalizerResult(metadata={"winner": context.winner})

    assert isinstance(finalize, OptimizationResultFinalizer)
    context = OptimizationFinalizerContext(winner=OptimizationCandidateRecord("c", OptimizationTargets({"a": "A"})))
    context.eval_reports.append(OptimizationEvalReportRecord("test", 0.5))
    assert finalize(context).metadata == {"winner": context.winner}
    assert OptimizationFinalizerContext().eval_reports == []
