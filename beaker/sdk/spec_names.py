"""The names of the Spec generation and where their homes are. A table alone, since `import beaker` needs it."""

_HOMES = {
    "cases": "CaseFailure ErrorOutput normalize_output_kind",
    "contexts": (
        "DatasetRowContext OptimizationContext RolloutContext RolloutModelCapabilities SpecContextRequiredError"
    ),
    "datasets": "build_cases_by_split load_cases_by_split materialize_dataset serialize_cases",
    "evidence": "ContextSearchEvidence",
    "hooks": "CaseDataLoader CaseScorer EvidenceProvider FieldConfig ValueNormalizer",
    "inference": "configure_scoring_inference_model",
    "loading": "load_spec_from_target",
    "registration": "SpecRegistration",
    "results": "EvaluationReport Evidence Result RolloutBatch Trajectory result_to_dict",
    "specs": "Spec validate_spec",
    "targets": "DirectoryResource OptimizationTargets optimization_targets_from_prompts",
}
_SDK_HOMES = {
    "candidates": (
        "CandidateDiff CandidateEnvironment CandidateRejected CandidateResources CandidateWorkspace ResourceChange "
        "ValidationIssue"
    ),
    "finalizers": (
        "OptimizationCandidateRecord OptimizationEvalReportRecord OptimizationFinalizerContext "
        "OptimizationFinalizerResult OptimizationResultFinalizer"
    ),
}
_BOTH = {
    "cases": "Case CaseResult CaseScore FieldDiff",
    "hooks": "RunCase",
    "inference": "inference_target objective_score",
}


def _by_name(homes: dict[str, str]) -> dict[str, str]:
    return {name: f"beaker.sdk.spec04.{module}" for module, names in homes.items() for name in names.split()}


SPEC_ONLY = {
    **_by_name(_HOMES),
    "STANDARD_JSONL_CASE_SCHEMA": "beaker.core.dataset_schema",
    "spec": "beaker.sdk.spec04.registration",
}
"""Names that only the Spec generation has, and the module of each."""

SDK_SPEC_ONLY = {**SPEC_ONLY, **_by_name(_SDK_HOMES)}
"""Those that `beaker.sdk` has, which are more."""

BY_GENERATION = _by_name(_BOTH)
"""Names that mean another thing in the Spec generation than now, and the module of what they mean there. No package
that hands one out may keep it.
"""
