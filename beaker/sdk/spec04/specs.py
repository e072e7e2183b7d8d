"""The Spec: what a factory of the Spec generation builds, and what makes one valid."""

from typing import Any

from beaker.core.dataset_schema import DatasetSchema
from beaker.core.text import canonical_model
from beaker.core.values import value
from beaker.sdk.spec04.hooks import CaseDataLoader, CaseScorer, EvidenceProvider, RunCase
from beaker.sdk.spec04.targets import OptimizationTargets


@value
class Spec:
    """Connects an application with its cases and their scores. Nothing is checked here; `validate_spec` does.

    `seed_targets` are what candidates start from, `None` when the repository is what changes. `llm_scorer_model` is the
    judge, `provider:model`. `candidate_environment` is a `CandidateEnvironment`.
    """

    data_loader: CaseDataLoader[Any]
    run_case: RunCase
    scorer: CaseScorer
    seed_targets: OptimizationTargets | None = None
    evidence_provider: EvidenceProvider | None = None
    result_finalizer: Any = None
    llm_scorer_model: str | None = None
    candidate_environment: Any = None


def validate_spec(spec: Any) -> Spec:
    """`spec` itself, checked in the order of its fields, seeds first.

    `TypeError` for what is no `Spec`, lacks a callable, or has a schema or seeds of another type; `ValueError` for
    seeds without content, an empty prompt, or a judge that is not `provider:model`. Hooks may be plain or asynchronous.
    """
    if not isinstance(spec, Spec):
        raise TypeError(f"a factory must return a Spec, not {type(spec).__name__}")
    _check_seeds(spec.seed_targets)
    for name in ("parse_row", "iter_cases"):
        _need_callable(spec.data_loader, "data_loader", name)
    schema = getattr(spec.data_loader, "dataset_schema", None)
    if not isinstance(schema, DatasetSchema):
        raise TypeError(f"Spec.data_loader.dataset_schema must be a DatasetSchema, not {type(schema).__name__}")
    if not callable(spec.run_case):
        raise TypeError(f"Spec.run_case must be callable, not {type(spec.run_case).__name__}")
    _need_callable(spec.scorer, "scorer", "score_case")
    if spec.llm_scorer_model is not None:
        canonical_model(spec.llm_scorer_model, "Spec.llm_scorer_model")
    if spec.evidence_provider is not None:
        _need_callable(spec.evidence_provider, "evidence_provider", "evidence_for")
    if spec.result_finalizer is not None and not callable(spec.result_finalizer):
        raise TypeError(f"Spec.result_finalizer must be callable, not {type(spec.result_finalizer).__name__}")
    if spec.candidate_environment is not None:
        _need_callable(spec.candidate_environment, "candidate_environment", "prepare")
        if hasattr(spec.candidate_environment, "open"):
            _need_callable(spec.candidate_environment, "candidate_environment", "open")
    return spec


def _check_seeds(seeds: Any) -> None:
    if seeds is None:
        return
    if not isinstance(seeds, OptimizationTargets):
        raise TypeError(f"Spec.seed_targets must be OptimizationTargets or None, not {type(seeds).__name__}")
    if not seeds.prompts and not seeds.resources:
        raise ValueError("Spec.seed_targets must hold a prompt or a resource")
    for name, text in seeds.prompts.items():
        if not text.strip():
            raise ValueError(f"Spec.seed_targets: the prompt {name!r} is empty")


def _need_callable(owner: Any, label: str, name: str) -> None:
    if not callable(getattr(owner, name, None)):
        raise TypeError(f"Spec.{label} must have a callable {name}; {type(owner).__name__} has none")
