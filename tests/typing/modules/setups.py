"""A setup that is generic over its row: `RunSetup[Row]`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypedDict, assert_type

from beaker import (
    Case,
    CaseFile,
    DocumentRunSetupResult,
    RepositoryRunSetupResult,
    RunSetup,
    RunSetupResults,
    SetupRuntime,
    TargetDocument,
    validate_integration,
)


@dataclass
class Row:
    id: str
    text: str
    weight: float = 1.0


class Typed(TypedDict):
    id: str


class Setup(RunSetup[Row]):
    row_model = Row

    @asynccontextmanager
    async def prepare_run(self, *, runtime: SetupRuntime) -> AsyncIterator[RunSetupResults]:
        assert_type(runtime.run_id, str)
        assert_type(runtime.dataset.split_row_counts["train"], int)
        seed = TargetDocument(source_id="1", group="rules", name="a.md", content="text")
        yield {
            "repository": RepositoryRunSetupResult(metadata={"k": 1}),
            "documents": DocumentRunSetupResult(target_documents=[seed]),
        }

    async def load_cases(self, row: Row, *, runtime: SetupRuntime) -> AsyncIterator[Case]:
        assert_type(row.weight, float)
        folder = runtime.case_files_dir(row.id)
        yield Case(id=row.id, input={"text": row.text}, files=[CaseFile("a.txt", folder / "a.txt")])
        yield Case(row.id, row.missing)  # E attr-defined | reportAttributeAccessIssue
        yield row.id  # E misc | reportReturnType


class Bare(RunSetup[dict[str, Any]]):
    row_model = dict[str, Any]

    async def load_cases(self, row: dict[str, Any], *, runtime: SetupRuntime) -> AsyncIterator[Case]:
        yield Case(row["id"], row)


class OfTypedDict(RunSetup[Typed]):
    row_model = Typed

    async def load_cases(self, row: Typed, *, runtime: SetupRuntime) -> AsyncIterator[Case]:
        yield Case(row["id"], None)


class OtherModel(RunSetup[Row]):
    row_model = Typed  # E assignment | reportAssignmentType

    async def load_cases(self, row: Row, *, runtime: SetupRuntime) -> AsyncIterator[Case]:
        yield Case(row.id, None)


class OtherRow(RunSetup[Row]):
    row_model = Row

    async def load_cases(  # E | reportIncompatibleMethodOverride
        self,
        row: int,  # E override |
        *,
        runtime: SetupRuntime,
    ) -> AsyncIterator[Case]:
        yield Case(str(row), None)


class WithoutRuntime(RunSetup[Row]):
    row_model = Row

    async def load_cases(  # E override | reportIncompatibleMethodOverride
        self,
        row: Row,
    ) -> AsyncIterator[Case]:
        yield Case(row.id, None)


RunSetup[Row]()  # E abstract | reportAbstractUsage
Bare().load_cases(Row("1", ""), runtime=None)  # E arg-type | reportArgumentType
DocumentRunSetupResult(target_documents=["text"])  # E list-item | reportArgumentType
validate_integration(3)  # E arg-type | reportArgumentType
