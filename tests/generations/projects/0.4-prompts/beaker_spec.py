from beaker import (
    Case,
    CaseResult,
    CaseScore,
    DatasetRowContext,
    DatasetSchema,
    FieldDiff,
    OptimizationContext,
    OptimizationTargets,
    RolloutContext,
    Spec,
    objective_score,
    spec,
)

PROMPTS = {"vowels": "a", "How to say it": "in one word"}

SCHEMA = DatasetSchema(
    {
        "type": "object",
        "required": ["id", "word", "kind"],
        "properties": {"id": {"type": "string"}, "word": {"type": "string"}, "kind": {"type": "string"}},
    }
)


class Loader:
    dataset_schema = SCHEMA

    def parse_row(self, raw: dict, context: DatasetRowContext) -> dict:
        assert context.label().startswith(f"{context.split}.jsonl:"), context
        return raw

    def iter_cases(self, row: dict, context: DatasetRowContext):
        yield Case({"word": row["word"]}, row["id"], {"kind": row["kind"]}, "words", {"length": len(row["word"])})


async def run_case(*, case: Case, targets: OptimizationTargets, runtime: RolloutContext) -> CaseResult:
    assert (case.ground_truth, case.group_key, case.metadata["length"]) == ({}, "words", len(case.case_id))
    assert targets.prompts["How to say it"] == "in one word"
    assert runtime.user_id == "__prompt_optimizer__"
    with runtime.trace.stage("look"):
        kind = "vowel" if case.input["word"][0] in targets.prompts["vowels"] else "other"
    return CaseResult({"kind": kind}, {"looks": 1}, {"word": case.input["word"]}, output_kind="record")


class Scorer:
    async def score_case(self, *, case: Case, result: CaseResult) -> CaseScore:
        assert result.context == {"word": case.input["word"]}
        expected, predicted = case.ground_truth["kind"], result.output["kind"]
        scores = {"kind": float(expected == predicted)}
        diffs = [] if scores["kind"] else [FieldDiff("kind", predicted, expected)]
        return CaseScore(scores, objective_score(scores), field_diffs=diffs)


@spec(repository=None, dataset_schema=SCHEMA, metadata={"name": "words"})
def build_spec(context: OptimizationContext) -> Spec:
    return Spec(Loader(), run_case, Scorer(), OptimizationTargets(PROMPTS))
