"""A Spec as an Integration: what a factory of the Spec generation builds runs as everything else does.

| of the Spec | in the Integration |
|---|---|
| `repository="all"`, or paths | `repository()` of these; `targets` of `run_case` is `None` |
| `repository=None`, or no decorator | `documents(groups=...)`: one group for each resource, and `prompts` |
| `data_loader` | `load_cases`, with rows of `dict[str, Any]` |
| `run_case`, `scorer` | `run_case`, `score_case` |
| `candidate_environment` | `open_candidate` |
| `llm_scorer_model` | the judge that the scorer process is told of |
| `evidence_provider`, `result_finalizer` | have no successor; a warning says so |
"""

import inspect
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from beaker.core import cases as today
from beaker.core.documents import TargetDocument
from beaker.core.inference import RUN_ID_VARIABLE
from beaker.core.targets import OptimizationTarget, documents, repository
from beaker.core.values import value
from beaker.sdk.earlier_warnings import warn_at_function
from beaker.sdk.generations import spec_entry
from beaker.sdk.integration import Integration
from beaker.sdk.row_place import CURRENT_ROW
from beaker.sdk.runtimes import RolloutRuntime, SetupRuntime
from beaker.sdk.setups import DocumentRunSetupResult, RunSetup, RunSetupResults
from beaker.sdk.spec04.adapted_candidates import OpenedCandidate, SpecOpener, group_names, seed_documents
from beaker.sdk.spec04.adapted_cases import (
    cases_of_row,
    earlier_case,
    earlier_result,
    row_context,
    scored_case,
    todays_result,
    todays_score,
)
from beaker.sdk.spec04.contexts import USER_ID, OptimizationContext, RolloutContext, SpecContextRequiredError
from beaker.sdk.spec04.hooks import CaseDataLoader
from beaker.sdk.spec04.registration import SpecRegistration, get_registration
from beaker.sdk.spec04.specs import Spec, validate_spec
from beaker.sdk.spec04.targets import OptimizationTargets

LOCAL_RUN = "local"
"""The id of the run in the context of a factory that insists on one where there is none."""

_SURFACE = "optimization_surface"


def as_integration(factory: Callable[[OptimizationContext], Spec]) -> Integration:
    """The Integration that runs the Spec of `factory`.

    The factory is called with the context that it has outside of a run, and once more with the context of a run when it
    raises `SpecContextRequiredError`. Raises as `validate_spec`, `TypeError` for a Spec without anything to optimize,
    `ValueError` for a declared resource that the seeds lack, and what the factory raises, unchanged.
    """
    registration = get_registration(factory)
    spec = _built(factory)
    for message in _left_out(spec, registration):
        warn_at_function(message, factory)
    seeds = None if registration is not None and registration.repository is not None else spec.seed_targets
    seeded = () if seeds is None else seed_documents(seeds, _surface(registration, seeds))
    needs_opening = seeds is not None or spec.candidate_environment is not None
    opener = SpecOpener(seeds, spec.candidate_environment)
    return Integration(
        targets=_targets(registration, seeds),
        run_setup=_setup(spec.data_loader, seeded),
        run_case=SpecRunCase(spec, opener, _origin(factory, spec)),
        score_case=SpecScoreCase(spec),
        open_candidate=opener if needs_opening else None,
    )


@value
class Origin:
    """What an Integration was made of: the judge that the Spec names for its scorer, `provider:model`, and the parts
    that its author wrote, by what they are called.
    """

    judge: str | None
    parts: Mapping[str, Any]


def _origin(factory: Callable[[OptimizationContext], Spec], spec: Spec) -> Origin:
    loader, scorer = type(spec.data_loader), type(spec.scorer)
    parts = {
        f"the factory {getattr(factory, '__name__', factory)}": factory,
        "run_case": spec.run_case,
        f"the loader {loader.__name__}": loader,
        f"the scorer {scorer.__name__}": scorer,
    }
    return Origin(spec.llm_scorer_model, parts)


def _built(factory: Callable[[OptimizationContext], Spec]) -> Spec:
    with spec_entry():
        try:
            spec = factory(OptimizationContext(run_id=os.environ.get(RUN_ID_VARIABLE)))
        except SpecContextRequiredError:
            run_id = os.environ.get(RUN_ID_VARIABLE, LOCAL_RUN)
            spec = factory(OptimizationContext(run_id=run_id, workspace_dir=Path.cwd()))
    return validate_spec(spec)


def _targets(registration: SpecRegistration | None, seeds: OptimizationTargets | None) -> OptimizationTarget:
    if registration is not None and registration.repository is not None:
        return repository(registration.repository)
    if seeds is None:
        raise TypeError(
            "the Spec has nothing to optimize: give it seed_targets, "
            "or decorate its factory with @spec(repository='all') to optimize the repository"
        )
    return documents(groups=group_names(seeds))


def _surface(registration: SpecRegistration | None, seeds: OptimizationTargets) -> tuple[str, ...] | None:
    """The resources that the decorator declares, `None` when it declares none."""
    declared = {} if registration is None else registration.metadata.get(_SURFACE, {})
    names = tuple(declared.get("resources", ()))
    if missing := sorted(set(names) - set(seeds.resources)):
        known = ", ".join(sorted(seeds.resources)) or "none"
        raise ValueError(f"resource_names has {missing[0]!r}, which seed_targets has not (resources there: {known})")
    return names or None


def _left_out(spec: Spec, registration: SpecRegistration | None) -> Iterator[str]:
    """Warnings about what has no effect."""
    for name in ("evidence_provider", "result_finalizer"):
        if getattr(spec, name) is not None:
            yield f"{name} of a Spec is deprecated since 0.5.0 and ignored: leave it out"
    if registration is not None and registration.repository is not None and spec.seed_targets is not None:
        change = "write @spec(repository=None) to optimize them, or leave them out"
        yield f"seed_targets of a Spec that optimizes the repository are deprecated and ignored: {change}"


def _setup(loader: CaseDataLoader[Any], seeds: tuple[TargetDocument, ...]) -> type[RunSetup[dict[str, Any]]]:
    told: set[str] = set()

    class SpecSetup(RunSetup[dict[str, Any]]):
        """Loads the cases of a Spec."""

        row_model = dict[str, Any]

        async def load_cases(self, row: dict[str, Any], *, runtime: SetupRuntime) -> AsyncIterator[today.Case]:
            for case, changed in cases_of_row(loader, row, row_context(CURRENT_ROW.get())):
                for name in changed:
                    if name not in told:
                        told.add(name)
                        _tell_changed(name, loader)
                yield case

    class SpecSetupWithSeeds(SpecSetup):
        """Loads the cases of a Spec, and hands over the prompts and resources that candidates start from."""

        @asynccontextmanager
        async def prepare_run(self, *, runtime: SetupRuntime) -> AsyncIterator[RunSetupResults]:
            yield {"documents": DocumentRunSetupResult(target_documents=seeds)}

    return SpecSetupWithSeeds if seeds else SpecSetup


def _tell_changed(name: str, loader: CaseDataLoader[Any]) -> None:
    message = f"{name} of a Case that is no JSON is deprecated: hooks are given it as JSON; make it JSON in iter_cases"
    warn_at_function(message, loader.iter_cases)


class SpecRunCase:
    """`run_case` of a Spec, called as an Integration's. `origin` is what the Integration was made of."""

    def __init__(self, spec: Spec, opener: SpecOpener, origin: Origin) -> None:
        self.origin = origin
        self._spec = spec
        self._opener = opener

    async def __call__(self, *, case_input: Any, runtime: RolloutRuntime[Any]) -> today.CaseResult:
        opened = runtime.candidate
        if not isinstance(opened, OpenedCandidate):
            opened = self._opener.read(runtime.targets_dir)
        result: Any = self._spec.run_case(
            case=earlier_case(case_input), targets=opened.targets, runtime=_rollout_context(runtime, opened)
        )
        return todays_result(await result if inspect.isawaitable(result) else result)


class SpecScoreCase:
    """`score_case` of a Spec's scorer, called as an Integration's."""

    def __init__(self, spec: Spec) -> None:
        self._scorer = spec.scorer

    async def __call__(self, *, case: today.Case, result: today.CaseResult, case_files_dir: Path) -> today.CaseScore:
        score: Any = self._scorer.score_case(case=scored_case(case), result=earlier_result(result))
        return todays_score(await score if inspect.isawaitable(score) else score)


def _rollout_context(runtime: RolloutRuntime[Any], opened: OpenedCandidate) -> RolloutContext:
    model = runtime.model
    return RolloutContext(
        model=model,
        user_id=USER_ID,
        run_id=os.environ.get(RUN_ID_VARIABLE),
        provider=None if model is None else model.partition(":")[0],
        canonical_model_id=model,
        candidate_id=opened.candidate_id,
        resources=_existing(opened.resources),
        candidate_runtime=opened.runtime,
        trace=runtime.trace,
    )


def _existing(resources: Mapping[str, Path]) -> Mapping[str, Path]:
    return {name: folder for name, folder in resources.items() if folder.is_dir()}
