"""Beaker improves an AI system against your own cases and proves the improvement on held-out ones.

`from beaker import Case` and the other names of `__all__` are what an Integration is written with. Each is imported
when it is first asked for.

PYTEST_DONT_REWRITE: by this word pytest, for which there is a plugin here, accepts that Beaker was imported before it.
"""

from __future__ import annotations

import sys
from importlib import import_module

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
    from beaker.sdk.spec04 import STANDARD_JSONL_CASE_SCHEMA as STANDARD_JSONL_CASE_SCHEMA
    from beaker.sdk.spec04 import CaseDataLoader as CaseDataLoader
    from beaker.sdk.spec04 import CaseFailure as CaseFailure
    from beaker.sdk.spec04 import CaseScorer as CaseScorer
    from beaker.sdk.spec04 import ContextSearchEvidence as ContextSearchEvidence
    from beaker.sdk.spec04 import DatasetRowContext as DatasetRowContext
    from beaker.sdk.spec04 import DirectoryResource as DirectoryResource
    from beaker.sdk.spec04 import ErrorOutput as ErrorOutput
    from beaker.sdk.spec04 import EvaluationReport as EvaluationReport
    from beaker.sdk.spec04 import Evidence as Evidence
    from beaker.sdk.spec04 import EvidenceProvider as EvidenceProvider
    from beaker.sdk.spec04 import FieldConfig as FieldConfig
    from beaker.sdk.spec04 import OptimizationContext as OptimizationContext
    from beaker.sdk.spec04 import OptimizationTargets as OptimizationTargets
    from beaker.sdk.spec04 import Result as Result
    from beaker.sdk.spec04 import RolloutBatch as RolloutBatch
    from beaker.sdk.spec04 import RolloutContext as RolloutContext
    from beaker.sdk.spec04 import RolloutModelCapabilities as RolloutModelCapabilities
    from beaker.sdk.spec04 import Spec as Spec
    from beaker.sdk.spec04 import SpecContextRequiredError as SpecContextRequiredError
    from beaker.sdk.spec04 import SpecRegistration as SpecRegistration
    from beaker.sdk.spec04 import Trajectory as Trajectory
    from beaker.sdk.spec04 import ValueNormalizer as ValueNormalizer
    from beaker.sdk.spec04 import build_cases_by_split as build_cases_by_split
    from beaker.sdk.spec04 import configure_scoring_inference_model as configure_scoring_inference_model
    from beaker.sdk.spec04 import load_cases_by_split as load_cases_by_split
    from beaker.sdk.spec04 import load_spec_from_target as load_spec_from_target
    from beaker.sdk.spec04 import materialize_dataset as materialize_dataset
    from beaker.sdk.spec04 import normalize_output_kind as normalize_output_kind
    from beaker.sdk.spec04 import optimization_targets_from_prompts as optimization_targets_from_prompts
    from beaker.sdk.spec04 import result_to_dict as result_to_dict
    from beaker.sdk.spec04 import serialize_cases as serialize_cases
    from beaker.sdk.spec04 import spec as spec
    from beaker.sdk.spec04 import validate_spec as validate_spec

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
        if name in sdk.TWO_MEANINGS:
            return sdk.meant(name, sys._getframe(1))
        if name not in __all__:
            if name not in import_module("beaker.sdk.spec_names").SPEC_ONLY:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
            meant = sdk.meant(name, sys._getframe(1))
            return import_module("beaker.spec") if name == "spec" else meant
        home: Any = sdk
        if name.startswith("BeakerClient"):
            from beaker import client as home
        found = globals()[name] = getattr(home, name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
