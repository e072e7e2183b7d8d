from contextlib import asynccontextmanager
from dataclasses import dataclass

import beaker
from beaker import Case, RepositoryRunSetupResult


@dataclass
class Row:
    id: str
    word: str
    kind: str


class Setup(beaker.RepositoryRunSetup[Row]):
    row_model = Row

    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        async with super().prepare_run(runtime=runtime) as result:
            yield RepositoryRunSetupResult(metadata={**result.metadata, "rows": dict(runtime.dataset.split_row_counts)})

    async def load_cases(self, row, *, runtime):
        yield Case(row.id, {"word": row.word}, row.kind)
