"""Beaker improves an AI system against your own cases and proves the improvement on held-out ones.

`from beaker import Case` and the other names of `__all__` are what an Integration is written with. Each is imported
when it is first asked for.

PYTEST_DONT_REWRITE: by this word pytest, for which there is a plugin here, accepts that Beaker was imported before it.
"""

from __future__ import annotations

from beaker import sdk

TYPE_CHECKING = False  # importing typing for it would take longer than all the rest of this
if TYPE_CHECKING:
    from typing import Any

    from beaker.client import BeakerClient, BeakerClientError
    from beaker.sdk import (
        Case,
        CaseFile,
        CaseResult,
        CaseScore,
        Check,
        CreateDocumentChange,
        DatasetSchema,
        DeleteDocumentChange,
        DocumentChange,
        DocumentChangeSet,
        DocumentRunSetupResult,
        DocumentTargets,
        FieldDiff,
        InferenceTarget,
        Integration,
        JsonValue,
        OpenCandidate,
        OptimizationTarget,
        OutputKind,
        PinnedDatasetInfo,
        RepositoryRunSetupResult,
        RepositoryTargets,
        RetryableCaseError,
        RolloutRuntime,
        RunCase,
        RunSetup,
        RunSetupResults,
        ScoreCase,
        SetupRuntime,
        TargetDocument,
        UpdateDocumentChange,
        documents,
        extract_field_from_object,
        inference_target,
        load_integration,
        objective_score,
        repository,
        scoring_inference_target,
        validate_integration,
    )
    from beaker.sdk.earlier import ChangeSet as ChangeSet
    from beaker.sdk.earlier import DocumentRunSetup as DocumentRunSetup
    from beaker.sdk.earlier import RepositoryRunSetup as RepositoryRunSetup

__version__ = "0.6.5"

__all__ = [
    "BeakerClient",
    "BeakerClientError",
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
    "__version__",
    "documents",
    "extract_field_from_object",
    "inference_target",
    "load_integration",
    "objective_score",
    "repository",
    "scoring_inference_target",
    "validate_integration",
]


if not TYPE_CHECKING:  # type checkers know the names from above, and so see a name that does not exist

    def __getattr__(name: str) -> Any:
        if name in sdk.EARLIER_NAMES:
            return getattr(sdk, name)
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home: Any = sdk
        if name.startswith("BeakerClient"):
            from beaker import client as home
        found = globals()[name] = getattr(home, name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
