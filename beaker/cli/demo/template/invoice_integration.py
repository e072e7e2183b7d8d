"""The Integration: tells Beaker how to load cases, run the invoice reader on one, and score what it read."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from invoice_reader import FIELDS, Playbook, parse_playbook, read_invoice

from beaker import (
    Case,
    CaseResult,
    CaseScore,
    Check,
    DocumentRunSetupResult,
    FieldDiff,
    Integration,
    RolloutRuntime,
    RunSetup,
    RunSetupResults,
    SetupRuntime,
    TargetDocument,
    documents,
    objective_score,
)

WEIGHTS = {"vendor": 1.0, "number": 1.0, "date": 1.0, "currency": 1.0, "total": 2.0}
"""A wrong total costs money, so it counts twice."""


@dataclass
class Expected:
    """What the invoice says."""

    vendor: str
    number: str
    date: str
    currency: str
    total: str


@dataclass
class Row:
    """One line of train.jsonl or test.jsonl."""

    id: str
    text: str
    expected: Expected


class Setup(RunSetup[Row]):
    """One case per row; the playbooks of this commit are the documents that a run starts from."""

    row_model = Row

    @asynccontextmanager
    async def prepare_run(self, *, runtime: SetupRuntime) -> AsyncIterator[RunSetupResults]:
        """Hand over the current playbooks. A real store would be read here."""
        folder = Path(__file__).parent / "playbooks"
        seeds = [
            TargetDocument(
                source_id=path.name, group="playbooks", name=path.name, content=path.read_text(encoding="utf-8")
            )
            for path in sorted(folder.glob("*.txt"))
        ]
        yield {"documents": DocumentRunSetupResult(target_documents=seeds)}

    async def load_cases(self, row: Row, *, runtime: SetupRuntime) -> AsyncIterator[Case]:
        """The invoice text is the input; what it says is what scoring compares with."""
        yield Case(id=row.id, input={"text": row.text}, expected=asdict(row.expected))


async def run_case(*, case_input: Any, runtime: RolloutRuntime[None]) -> CaseResult:
    """Read one invoice by the candidate's playbooks."""
    assert runtime.targets_dir is not None
    return CaseResult(
        read_invoice(case_input["text"], read_playbooks(runtime.targets_dir / "playbooks")), output_kind="record"
    )


async def score_case(*, case: Case, result: CaseResult, case_files_dir: Path) -> CaseScore:
    """One point per field that is exactly right; the objective weighs them."""
    expected: Any = case.expected
    output: Any = result.output
    scores = {field: float(output.get(field) == expected[field]) for field in FIELDS}
    wrong = [field for field in FIELDS if not scores[field]]
    return CaseScore(
        objective=objective_score(scores, WEIGHTS),
        field_scores=scores,
        field_diffs=[FieldDiff(field, output.get(field), expected[field]) for field in wrong],
        checks=[
            Check(
                "payable", "pass" if scores["total"] and scores["currency"] else "fail", message="total and currency"
            ),
            Check("nothing missing", "fail" if None in output.values() else "pass", informational=True),
        ],
    )


def read_playbooks(folder: Path) -> dict[str, Playbook]:
    """Every playbook below `folder`, by file name."""
    return {path.name: parse_playbook(path.read_text(encoding="utf-8")) for path in folder.glob("*.txt")}


integration = Integration(
    targets=documents(groups=("playbooks",)), run_setup=Setup, run_case=run_case, score_case=score_case
)
