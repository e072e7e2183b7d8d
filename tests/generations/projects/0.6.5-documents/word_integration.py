from contextlib import asynccontextmanager

from beaker import Case, CaseResult, CaseScore, DocumentRunSetupResult, Integration, RunSetup, TargetDocument, documents


class Setup(RunSetup[dict]):
    row_model = dict

    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        seed = TargetDocument(source_id="1", group="book", name="rules.txt", content="a=vowel\n")
        yield {"documents": DocumentRunSetupResult(target_documents=(seed,))}

    async def load_cases(self, row, *, runtime):
        yield Case(row["id"], {"word": row["word"]}, row["kind"])


@asynccontextmanager
async def open_candidate(*, targets_dir, scratch_dir):
    lines = (targets_dir / "book" / "rules.txt").read_text().splitlines()
    yield dict(line.split("=") for line in lines)


async def run_case(*, case_input, runtime):
    return CaseResult(runtime.candidate.get(case_input["word"][0], "other"))


async def score_case(*, case, result, case_files_dir):
    return CaseScore(float(result.output == case.expected), {})


integration = Integration(
    targets=documents(groups=("book",)),
    run_setup=Setup,
    run_case=run_case,
    score_case=score_case,
    open_candidate=open_candidate,
)
