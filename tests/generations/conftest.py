"""Projects of earlier generations as their authors left them, and what Beaker has to say about each."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from beaker.files.git import commit_all, init_repository

CONFIG = """\
integrations:
  words:
    entrypoint: word_integration:integration
    targets: {targets}
config_defaults:
  local_dataset_path: dataset
  harness_optimization:
    command: [{python}, "{{project}}/propose.py"]
    max_rollouts: 20
    max_proposals: 3
    seed: 2
"""

SCORING = """
async def run_case(*, case_input, runtime):
    return CaseResult(kind_of(case_input["word"]))


async def score_case(*, case, result, case_files_dir):
    right = float(result.output == case.expected)
    diffs = () if right else (FieldDiff("kind", result.output, case.expected),)
    return CaseScore(right, {"kind": right}, diffs)


integration = Integration(
    targets=repository(("words",)), run_setup=Setup, run_case=run_case, score_case=score_case
)
"""

CODE = {
    "words/__init__.py": "",
    "words/kinds.py": """\
        VOWELS = "a"


        def kind_of(word):
            return "vowel" if word[0] in VOWELS else "other"
        """,
    "propose.py": """\
        import os
        from pathlib import Path

        path = Path(os.environ["BEAKER_WORKSPACE"]) / "repository" / "words" / "kinds.py"
        path.write_text(path.read_text().replace('"a"', '"aeiou"'))
        """,
}


@dataclass(frozen=True)
class Project:
    """Files by path, the targets as the configuration has them, and every warning: where, and what to write."""

    targets: str
    files: Mapping[str, str]
    warnings: Mapping[str, str]
    of_run_case: Mapping[str, str]
    """Warnings that show when a case runs."""


PROJECTS = {
    "0.5 repository": Project(
        targets="{kind: repository, paths: [words]}",
        files=CODE
        | {
            "word_integration.py": """\
                from dataclasses import dataclass

                from beaker import (
                    Case,
                    CaseResult,
                    CaseScore,
                    FieldDiff,
                    Integration,
                    RepositoryRunSetup,
                    repository,
                )
                from words.kinds import kind_of


                @dataclass
                class Row:
                    id: str
                    word: str
                    kind: str


                class Setup(RepositoryRunSetup[Row]):
                    row_model = Row

                    async def load_cases(self, row, *, runtime):
                        yield Case(row.id, {"word": row.word}, row.kind)

                """
            + SCORING.replace("\n", "\n" + " " * 16)
        },
        warnings={"word_integration.py:3": "derive from RunSetup[Row] instead"},
        of_run_case={},
    ),
    "0.6.4 repository": Project(
        targets="{kind: repository, paths: [words]}",
        files=CODE
        | {
            "word_setup.py": """\
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
                            yield RepositoryRunSetupResult(
                                metadata={**result.metadata, "rows": dict(runtime.dataset.split_row_counts)}
                            )

                    async def load_cases(self, row, *, runtime):
                        yield Case(row.id, {"word": row.word}, row.kind)
                """,
            "word_integration.py": """\
                from beaker import CaseResult, CaseScore, FieldDiff, Integration, repository
                from word_setup import Setup
                from words.kinds import kind_of

                """
            + SCORING.replace("\n", "\n" + " " * 16),
        },
        warnings={
            "word_setup.py:15": "derive from RunSetup[Row] instead",
            "word_setup.py:21": "yield {'repository': RepositoryRunSetupResult(...)} instead",
        },
        of_run_case={},
    ),
    "0.6.4 documents": Project(
        targets="{kind: documents, groups: [book]}",
        files={
            "store.py": """\
                from beaker import ChangeSet, CreateDocumentChange


                def apply(changes: ChangeSet) -> list[str]:
                    assert isinstance(changes, ChangeSet)
                    return [change.name for change in changes.changes if isinstance(change, CreateDocumentChange)]
                """,
            "word_integration.py": """\
                from contextlib import asynccontextmanager
                from dataclasses import dataclass
                from pathlib import Path

                import store
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
                        seed = TargetDocument(source_id="1", group=self.group, name="rules.txt", content="a=vowel\\n")
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
                """,
            "propose.py": """\
                import os
                from pathlib import Path

                path = Path(os.environ["BEAKER_WORKSPACE"]) / "documents" / "book" / "rules.txt"
                path.write_text("".join(f"{letter}=vowel\\n" for letter in "aeiou"))
                """,
        },
        warnings={
            "store.py:1": "import DocumentChangeSet instead",
            "word_integration.py:6": "derive from RunSetup[Row] instead",
            "word_integration.py:40": "yield {'documents': DocumentRunSetupResult(...)} instead",
            "word_integration.py:46": "pass it as Integration(..., open_candidate=open_candidate)",
        },
        of_run_case={"word_integration.py:53": "write runtime.candidate instead"},
    ),
}


@pytest.fixture(params=PROJECTS)
def earlier(request: pytest.FixtureRequest) -> Project:
    """One project after the other."""
    return PROJECTS[request.param]


@pytest.fixture
def made(earlier: Project, tmp_path: Path) -> Path:
    """The folder of the project, committed, with its dataset."""
    folder = tmp_path / "project"
    files = {
        **{path: dedent(text) for path, text in earlier.files.items()},
        ".beaker/beaker.yaml": CONFIG.format(targets=earlier.targets, python=sys.executable),
        ".gitignore": "dataset/\n__pycache__/\n",
    }
    for split, words in (("train", "apple bee ice owl cat ox"), ("test", "ear dog urn emu")):
        rows = [
            {"id": word, "word": word, "kind": "vowel" if word[0] in "aeiou" else "other"} for word in words.split()
        ]
        files[f"dataset/{split}.jsonl"] = "".join(json.dumps(row) + "\n" for row in rows)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    init_repository(folder).unwrap()
    commit_all(folder, "as it was").unwrap()
    return folder


@pytest.fixture
def beaker(made: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run `beaker` in the project, without Beaker's variables of this machine."""
    environ = {key: text for key, text in os.environ.items() if not key.startswith("BEAKER_")}

    def call(*argv: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "beaker.cli", *argv]
        return subprocess.run(command, cwd=made, env=environ, capture_output=True, text=True, check=False)

    return call
