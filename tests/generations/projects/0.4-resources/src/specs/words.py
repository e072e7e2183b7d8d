from contextlib import asynccontextmanager
from pathlib import Path

import beaker
from beaker import STANDARD_JSONL_CASE_SCHEMA, CaseResult, DatasetSchema, DirectoryResource, OptimizationTargets, Spec
from beaker.sdk import CandidateRejected
from specs.cases import case_of, score_of

BOOK = Path(__file__).parents[1] / "book"


class Loader:
    dataset_schema = DatasetSchema(STANDARD_JSONL_CASE_SCHEMA)

    def parse_row(self, raw, context):
        return {**raw, "word": raw["word"].strip()}

    def iter_cases(self, row, context):
        return [case_of(row)]


class Environment:
    async def prepare(self, workspace):
        letters = (workspace.resource_root("book") / "vowels.txt").read_text().split()
        if not letters:
            raise CandidateRejected("book/vowels.txt names no letter")
        (workspace.scratch_dir / "index").write_text("".join(letters))

    @asynccontextmanager
    async def open(self, workspace):
        yield (workspace.scratch_dir / "index").read_text()


def run_case(*, case, targets, runtime):
    book = runtime.resource_root("book")
    assert (book / "tone.txt").read_text() == targets.resources["book"]["tone.txt"] == "sure\n"
    if not case.input:
        return CaseResult.failed("there is no word")
    return CaseResult("vowel" if case.input[0] in runtime.candidate_runtime else "other")


class Scorer:
    def score_case(self, *, case, result):
        return score_of(case, result)


class Words:
    @beaker.spec(repository=None, resource_names=["book"])
    def build(context):
        seeds = OptimizationTargets(resources={"book": DirectoryResource.from_directory(BOOK, include="*.txt")})
        return Spec(Loader(), run_case, Scorer(), seeds, candidate_environment=Environment())
