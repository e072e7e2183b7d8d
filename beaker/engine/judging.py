"""Judging what a proposer made: whether it is a candidate, by the rules of documents and of repository edits alike."""

from collections.abc import Mapping, Sequence
from typing import Literal

import attrs
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.changesets import derive
from beaker.core.documents import Place, TargetDocument
from beaker.core.problems import Problem
from beaker.core.repository_tree import (
    NOT_A_FILE,
    OUTSIDE_TARGETS,
    Commit,
    RepositoryEdits,
    settle_edits,
    target_paths,
)
from beaker.core.targets import DocumentTargets, OptimizationTarget, target_groups
from beaker.core.text import one_line, visible
from beaker.core.values import value
from beaker.engine.candidates import CandidateTree, tree_from_files

SHOWN = 5
"""Paths that a message names at most."""


@value
class Misdeed:
    """Why what a proposer left is no child: one of the outcomes of a proposal, and a sentence."""

    outcome: Literal["special_file", "outside_targets", "invalid_tree"]
    message: str


@value(kw_only=True)
class Scope:
    """What candidates of a run may change: the declared `targets`, the documents it started from (`seeds`), and the
    pinned `commit`, whose paths count from its root while those of the targets count from `source_dir`.
    """

    targets: tuple[OptimizationTarget, ...]
    seeds: tuple[TargetDocument, ...] = ()
    commit: Commit = attrs.field(factory=dict)
    source_dir: str = "."

    @property
    def groups(self) -> tuple[str, ...]:
        """Every declared document group."""
        return target_groups(self.targets)

    @property
    def paths(self) -> tuple[str, ...]:
        """The declared paths of the repository from its root, `()` when it is no target."""
        return target_paths(self.targets, self.source_dir)


def child_tree(
    scope: Scope, documents: Mapping[Place, str], repository: RepositoryEdits
) -> Result[CandidateTree, Misdeed]:
    """The candidate of these documents, `{(group, name): content}` of all groups, and these edits of the commit; or
    the gravest thing that is wrong with it. Edits that change nothing are left out.
    """
    settled = settle_edits(repository, commit=scope.commit, paths=scope.paths)
    problems = () if is_successful(settled) else settled.failure()
    for code, outcome in _GRAVE:
        if found := [problem for problem in problems if problem.code == code]:
            return Failure(Misdeed(outcome, told(found)))
    for target in scope.targets:
        if isinstance(target, DocumentTargets):
            problems += _document_faults(scope, target, documents)
    if problems:
        return Failure(Misdeed("invalid_tree", told(problems)))
    return Success(CandidateTree(tree_from_files(scope.groups, documents).documents, settled.unwrap()))


_GRAVE: tuple[tuple[str, Literal["special_file", "outside_targets"]], ...] = (
    (NOT_A_FILE, "special_file"),
    (OUTSIDE_TARGETS, "outside_targets"),
)


def told(problems: Sequence[Problem]) -> str:
    """The first problems in one sentence."""
    more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
    return "; ".join(one_line(str(problem)) for problem in problems[:3]) + more


def listed(paths: Sequence[str]) -> str:
    """The first of some paths, and how many more there are."""
    shown = ", ".join(visible(path) for path in sorted(paths)[:SHOWN])
    return f"{shown} and {len(paths) - SHOWN} more" if len(paths) > SHOWN else shown


def _document_faults(scope: Scope, target: DocumentTargets, files: Mapping[Place, str]) -> tuple[Problem, ...]:
    derived = derive(
        "candidate",
        target.groups,
        tuple(seed for seed in scope.seeds if seed.group in target.groups),
        {key: content for key, content in files.items() if key[0] in target.groups},
    )
    return () if is_successful(derived) else tuple(derived.failure())
