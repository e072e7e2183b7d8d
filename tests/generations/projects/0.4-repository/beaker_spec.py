from dataclasses import dataclass

from words.kinds import kind_of

import beaker
from beaker import Case, CaseResult, CaseScore, Check, ContextSearchEvidence, DatasetSchema


@dataclass(frozen=True)
class Inquiry:
    word: str
    hurry: bool = False


class Loader:
    dataset_schema = DatasetSchema({"type": "object"})

    def parse_row(self, raw, context):
        return raw

    def iter_cases(self, row, context):
        yield Case(input=Inquiry(row["word"]), case_id=row["id"], ground_truth={"kind": row["kind"]})


async def run_case(*, case, targets, runtime):
    assert targets is None
    return CaseResult({"kind": kind_of(case.input.word)})


class Scorer:
    async def score_case(self, *, case, result):
        right = result.output["kind"] == case.ground_truth["kind"]
        checks = (Check("kind", "pass" if right else "fail"),)
        return CaseScore(field_scores={"kind": int(right)}, objective=int(right), checks=checks)


@beaker.spec(repository=["words/"])
def build_spec(context):
    return beaker.Spec(Loader(), run_case, Scorer(), evidence_provider=ContextSearchEvidence())
