"""Runs that optimize files of the repository: what comes of them, and what a candidate cannot reach."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from beaker.client.flows import download_candidate
from beaker.files.git import commit_all, init_repository

pytestmark = pytest.mark.e2e

CONFIG = """\
integrations:
  kinds:
    entrypoint: integration:integration
    required_env: [LAB]
    targets: TARGETS
"""

PIPELINE = {
    "src/kinds/__init__.py": 'from kinds.pipeline import classify\n\n__all__ = ["classify"]\n',
    "src/kinds/letters.py": '''\
        """What is known of letters."""

        VOWELS = frozenset("a")


        def is_vowel(letter):
            return letter in VOWELS


        def is_early(letter):
            return letter <= "h"
        ''',
    "src/kinds/pipeline.py": '''\
        """From a word to its kind."""

        from kinds.letters import is_early, is_vowel


        def first_letter(word):
            return word.strip()[:1].lower()


        def classify(word):
            letter = first_letter(word)
            if is_vowel(letter):
                return "vowel"
            return "early" if is_early(letter) else "late"
        ''',
    "src/kinds/legacy.py": "VOWELS = 'aeiou'\n",
    "bin/kinds": "#!/usr/bin/env python3\nimport sys\nfrom kinds import classify\nprint(classify(sys.argv[1]))\n",
    "tests/test_kinds.py": """\
        import unittest

        from kinds import classify


        class KindsTest(unittest.TestCase):
            def test_kinds(self):
                found = {word: classify(word) for word in ("apple", "Ice", " otter", "bee", "gnu", "horse", "pear")}
                assert found == {
                    "apple": "vowel", "Ice": "vowel", " otter": "vowel",
                    "bee": "early", "gnu": "early", "horse": "late", "pear": "late",
                }, found
        """,
    "integration.py": """\
        import sys
        from contextlib import asynccontextmanager
        from pathlib import Path

        sys.path.insert(0, str(Path(__file__).parent / "src"))

        from beaker import (
            Case, CaseResult, CaseScore, DocumentRunSetupResult, Integration, RepositoryRunSetupResult, RunSetup,
            TargetDocument, documents, repository,
        )
        from kinds import classify

        TARGETS = (repository(("src", "bin")),)


        def seed(group, name, content):
            return TargetDocument(source_id=name, group=group, name=name, content=content)


        class Setup(RunSetup[dict]):
            row_model = dict

            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                found = {"repository": RepositoryRunSetupResult()}
                if len(TARGETS) > 1:
                    seeds = [seed("book", "accent.txt", ""), seed("other", "notes.txt", "keep")]
                    found["documents"] = DocumentRunSetupResult(target_documents=seeds)
                yield found

            async def load_cases(self, row, *, runtime):
                yield Case(id=row["id"], input=row["word"], expected=row["kind"])


        async def run_case(*, case_input, runtime):
            told = classify(case_input)
            if len(TARGETS) > 1:
                return CaseResult(told + (runtime.targets_dir / "book" / "accent.txt").read_text())
            assert runtime.targets_dir is None
            return CaseResult(told)


        async def score_case(*, case, result, case_files_dir):
            right = result.output.startswith(case.expected)
            return CaseScore(float(right) * (0.5 + 0.5 * result.output.endswith("!")), {})


        integration = Integration(targets=TARGETS, run_setup=Setup, run_case=run_case, score_case=score_case)
        """,
    "propose.py": """\
        import json
        import os
        from pathlib import Path

        workspace = Path(os.environ["BEAKER_WORKSPACE"])
        repository = workspace / "repository"
        wrong = set()
        for path in (Path(os.environ["BEAKER_EVIDENCE"]) / "cases").iterdir():
            case = json.loads(path.read_text())
            if case["minibatch"] and not case["output"].startswith(case["expected"]):
                wrong.add(case["expected"])
        letters = repository / "src" / "kinds" / "letters.py"
        letters.write_text(letters.read_text().replace('"a"', '"aeiou"').replace('<= "h"', '< "h"'))
        (repository / "src" / "kinds" / "legacy.py").unlink(missing_ok=True)
        (repository / "src" / "kinds" / "py.typed").touch()
        (repository / "src" / "kinds" / "data ü.bin").write_bytes(bytes(range(256)))
        (repository / "bin" / "kinds").chmod(0o755)
        if (workspace / "documents").exists():
            (workspace / "documents" / "book" / "accent.txt").write_text("!")
        """,
}


def pipeline(lab: Any, *, targets: str, declared: str) -> None:
    """Make the laboratory's project the pipeline, with these targets in the code and in the configuration."""
    for path, text in PIPELINE.items():
        (lab.project / path).parent.mkdir(parents=True, exist_ok=True)
        lab.write(path, dedent(text).replace('(repository(("src", "bin")),)', targets))
    lab.write(".beaker/beaker.yaml", CONFIG.replace("    targets: TARGETS\n", declared))
    (lab.project / "words.py").unlink()


def downloaded(lab: Any, candidate: str) -> dict[str, bytes]:
    """The files that a candidate gives to take away."""
    folder = lab.root / "downloaded"
    return {path: (folder / path).read_bytes() for path in download_candidate(lab.open(), candidate, folder).unwrap()}


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def own_tests(clone: Path) -> int:
    """Exit status of the project's own tests."""
    environ = {**os.environ, "PYTHONPATH": str(clone / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "unittest", "discover", "-s", "tests"]
    return subprocess.run(command, cwd=clone, env=environ, capture_output=True, check=False).returncode


def test_pipeline_with_a_bug__fixed_by_a_proposer__gives_a_patch_for_a_clone(laboratory: Callable[..., Any]) -> None:
    """The clone's own tests fail before and pass after; the patch makes exactly the candidate's files and modes."""
    lab = laboratory(train=18, test=16)
    targets, declared = '(repository(("src", "bin")),)', "    targets: {kind: repository, paths: [src, bin]}\n"
    pipeline(lab, targets=targets, declared=declared)
    run_id = lab.launch(max_proposals=1)
    run = lab.run(run_id)
    assert run["status"] == "COMPLETED", run["error_message"]
    answered = lab.candidates(run_id)
    (proposal,), winner = answered["proposals"], answered["candidates"][1]
    changed = ["bin/kinds", "src/kinds/data ü.bin", "src/kinds/legacy.py", "src/kinds/letters.py", "src/kinds/py.typed"]
    assert proposal["outcome"] == "accepted"
    assert winner["summary"] == {
        "created": ["src/kinds/data ü.bin", "src/kinds/py.typed"],
        "updated": ["bin/kinds", "src/kinds/letters.py"],
        "deleted": ["src/kinds/legacy.py"],
    }
    assert (run["result"]["test"]["baseline"], run["result"]["test"]["winner"]) == (12 / 32, 0.5)

    files = downloaded(lab, winner["id"])
    assert [path for path in files if path.startswith("changes/")] == []
    clone = lab.root / "clone"
    git(lab.root, "clone", "-q", str(lab.project), str(clone))
    assert own_tests(clone) != 0
    (lab.root / "patch.diff").write_bytes(files["patch.diff"])
    git(clone, "apply", "--index", str(lab.root / "patch.diff"))
    assert own_tests(clone) == 0
    assert git(clone, "-c", "core.quotePath=false", "diff", "--cached", "--name-only").splitlines() == changed
    assert (clone / "src/kinds/data ü.bin").read_bytes() == bytes(range(256))
    assert (clone / "bin/kinds").stat().st_mode & 0o100
    assert git(lab.project, "status", "--porcelain") == ""


def test_documents_and_code__in_one_candidate__are_one_winner_one_patch_and_a_change_set_each(
    laboratory: Callable[..., Any],
) -> None:
    """Neither half alone would score as much; the document target that did not change has an empty change set.

    The configuration declares nothing: the targets are those of the Integration.
    """
    lab = laboratory(train=6, test=4)
    targets = '(repository(), documents(groups=("book",)), documents(groups=("other",)))'
    pipeline(lab, targets=targets, declared="")
    run_id = lab.launch(max_proposals=3)
    run = lab.run(run_id)
    assert (run["status"], run["finish_reason"]) == ("COMPLETED", "perfect"), run["error_message"]
    assert run["result"]["test"]["winner"] == 1.0
    candidates = lab.candidates(run_id)["candidates"]
    assert [one["status"] for one in candidates] == ["baseline", "accepted"]
    assert candidates[1]["summary"]["updated"] == ["book/accent.txt", "bin/kinds", "src/kinds/letters.py"]
    files = downloaded(lab, run["result"]["winner_id"])
    assert b"letters.py" in files["patch.diff"]
    sets = {path: json.loads(data) for path, data in files.items() if path.startswith("changes/")}
    assert {path: [one["op"] for one in found["changes"]] for path, found in sets.items()} == {
        "changes/book.json": ["update"],
        "changes/other.json": [],
    }


TAMPERING = {
    "the scorer's file": "(repository / 'judge.py').write_text('def right(output, expected):\\n    return True\\n')",
    "the dataset's folder": (
        "(repository / 'data' / 'answers.json').write_text(json.dumps(dict.fromkeys(map(str, range(99)), 'unknown')))\n"
        "for path in evidence.parents[2].rglob('*.jsonl'): path.write_text('')"
    ),
    "sitecustomize.py": (
        "(repository / 'sitecustomize.py').write_text('open(' + repr(os.environ['LAB'] + '/customized') + ', \"w\")')"
    ),
    "the Integration": (
        "code = (repository / 'integration.py').read_text()\n"
        "(repository / 'integration.py').write_text(code.replace('float(right(', 'float(True or right('))"
    ),
}
"""What a proposer does to get a better score, without a better answer."""

SPOIL = """
import json
from pathlib import Path

# What lies beside this checkout in the run's folder: evidence, documents and code of others.
for path in Path(__file__).parents[2].rglob("*"):
    if path.is_file() and "scorer" not in path.parts and Path(__file__).parent not in path.parents:
        try:
            path.chmod(0o644)
            path.write_text("{}")
        except OSError:
            pass

def guess(word):
    return "unknown"
"""

TAMPERED = {
    "judge.py": "def right(output, expected):\n    return output == expected\n",
    "guess.py": "def guess(word):\n    return 'unknown'\n",
    "data/answers.json": "{}",
    "integration.py": """\
        import json
        from contextlib import asynccontextmanager
        from pathlib import Path

        from beaker import Case, CaseResult, CaseScore, Integration, RepositoryRunSetupResult, RunSetup, repository
        from guess import guess
        from judge import right

        ANSWERS = json.loads((Path(__file__).parent / "data" / "answers.json").read_text())


        class Setup(RunSetup[dict]):
            row_model = dict

            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                yield {"repository": RepositoryRunSetupResult()}

            async def load_cases(self, row, *, runtime):
                expected = ANSWERS.get(row["id"].partition("-")[2], row["kind"])
                yield Case(id=row["id"], input=row["word"], expected=expected)


        async def run_case(*, case_input, runtime):
            return CaseResult(guess(case_input))


        async def score_case(*, case, result, case_files_dir):
            expected = ANSWERS.get(case.id.partition("-")[2], case.expected)
            return CaseScore(float(right(result.output, expected)), {})


        integration = Integration(targets=repository(), run_setup=Setup, run_case=run_case, score_case=score_case)
        """,
}


HEAD = """\
import json
import os
from pathlib import Path

evidence = Path(os.environ["BEAKER_EVIDENCE"])
repository = Path(os.environ["BEAKER_WORKSPACE"]) / "repository"
"""


def tempting(lab: Any, proposer: str) -> None:
    """Make the laboratory's project one whose answers are always wrong, with a proposer that does this."""
    for path, text in TAMPERED.items():
        (lab.project / path).parent.mkdir(exist_ok=True)
        lab.write(path, dedent(text))
    lab.write(".beaker/beaker.yaml", CONFIG.replace("TARGETS", "{kind: repository}"))
    lab.write("propose.py", HEAD + proposer)


def train_objectives(lab: Any, run_id: str) -> list[float]:
    """The objective on TRAIN of each candidate, in the order of their numbers."""
    reports = lab.open().call("list_eval_reports", run_id=run_id).unwrap()["eval_reports"]
    return [one["objective"] for one in reports if one["split"] == "train"]


@pytest.mark.parametrize("what", TAMPERING)
def test_candidate__that_tampers__gains_nothing(laboratory: Callable[..., Any], what: str) -> None:
    """It is scored as its parent was, and does not win."""
    lab = laboratory(train=3, test=1)
    tempting(lab, TAMPERING[what])
    run_id = lab.launch(max_proposals=1, max_concurrency=1)
    run = lab.run(run_id)
    (proposal,) = lab.candidates(run_id)["proposals"]
    assert (run["status"], proposal["outcome"]) == ("COMPLETED", "rejected"), (run["error_message"], proposal)
    assert train_objectives(lab, run_id) == [0.0, 0.0]
    assert run["result"]["winner_id"] == run["result"]["baseline_id"]
    assert run["result"]["test"]["winner"] == 0.0
    assert not (lab.lab / "customized").exists()


def test_candidate__that_spoils_what_lies_beside_it__changes_nothing_for_others(laboratory: Callable[..., Any]) -> None:
    """Evidence, documents and code of others: its own score stays, and an honest candidate after it still wins."""
    lab = laboratory(train=3, test=1)
    honest = (
        'rule = \'"vowel" if word[0] in "aeiou" else "early" if word[0] < "h" else "late"\'\n'
        "code = f'def guess(word):\\n    return {rule}\\n'\n"
    )
    last = "json.loads((evidence / 'summary.json').read_text())['budget_left']['proposals'] == 0"
    tempting(
        lab,
        f"{honest}is_last = {last}\n"
        "cases = sorted(json.loads(path.read_text())['id'] for path in (evidence / 'cases').iterdir())\n"
        "assert len(cases) == 3\n"
        "for path in evidence.parents[1].rglob('*.json'): path.write_text('{}')\n"
        f"(repository / 'guess.py').write_text(code if is_last else {SPOIL!r})\n",
    )
    run_id = lab.launch(max_proposals=2, max_concurrency=1)
    run = lab.run(run_id)
    proposals = lab.candidates(run_id)["proposals"]
    assert run["status"] == "COMPLETED", (run["error_message"], proposals)
    assert [one["outcome"] for one in proposals] == ["rejected", "accepted"], proposals
    assert train_objectives(lab, run_id) == [0.0, 0.0, 1.0]
    assert run["result"]["test"]["winner"] == 1.0


def test_candidate__that_writes_into_the_scorers_checkout__ends_the_run(laboratory: Callable[..., Any]) -> None:
    """Nobody can tell any more what the scores are worth: the run fails, and names the file."""
    lab = laboratory(train=3, test=1)
    guess = (
        "from pathlib import Path\n\ndef guess(word):\n"
        "    (Path(__file__).parents[1] / 'scorer' / 'judge.py').write_text('def right(*_):\\n    return True\\n')\n"
        "    return 'unknown'\n"
    )
    tempting(lab, f"(repository / 'guess.py').write_text({guess!r})\n")
    run = lab.run(lab.launch(max_proposals=1))
    assert (run["status"], run["finish_reason"], run["result"]) == ("FAILED", "error", None)
    assert "the baseline's code changed while the run used it: judge.py was changed" in run["error_message"]


@pytest.mark.kill
def test_run__killed_while_a_candidate_with_edits_runs__goes_on_with_the_same_code(
    laboratory: Callable[..., Any],
) -> None:
    """A resumed worker takes the edits from the store; the log is that of a run that nobody disturbed."""
    wait = (
        "    gate = Path(os.environ['LAB']) / f'shut-{case_input}'\n"
        "    while gate.exists():\n"
        "        (gate.parent / f'waiting-{case_input}').touch()\n"
        "        time.sleep(0.01)\n"
    )
    logs = []
    for name in ("undisturbed", "killed"):
        lab = laboratory(name, train=5, test=2)
        pipeline(lab, targets="(repository(),)", declared="    targets: {kind: repository}\n")
        code = (lab.project / "integration.py").read_text()
        lab.write("integration.py", f"import os, time\n{code.replace('    told =', f'{wait}    told =')}")
        if name == "killed":
            lab.shut("btest1")
        run_id = lab.launch(wait=name != "killed", max_proposals=1, minibatch_size=5, max_concurrency=1)
        if name == "killed":
            lab.reach("btest1")
            lab.kill()
            lab.free("btest1")
            lab.resume()
        run = lab.run(run_id)
        assert (run["status"], run["result"]["winner_id"]) == ("COMPLETED", f"{run_id}.1"), run["error_message"]
        logs.append(json.dumps(lab.log(run_id)).replace(run_id, "RUN"))
    assert logs[0] == logs[1]


def test_editable_install_in_the_users_checkout__runs_the_candidates_code(tmp_path: Path) -> None:
    """An environment inside the repository names the user's `src` by a `.pth` file, a namespace package by a finder and
    an entry point by metadata: a candidate's rollouts take all of it from the candidate, and only then does it win.
    """
    project = tmp_path / "project"
    files = {
        "src/plain.py": "VALUE = 0\n",
        "src/space/part/__init__.py": "VALUE = 0\n",
        "src/points.py": "VALUE = 0\n",
        "app/integration.py": """\
            from contextlib import asynccontextmanager
            from importlib.metadata import entry_points

            import plain
            import space.part
            from beaker import Case, CaseResult, CaseScore, Integration, RepositoryRunSetupResult, RunSetup, repository


            class Setup(RunSetup[dict]):
                row_model = dict

                @asynccontextmanager
                async def prepare_run(self, *, runtime):
                    yield {"repository": RepositoryRunSetupResult()}

                async def load_cases(self, row, *, runtime):
                    yield Case(id=row["id"], input=row["id"])


            async def run_case(*, case_input, runtime):
                (point,) = entry_points(group="demo.values")
                return CaseResult([plain.VALUE, space.part.VALUE, point.load()])


            async def score_case(*, case, result, case_files_dir):
                assert plain.VALUE == 0
                return CaseScore(sum(result.output) / 3, {})


            integration = Integration(
                targets=repository(), run_setup=Setup, run_case=run_case, score_case=score_case
            )
            """,
        "propose.py": """\
            import os
            from pathlib import Path

            for path in (Path(os.environ["BEAKER_WORKSPACE"]) / "repository" / "src").rglob("*.py"):
                path.write_text("VALUE = 1\\n")
            """,
        ".gitignore": ".venv\n",
        ".beaker/beaker.yaml": """\
            integrations:
              demo:
                entrypoint: integration:integration
                source_dir: app
                targets: {kind: repository}
            config_defaults:
              harness_optimization: {command: [python, "{project}/propose.py"], max_proposals: 1}
            """,
    }
    for path, text in files.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(dedent(text))
    init_repository(project).unwrap()
    commit_all(project, "First").unwrap()
    (tmp_path / "data").mkdir()
    for split in ("train", "test"):
        rows = "".join(json.dumps({"id": f"{split}-{number}"}) + "\n" for number in range(2))
        (tmp_path / "data" / f"{split}.jsonl").write_text(rows)
    python = environment_of(project)
    beaker = [str(python), "-m", "beaker.cli", "--local"]
    environ = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [*beaker, *arguments], cwd=project, env=environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("dataset", "upload", str(tmp_path / "data"), "--name", "d")
    told = run("run", "trigger", "--dataset", "d", "--watch")
    assert "0.000 on TEST" in told
    assert "1.000 on TEST" in told


def environment_of(project: Path) -> Path:
    """An environment inside the project in which it is installed for editing; the path of its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(project / ".venv")], check=True)
    (site,) = (project / ".venv" / "lib").glob("python*/site-packages")
    ours = {sysconfig.get_path("purelib"), *(entry for entry in sys.path if entry and Path(entry).is_dir())}
    (site / "ours.pth").write_text("".join(f"{entry}\n" for entry in sorted(ours)))
    (site / "demo.pth").write_text(f"{project / 'src'}\nimport _demo_finder\n")
    (site / "_demo_finder.py").write_text(
        dedent(f"""\
            import sys
            from importlib.machinery import ModuleSpec

            class Finder:
                @classmethod
                def find_spec(cls, name, path=None, target=None):
                    if name == "space":
                        spec = ModuleSpec(name, None, is_package=True)
                        spec.submodule_search_locations = [{str(project / "src" / "space")!r}]
                        return spec

            sys.meta_path.insert(0, Finder)
            """)
    )
    (site / "demo-1.dist-info").mkdir()
    (site / "demo-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: demo\nVersion: 1\n")
    (site / "demo-1.dist-info" / "entry_points.txt").write_text("[demo.values]\nvalue = points:VALUE\n")
    return project / ".venv" / "bin" / "python"


def test_installed_copy_of_the_target__fails_the_run_and_says_why(laboratory: Callable[..., Any]) -> None:
    """Whatever candidates edited, the copy would run: the baseline cannot be measured, and the module is named."""
    lab = laboratory(train=4, test=2)
    pipeline(lab, targets='(repository(["src"]),)', declared="")
    text = (lab.project / "integration.py").read_text()
    text = text.replace("from kinds import classify\n", "")
    text = text.replace("    told = classify(", "    from kinds import classify\n    told = classify(")
    lab.write("integration.py", text.replace('str(Path(__file__).parent / "src")', repr(str(lab.root / "site"))))
    shutil.copytree(lab.project / "src", lab.root / "site")
    run = lab.run(lab.launch(max_proposals=1))
    assert run["status"] == "FAILED"
    assert "kinds (loaded from " in run["error_message"]
    assert "held at src/kinds/__init__.py" in run["error_message"]
    assert "pip install -e ." in run["error_message"]
