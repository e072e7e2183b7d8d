"""The Integration: tells Beaker how to load cases, run your system on one, and score what came out.

Every `TODO(beaker)` is a gap to fill; `beaker run smoke` names those that are left.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beaker import (
    Case,
    CaseResult,
    CaseScore,
    Integration,
    RolloutRuntime,
    RunSetup,
    SetupRuntime,
    repository,
)


@dataclass(frozen=True)
class Row:
    """One line of train.jsonl or test.jsonl. TODO(beaker): name the fields that your rows have."""

    id: str
    input: Any
    expected: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.id.strip():
            raise ValueError("id must not be empty")


class Setup(RunSetup[Row]):
    """Turns rows into cases: one case per row."""

    row_model = Row

    async def load_cases(self, row: Row, *, runtime: SetupRuntime) -> AsyncIterator[Case]:
        """Yield the cases of one row."""
        yield Case(id=row.id, input=row.input, expected=row.expected, metadata=row.metadata)


async def run_case(*, case_input: Any, runtime: RolloutRuntime[None]) -> CaseResult:
    """Run your system on one case: it sees the input alone, never what is expected."""
    raise NotImplementedError("TODO(beaker): call your system with case_input, and return CaseResult(its output)")


async def score_case(*, case: Case, result: CaseResult, case_files_dir: Path) -> CaseScore:
    """Compare what came out with what was expected; 1.0 is perfect, 0.0 is worthless."""
    raise NotImplementedError(
        "TODO(beaker): compare result.output with case.expected, and return CaseScore(objective, {})"
    )


# TODO(beaker): repository() lets candidates change every tracked file; name paths (repository(["src/prompts"])), or
# declare documents(groups=(...)) for texts that live outside the repository.
integration = Integration(targets=repository(), run_setup=Setup, run_case=run_case, score_case=score_case)
