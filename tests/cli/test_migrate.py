"""`beaker migrate`: what it shows, what it writes, and that nothing stays changed when that cannot be proven."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.files.project import find_project, load_project_config

MODULE = """\
from contextlib import asynccontextmanager

from beaker import Case, CaseResult, CaseScore, DocumentRunSetup, DocumentRunSetupResult, Integration
from beaker import TargetDocument, documents


class Setup(DocumentRunSetup[dict, str]):
    row_model = dict

    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        seed = TargetDocument(source_id="tone", group="style", name="tone.txt", content="Hello")
        yield DocumentRunSetupResult(target_documents=[seed])

    async def load_cases(self, row, *, runtime):
        yield Case(id=row["id"], input=row["name"], expected=row["greeting"])

    @asynccontextmanager
    async def open_candidate(self, *, targets_dir, scratch_dir):
        yield (targets_dir / "style" / "tone.txt").read_text()


async def run_case(*, case_input, runtime):
    return CaseResult(f"{runtime.candidate_runtime} {case_input}")


async def score_case(*, case, result, case_files_dir):
    return CaseScore(float(result.output == case.expected), {})


integration = Integration(
    targets=documents(groups=("style",)), run_setup=Setup, run_case=run_case, score_case=score_case
)
"""
SPEC = """\
from beaker import Case, CaseResult, CaseScore, DatasetSchema, OptimizationTargets, Spec, spec


class Loader:
    dataset_schema = DatasetSchema(json_schema={"type": "object"})

    def parse_row(self, raw, context):
        return raw

    def iter_cases(self, row, context):
        yield Case(row, row["id"], {})


class Scorer:
    async def score_case(self, case, result):
        return CaseScore({}, 1.0)


async def run_case(case, targets, runtime):
    return CaseResult("")


@spec(repository=None)
def build(context):
    return Spec(Loader(), run_case, Scorer(), OptimizationTargets({"tone": "Hello"}))
"""


def files(root: Path) -> dict[str, str]:
    found = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes().decode() for path in found}


@pytest.fixture
def project(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """A project with these files, without Git."""

    def make(content: dict[str, str]) -> Path:
        root = tmp_path / "greeting"
        for name, text in content.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(text.encode())
        return root

    return make


@pytest.fixture
def migrate(beaker: Callable[..., Any]) -> Callable[..., Any]:
    def call(root: Path, *argv: str) -> Any:
        return beaker("migrate", *argv, cwd=root, environ={"PATH": os.environ["PATH"]})

    return call


CONFIG = "integrations:\n  greeting: {entrypoint: 'm:integration', project_key: k}  # ours\n"


@pytest.mark.processes
def test_migrate__modules_and_configuration__are_shown_then_written_and_verified(
    project: Callable[..., Path], migrate: Callable[..., Any], conforms: Callable[..., None]
) -> None:
    """A preview changes nothing; --write makes exactly what it showed, keeps modes and line ends, and is done then."""
    content = {
        ".beaker/beaker.yaml": CONFIG,
        "m.py": MODULE.replace("\n", "\r\n"),
        "venv/x.py": MODULE,
        "n.py": "x = 1",
    }
    root = project(content)
    (root / "m.py").chmod(0o755)
    shown = migrate(root, "--json")
    assert (shown.code, files(root)) == (0, content)
    told = json.loads(shown.out)
    conforms(told, "cli-migrate.json")
    assert (told["written"], told["by_hand"]) == (False, [])
    assert [file["path"] for file in told["files"]] == ["m.py", ".beaker/beaker.yaml"]
    assert "-class Setup(DocumentRunSetup[dict, str]):\r\n+class Setup(RunSetup[dict]):\r\n" in told["files"][0]["diff"]
    written = migrate(root, "--write", "--json")
    assert (written.code, json.loads(written.out)) == (0, {**told, "written": True})
    after = files(root)
    assert after[".beaker/beaker.yaml"] == CONFIG.replace("project_key", "agent_key")
    assert "\n" not in after["m.py"].replace("\r\n", "")
    assert all(old not in after["m.py"] for old in ("DocumentRunSetup[", "candidate_runtime", "self, *, targets_dir"))
    assert {name: after[name] for name in ("venv/x.py", "n.py")} == {
        name: content[name] for name in ("venv/x.py", "n.py")
    }
    assert (root / "m.py").stat().st_mode & 0o777 == 0o755
    again = migrate(root)
    assert again.out == "beaker migrate: nothing to change\n"


@pytest.mark.e2e
def test_migrate__specs__become_integrations_that_name_their_factories(
    project: Callable[..., Path], migrate: Callable[..., Any]
) -> None:
    """A decorated factory needs no new code; the project's key becomes that of the entry."""
    content = {".beaker/beaker.yaml": "agent_key: k\nspec:\n  target: s:build\n", "s.py": SPEC}
    root = project({**content, "pyproject.toml": '[project]\nname = "Front Desk"\n'})
    shown = migrate(root)
    assert "  line 2: spec becomes the integration front_desk\n" in shown.out
    assert "1 file would change; nothing was written" in shown.out
    done = migrate(root, "--write")
    assert (done.code, "every entry shows what it showed" in done.out) == (0, True)
    text = (root / ".beaker/beaker.yaml").read_text()
    assert text == "integrations:\n  front_desk:\n    agent_key: k\n    entrypoint: s:build\n"
    found = find_project(root).unwrap()
    assert found is not None
    assert load_project_config(found).unwrap().warnings == ()


@pytest.mark.parametrize(
    ("entry", "more", "said"),
    [
        ("{target: 's:Specs.build'}", {}, "its factory stands in a class"),
        ("{target: 'nowhere:build'}", {}, "the module nowhere is not found"),
        ("{target: 's:build', source_dir: nowhere}", {}, "the module s is not found"),
        ("{target: 's:run_case'}", {}, "its factory is not decorated"),
        ("{target: 's:build'}", {"cases.py": "import beaker\nCase = beaker.Case\n"}, "cases.py takes Case from Beaker"),
    ],
)
def test_migrate__spec_that_no_entrypoint_can_name__is_left_and_told(
    entry: str, more: dict[str, str], said: str, project: Callable[..., Path], migrate: Callable[..., Any]
) -> None:
    """What would load otherwise, or not at all, as an Integration is left to the author; nothing is written."""
    content = {".beaker/beaker.yaml": f"specs:\n  a: {entry}\n", "s.py": SPEC, "broken.py": "# beaker\n(\n", **more}
    root = project(content)
    done = migrate(root, "--write")
    assert (done.code, files(root)) == (0, content)
    assert said in done.out
    assert "broken.py:2" in done.out
    assert "nothing can be changed for you" in done.out


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("module", "said"),
    [
        (f"raise ValueError('not today')\n{MODULE}", "cannot be imported before anything was changed"),
        (
            f"{MODULE}\nif 'RunSetup' in globals():\n    raise ValueError('moved')\n",
            "cannot be imported with the edits, which were undone",
        ),
        (
            MODULE.replace('("style",)', '("style", "more") if hasattr(Setup, "open_candidate") else ("style",)'),
            "they were undone",
        ),
    ],
)
def test_migrate__edits_that_cannot_be_proven__are_undone(
    module: str, said: str, project: Callable[..., Path], migrate: Callable[..., Any]
) -> None:
    """Every entry is loaded before and after; a module that notices the difference keeps its text."""
    content = {".beaker/beaker.yaml": CONFIG, "m.py": module}
    root = project(content)
    done = migrate(root, "--write")
    assert (done.code, files(root)) == (2, content)
    assert "error: BK162 " in done.err
    assert said in done.err


def test_migrate__without_a_configuration__edits_modules(
    project: Callable[..., Path], migrate: Callable[..., Any]
) -> None:
    """Modules of another project that is only read, not configured; one in no encoding of ours is told."""
    root = project({"a.py": "from beaker import ChangeSet\n"})
    (root / "latin.py").write_bytes(b"# beaker \xe9\n")
    done = migrate(root, "--write")
    assert (done.code, (root / "a.py").read_text()) == (0, "from beaker import DocumentChangeSet\n")
    assert "latin.py: is not written in UTF-8" in done.out
    assert "1 file changed; no entry is configured, so nothing was imported" in done.out


def test_migrate__name_that_is_handed_on__stays_in_both_modules(
    project: Callable[..., Path], migrate: Callable[..., Any]
) -> None:
    """A module that takes a name from another one, without a word of Beaker, would lose it."""
    content = {"a.py": "from beaker import ChangeSet\n", "b.py": "from a import ChangeSet\n"}
    root = project(content)
    done = migrate(root, "--write")
    assert (done.code, files(root)) == (0, content)
    assert "a.py:1: ChangeSet is not renamed" in done.out


def test_migrate__broken_configuration__is_refused(project: Callable[..., Path], migrate: Callable[..., Any]) -> None:
    """What cannot be read cannot be brought up to date."""
    done = migrate(project({".beaker/beaker.yaml": "a: [\n"}), "--json")
    assert (done.code, ".beaker/beaker.yaml:" in done.err) == (2, True)
