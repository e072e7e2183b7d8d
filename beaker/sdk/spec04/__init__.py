"""The Spec generation (0.4): every name that an application written for it imports, whatever it is called elsewhere.

`beaker` and `beaker.sdk` hand these names on to modules of that generation. Here they are without any rule, for a
module that wants to say what it means.
"""

from beaker.core.cases import Check, OutputKind
from beaker.core.dataset_schema import STANDARD_JSONL_CASE_SCHEMA, DatasetSchema
from beaker.core.inference import InferenceTarget
from beaker.sdk.field_paths import extract_field_from_object
from beaker.sdk.inference import scoring_inference_target
from beaker.sdk.spec04.adapter import as_integration
from beaker.sdk.spec04.candidates import (
    CandidateDiff,
    CandidateEnvironment,
    CandidateRejected,
    CandidateResources,
    CandidateWorkspace,
    ResourceChange,
    ValidationIssue,
)
from beaker.sdk.spec04.cases import (
    Case,
    CaseFailure,
    CaseResult,
    CaseScore,
    ErrorOutput,
    FieldDiff,
    normalize_output_kind,
)
from beaker.sdk.spec04.contexts import (
    DatasetRowContext,
    OptimizationContext,
    RolloutContext,
    RolloutModelCapabilities,
    SpecContextRequiredError,
)
from beaker.sdk.spec04.datasets import (
    build_cases_by_split,
    load_cases_by_split,
    materialize_dataset,
    serialize_cases,
)
from beaker.sdk.spec04.evidence import ContextSearchEvidence
from beaker.sdk.spec04.finalizers import (
    OptimizationCandidateRecord,
    OptimizationEvalReportRecord,
    OptimizationFinalizerContext,
    OptimizationFinalizerResult,
    OptimizationResultFinalizer,
)
from beaker.sdk.spec04.hooks import (
    CaseDataLoader,
    CaseScorer,
    EvidenceProvider,
    FieldConfig,
    RunCase,
    ValueNormalizer,
)
from beaker.sdk.spec04.inference import configure_scoring_inference_model, inference_target, objective_score
from beaker.sdk.spec04.loading import load_factory, load_spec_from_target
from beaker.sdk.spec04.registration import SpecRegistration, get_registration, iter_registered_specs, spec
from beaker.sdk.spec04.results import (
    EvaluationReport,
    Evidence,
    Result,
    RolloutBatch,
    Trajectory,
    result_to_dict,
)
from beaker.sdk.spec04.specs import Spec, validate_spec
from beaker.sdk.spec04.targets import (
    DirectoryResource,
    FileRecord,
    OptimizationTargets,
    optimization_targets_from_prompts,
)

__all__ = [
    "STANDARD_JSONL_CASE_SCHEMA",
    "CandidateDiff",
    "CandidateEnvironment",
    "CandidateRejected",
    "CandidateResources",
    "CandidateWorkspace",
    "Case",
    "CaseDataLoader",
    "CaseFailure",
    "CaseResult",
    "CaseScore",
    "CaseScorer",
    "Check",
    "ContextSearchEvidence",
    "DatasetRowContext",
    "DatasetSchema",
    "DirectoryResource",
    "ErrorOutput",
    "EvaluationReport",
    "Evidence",
    "EvidenceProvider",
    "FieldConfig",
    "FieldDiff",
    "FileRecord",
    "InferenceTarget",
    "OptimizationCandidateRecord",
    "OptimizationContext",
    "OptimizationEvalReportRecord",
    "OptimizationFinalizerContext",
    "OptimizationFinalizerResult",
    "OptimizationResultFinalizer",
    "OptimizationTargets",
    "OutputKind",
    "ResourceChange",
    "Result",
    "RolloutBatch",
    "RolloutContext",
    "RolloutModelCapabilities",
    "RunCase",
    "Spec",
    "SpecContextRequiredError",
    "SpecRegistration",
    "Trajectory",
    "ValidationIssue",
    "ValueNormalizer",
    "as_integration",
    "build_cases_by_split",
    "configure_scoring_inference_model",
    "extract_field_from_object",
    "get_registration",
    "inference_target",
    "iter_registered_specs",
    "load_cases_by_split",
    "load_factory",
    "load_spec_from_target",
    "materialize_dataset",
    "normalize_output_kind",
    "objective_score",
    "optimization_targets_from_prompts",
    "result_to_dict",
    "scoring_inference_target",
    "serialize_cases",
    "spec",
    "validate_spec",
]
