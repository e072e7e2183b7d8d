from dataclasses import dataclass

from words.kinds import kind_of

from beaker import (
    Case,
    CaseResult,
    CaseScore,
    FieldDiff,
    Integration,
    RepositoryRunSetup,
    repository,
)


@dataclass
class Row:
    id: str
    word: str
    kind: str


class Setup(RepositoryRunSetup[Row]):
    row_model = Row

    async def load_cases(self, row, *, runtime):
        yield Case(row.id, {"word": row.word}, row.kind)


async def run_case(*, case_input, runtime):
    return CaseResult(kind_of(case_input["word"]))


async def score_case(*, case, result, case_files_dir):
    right = float(result.output == case.expected)
    diffs = () if right else (FieldDiff("kind", result.output, case.expected),)
    return CaseScore(right, {"kind": right}, diffs)


integration = Integration(targets=repository(("words",)), run_setup=Setup, run_case=run_case, score_case=score_case)
