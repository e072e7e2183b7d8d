from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import store  # noqa: F401

from beaker import (
    Case,
    CaseResult,
    CaseScore,
    DocumentRunSetup,
    DocumentRunSetupResult,
    Integration,
    RolloutRuntime,
    TargetDocument,
    documents,
)


@dataclass
class Row:
    id: str
    word: str
    kind: str


class Rules:
    def __init__(self, text: str) -> None:
        self.known = dict(line.split("=") for line in text.splitlines())


class Setup(DocumentRunSetup[Row, Rules]):
    row_model = Row

    def __init__(self):
        self.group = "book"

    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        seed = TargetDocument(source_id="1", group=self.group, name="rules.txt", content="a=vowel\n")
        yield DocumentRunSetupResult(target_documents=(seed,))

    async def load_cases(self, row, *, runtime):
        yield Case(row.id, {"word": row.word}, row.kind)

    @asynccontextmanager
    async def open_candidate(self, *, targets_dir: Path, scratch_dir: Path):
        (scratch_dir / "index").write_text("opened")
        yield Rules((targets_dir / self.group / "rules.txt").read_text())


async def run_case(*, case_input, runtime: RolloutRuntime[Rules]):
    letter = case_input["word"][0]
    return CaseResult(runtime.candidate_runtime.known.get(letter, "other"))


async def score_case(*, case, result, case_files_dir):
    return CaseScore(float(result.output == case.expected), {})


integration = Integration(
    targets=documents(groups=("book",)), run_setup=Setup, run_case=run_case, score_case=score_case
)
