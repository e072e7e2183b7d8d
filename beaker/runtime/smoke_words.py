"""What smoke says of a stage that passed, and in which stage a hook failed."""

from collections.abc import Iterable

from beaker.core.datasets import SPLITS
from beaker.core.problems import Problems
from beaker.core.targets import DocumentTargets, OptimizationTarget
from beaker.core.wording import counted
from beaker.runtime.failures import StageProblem
from beaker.runtime.smoke_values import Stage, TriedCase
from beaker.runtime.workers import Prepared


def setup_detail(prepared: Prepared) -> str:
    """How many cases of each split and how many seed documents there are."""
    counts = [counted(prepared.case_counts[split], f"{split} case") for split in SPLITS]
    if prepared.documents:
        counts.append(counted(len(prepared.documents), "seed document"))
    return ", ".join(counts)


def run_detail(samples: Iterable[TriedCase]) -> str:
    """What came of the samples, where they were run."""
    scores = [tried.score for tried in samples if tried.score is not None]
    if not scores:
        return "validated, not executed"
    what = "one case" if len(scores) == 1 else f"{len(scores)} cases"
    return f"{what} executed and scored: objective {', '.join(f'{score.objective:g}' for score in scores)}"


def stage_of(problems: Problems) -> Stage | None:
    """The stage in which a hook failed, where another one was under way."""
    stages: dict[str, Stage] = {"run_case": "runner and scorer", "score_case": "runner and scorer"}
    for problem in problems[:1]:
        if isinstance(problem, StageProblem):
            return stages.get(problem.stage)
    return None


def described_targets(targets: tuple[OptimizationTarget, ...]) -> str:
    """What candidates may change."""
    described = []
    for target in targets:
        if isinstance(target, DocumentTargets):
            described.append(f"documents {', '.join(target.groups)}")
        else:
            described.append("the repository" if target.paths is None else f"paths {', '.join(target.paths)}")
    return "; ".join(described)
