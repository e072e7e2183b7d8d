from contextlib import asynccontextmanager

from words.kinds import kind_of

from beaker import (
    Case,
    CaseResult,
    CaseScore,
    DocumentRunSetupResult,
    Integration,
    RepositoryRunSetupResult,
    RunSetup,
    TargetDocument,
    documents,
    repository,
)


class Setup(RunSetup[dict]):
    row_model = dict

    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        seed = TargetDocument(source_id="1", group="book", name="more.txt", content="")
        yield {
            "repository": RepositoryRunSetupResult(),
            "documents": DocumentRunSetupResult(target_documents=(seed,)),
        }

    async def load_cases(self, row, *, runtime):
        yield Case(row["id"], {"word": row["word"]}, row["kind"])


async def run_case(*, case_input, runtime):
    word = case_input["word"]
    more = (runtime.targets_dir / "book" / "more.txt").read_text().split()
    return CaseResult("vowel" if word[0] in more else kind_of(word))


async def score_case(*, case, result, case_files_dir):
    return CaseScore(float(result.output == case.expected), {})


integration = Integration(
    targets=(repository(("words",)), documents(groups=("book",))),
    run_setup=Setup,
    run_case=run_case,
    score_case=score_case,
)
