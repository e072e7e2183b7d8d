"""From an empty project to a branch with the fix: the commands in the order in which a person types them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

ENVIRON = {key: text for key, text in os.environ.items() if not key.startswith("BEAKER_")}

INTEGRATION = """\
from contextlib import asynccontextmanager

from beaker import (
    Case, CaseResult, CaseScore, DocumentRunSetupResult, Integration, RepositoryRunSetupResult, RunSetup,
    TargetDocument, documents, repository,
)
from desk.price import price


class Setup(RunSetup[dict]):
    row_model = dict

    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        vat = TargetDocument(source_id="1", group="rates", name="vat.txt", content="9")
        yield {
            "repository": RepositoryRunSetupResult(),
            "documents": DocumentRunSetupResult(target_documents=[vat]),
        }

    async def load_cases(self, row, *, runtime):
        yield Case(id=row["id"], input=row["net"], expected=row["gross"])


async def run_case(*, case_input, runtime):
    return CaseResult(price(case_input, int((runtime.targets_dir / "rates" / "vat.txt").read_text())))


async def score_case(*, case, result, case_files_dir):
    return CaseScore(float(result.output == case.expected), {})


integration = Integration(
    targets=[repository(["src"]), documents(groups=("rates",))],
    run_setup=Setup, run_case=run_case, score_case=score_case,
)
"""

PROPOSER = """\
import os
from pathlib import Path

workspace = Path(os.environ["BEAKER_WORKSPACE"])
price = workspace / "repository/src/desk/price.py"
price.write_bytes(price.read_bytes().replace(b"net + vat", b"net + net * vat // 100"))
(workspace / "repository/src/desk/\\u00e4 b.bin").write_bytes(bytes(range(256)))
(workspace / "documents/rates/vat.txt").write_text("20")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A package with a bug in it, and a dataset beside it."""
    root = tmp_path / "project"
    (root / "src/desk").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[project]\nname = "Desk"\n')
    (root / "src/desk/__init__.py").write_text("")
    (root / "src/desk/price.py").write_bytes(b"def price(net, vat):\r\n    return net + vat")
    (root / "check.py").write_text("import sys; sys.path.insert(0, 'src')\nfrom desk.price import price\n"
                                   "assert price(200, 10) == 220\n")  # fmt: skip
    (tmp_path / "dataset").mkdir()
    for split, count in (("train", 4), ("test", 3)):
        rows = [{"id": f"{split}{n}", "net": 100 * n + 100, "gross": 120 * n + 120} for n in range(count)]
        (tmp_path / "dataset" / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return root


def test_project__from_init_to_a_branch__is_fixed_without_touching_the_checkout(
    project: Path, tmp_path: Path, conforms: Callable[[object, str], None]
) -> None:
    """What is not committed runs as it is; the winner comes as a patch and as a branch, both on that very commit."""

    def beaker(*argv: str, code: int = 0) -> str:
        command = [sys.executable, "-m", "beaker.cli", *argv]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, env=ENVIRON, timeout=120)
        assert done.returncode == code, f"{argv} ended with {done.returncode}: {done.stderr}\n{done.stdout}"
        return done.stdout

    def git(*argv: str, cwd: Path = project) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "core.autocrlf=false")
        return subprocess.run(["git", *identity, *argv], cwd=cwd, capture_output=True, text=True, check=True).stdout

    git("init", "-q", "-b", "main")
    beaker("init", "--target", "src/desk/beaker_integration.py")
    config = project / ".beaker/beaker.yaml"
    settings: dict[str, Any] = {
        "dataset_ref": "desk",
        "harness_optimization": {"command": [sys.executable, "{project}/propose.py"], "max_proposals": 1},
    }
    config.write_text(f"{config.read_text()}config_defaults: {json.dumps(settings)}\n")
    git("add", "--all")
    git("commit", "-qm", "first")
    # Everything from here on is not committed when the run starts.
    (project / "src/desk/beaker_integration.py").write_text(INTEGRATION)
    (project / "propose.py").write_text(PROPOSER)
    git("add", "propose.py")
    beaker("--local", "dataset", "upload", "../dataset", "--name", "desk")
    beaker("--local", "run", "trigger", code=2)
    head, index = git("rev-parse", "HEAD"), (project / ".git/index").read_bytes()
    beaker("--local", "run", "trigger", "--allow-dirty", "--watch")
    assert (git("rev-parse", "HEAD"), (project / ".git/index").read_bytes()) == (head, index)

    run_id = json.loads(beaker("--local", "run", "list", "--json"))["runs"][0]["id"]
    table = beaker("--local", "run", "candidates", run_id).splitlines()
    assert "~src/desk/price.py" in table[2]
    assert "winner" in table[2]
    shown = json.loads(beaker("--local", "candidate", "show", f"{run_id}.1", "--diff", "--json"))
    conforms(shown, "cli-candidate-show.json")
    assert "+    return net + net * vat // 100\n" in shown["diff"]
    assert "-9\n\\ No newline at end of file\n+20\n" in shown["diff"]

    made = json.loads(beaker("--local", "candidate", "branch", run_id, "--name", "fix", "--json"))
    assert (git("rev-parse", "HEAD"), (project / ".git/index").read_bytes()) == (head, index)
    beaker("--local", "candidate", "branch", run_id, "--name", "fix", code=2)
    pulled = json.loads(beaker("--local", "run", "pull", run_id, "--output-dir", str(tmp_path / "out"), "--json"))
    assert {f"{run_id}/patch.diff", f"{run_id}/changes/rates.json"} <= {*pulled["files"]}
    clones = []
    for name in ("branch", "patch"):
        clone = tmp_path / name
        git("clone", "-q", "-c", "core.autocrlf=false", "--branch", "fix", str(project), str(clone), cwd=tmp_path)
        if name == "patch":
            git("checkout", "-q", made["parent"], cwd=clone)
            git("apply", "--index", str(tmp_path / "out" / run_id / "patch.diff"), cwd=clone)
        subprocess.run([sys.executable, "check.py"], cwd=clone, check=True)
        clones.append(git("write-tree", cwd=clone))
    assert clones[0] == clones[1]
    fixed = (tmp_path / "patch/src/desk/price.py").read_bytes()
    assert fixed == b"def price(net, vat):\r\n    return net + net * vat // 100"

    store = tmp_path / "store"
    (store / "rates").mkdir(parents=True)
    (store / "rates/vat.txt").write_text("9")
    changes = str(tmp_path / "out" / run_id / "changes/rates.json")
    beaker("changes", "apply", changes, "--dir", str(store))
    assert (store / "rates/vat.txt").read_text() == "20"
    beaker("changes", "revert", changes, "--dir", str(store))
    assert (store / "rates/vat.txt").read_text() == "9"
