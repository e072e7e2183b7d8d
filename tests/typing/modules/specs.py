"""A module of the Spec generation, which says which of the names with two meanings it wants."""

from typing import Any

import beaker
from beaker import DatasetSchema, OptimizationContext, OptimizationTargets, RolloutContext, Spec, spec
from beaker.sdk.spec04 import Case, CaseResult, CaseScore, as_integration
from beaker.spec import get_registration


class Loader:
    dataset_schema = DatasetSchema({})

    def parse_row(self, raw: dict[str, Any], context: Any) -> dict[str, Any]:
        return raw

    def iter_cases(self, row: dict[str, Any], context: Any) -> list[Case]:
        return [Case(row, "c", {})]


class Scorer:
    async def score_case(self, *, case: Case, result: CaseResult) -> CaseScore:
        return CaseScore({"f": 1.0}, 1.0)


async def run_case(*, case: Case, targets: OptimizationTargets | None, runtime: RolloutContext) -> CaseResult:
    return CaseResult(case.input)


@spec(resource_names=["kb"], repository=None)
def build(context: OptimizationContext) -> Spec:
    return Spec(Loader(), run_case, Scorer(), OptimizationTargets({"a": "A"}))


@beaker.spec()
def other(context: OptimizationContext) -> Spec:
    return build(context)


registration = get_registration(build)
integration = as_integration(build)
Spec(Loader(), 3, Scorer())  # E arg-type | reportArgumentType
build(3)  # E arg-type | reportArgumentType
Case("text")  # E call-arg | reportCallIssue
