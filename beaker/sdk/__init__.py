"""What a customer writes against: the Integration, its hooks and its values.

Each name is imported when it is first asked for, so a module that only builds cases loads only cases.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # as in `beaker`
if TYPE_CHECKING:
    from typing import Any

    from beaker.core.cases import Case, CaseFile, CaseResult, CaseScore, Check, FieldDiff, OutputKind
    from beaker.core.dataset_schema import DatasetSchema
    from beaker.core.documents import (
        CreateDocumentChange,
        DeleteDocumentChange,
        DocumentChange,
        DocumentChangeSet,
        TargetDocument,
        UpdateDocumentChange,
    )
    from beaker.core.inference import InferenceTarget
    from beaker.core.scoring import objective_score
    from beaker.core.strict_json import JsonValue
    from beaker.core.targets import DocumentTargets, OptimizationTarget, RepositoryTargets, documents, repository
    from beaker.sdk.earlier import ChangeSet as ChangeSet
    from beaker.sdk.earlier import DocumentRunSetup as DocumentRunSetup
    from beaker.sdk.earlier import RepositoryRunSetup as RepositoryRunSetup
    from beaker.sdk.field_paths import extract_field_from_object
    from beaker.sdk.hooks import OpenCandidate, RetryableCaseError, RunCase, ScoreCase
    from beaker.sdk.inference import inference_target, scoring_inference_target
    from beaker.sdk.integration import Integration
    from beaker.sdk.loading import load_integration
    from beaker.sdk.runtimes import PinnedDatasetInfo, RolloutRuntime, SetupRuntime
    from beaker.sdk.setups import DocumentRunSetupResult, RepositoryRunSetupResult, RunSetup, RunSetupResults
    from beaker.sdk.validation import validate_integration

_HOMES = {
    "beaker.core.cases": "Case CaseFile CaseResult CaseScore Check FieldDiff OutputKind",
    "beaker.core.dataset_schema": "DatasetSchema",
    "beaker.core.documents": (
        "CreateDocumentChange DeleteDocumentChange DocumentChange DocumentChangeSet TargetDocument UpdateDocumentChange"
    ),
    "beaker.core.inference": "InferenceTarget",
    "beaker.core.scoring": "objective_score",
    "beaker.core.strict_json": "JsonValue",
    "beaker.core.targets": "DocumentTargets OptimizationTarget RepositoryTargets documents repository",
    "beaker.sdk.field_paths": "extract_field_from_object",
    "beaker.sdk.hooks": "OpenCandidate RetryableCaseError RunCase ScoreCase",
    "beaker.sdk.inference": "inference_target scoring_inference_target",
    "beaker.sdk.integration": "Integration",
    "beaker.sdk.loading": "load_integration",
    "beaker.sdk.runtimes": "PinnedDatasetInfo RolloutRuntime SetupRuntime",
    "beaker.sdk.setups": "DocumentRunSetupResult RepositoryRunSetupResult RunSetup RunSetupResults",
    "beaker.sdk.validation": "validate_integration",
}
EARLIER_NAMES = frozenset(("ChangeSet", "DocumentRunSetup", "RepositoryRunSetup"))
"""What earlier generations had besides. Asking for one warns, each time anew, so none of them is kept here.

Those of the Spec generation are in `spec_names`, which is loaded when there is no other such name.
"""

TWO_MEANINGS = frozenset(
    ("Case", "CaseResult", "CaseScore", "FieldDiff", "RunCase", "inference_target", "objective_score")
)
"""Names that are another thing in the Spec generation. Which is meant is told each time anew, by `generations`."""

_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Case",
    "CaseFile",
    "CaseResult",
    "CaseScore",
    "Check",
    "CreateDocumentChange",
    "DatasetSchema",
    "DeleteDocumentChange",
    "DocumentChange",
    "DocumentChangeSet",
    "DocumentRunSetupResult",
    "DocumentTargets",
    "FieldDiff",
    "InferenceTarget",
    "Integration",
    "JsonValue",
    "OpenCandidate",
    "OptimizationTarget",
    "OutputKind",
    "PinnedDatasetInfo",
    "RepositoryRunSetupResult",
    "RepositoryTargets",
    "RetryableCaseError",
    "RolloutRuntime",
    "RunCase",
    "RunSetup",
    "RunSetupResults",
    "ScoreCase",
    "SetupRuntime",
    "TargetDocument",
    "UpdateDocumentChange",
    "documents",
    "extract_field_from_object",
    "inference_target",
    "load_integration",
    "objective_score",
    "repository",
    "scoring_inference_target",
    "validate_integration",
]


def meant(name: str, frame: Any) -> Any:
    """What a name of the Spec generation, or one with two meanings, is to the code that `frame` executes."""
    from beaker.sdk import generations

    return generations.meant(name, _HOME.get(name), frame)


if not TYPE_CHECKING:  # type checkers know the names from above, and so see a name that does not exist

    def __getattr__(name: str) -> Any:
        if name in EARLIER_NAMES:
            return import_module("beaker.sdk.earlier").earlier_name(name)
        home = _HOME.get(name)
        if name in TWO_MEANINGS or (home is None and name in import_module("beaker.sdk.spec_names").SDK_SPEC_ONLY):
            return meant(name, sys._getframe(1))
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(home), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
