"""A whole run on data that people collected: is a user-agent string a crawler's or a browser's?

Crawlers come from the package `crawler-user-agents`, browsers from `fake-useragent`; no string is committed here. The
system under optimization holds a list of signatures that starts nearly empty; a script learns more from TRAIN evidence.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

TRAIN, TEST = 400, 200

CONFIG = """\
integrations:
  agents:
    entrypoint: agent_integration:integration
    targets: {kind: documents, groups: [signatures]}
config_defaults:
  local_dataset_path: ../dataset
  max_concurrency: 2
  harness_optimization:
    command: [%s, "{project}/%s"]
    max_rollouts: 3000
    max_proposals: 8
    minibatch_size: 40
    seed: 3
"""

INTEGRATION = '''\
"""Crawler or browser, decided by the signatures of a document."""

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypedDict

from beaker import (
    Case, CaseResult, CaseScore, DocumentRunSetupResult, FieldDiff, Integration, RunSetup, TargetDocument, documents,
)


class Row(TypedDict):
    id: str
    user_agent: str
    kind: str


class Setup(RunSetup[Row]):
    row_model = Row

    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        text = "# a user agent that holds one of these is a crawler\\ngooglebot\\n"
        seed = TargetDocument(source_id="crawlers", group="signatures", name="crawlers.txt", content=text)
        yield {"documents": DocumentRunSetupResult(target_documents=[seed])}

    async def load_cases(self, row, *, runtime):
        yield Case(id=row["id"], input=row["user_agent"], expected=row["kind"])


async def run_case(*, case_input, runtime):
    lines = (runtime.targets_dir / "signatures" / "crawlers.txt").read_text(encoding="utf-8").splitlines()
    agent = case_input.casefold()
    found = any(line in agent for line in lines if line and not line.startswith("#"))
    return CaseResult("crawler" if found else "browser", output_kind="value")


async def score_case(*, case, result, case_files_dir):
    right = result.output == case.expected
    diffs = [] if right else [FieldDiff("kind", result.output, case.expected)]
    return CaseScore(float(right), {"kind": float(right)}, diffs)


integration = Integration(
    targets=documents(groups=("signatures",)), run_setup=Setup, run_case=run_case, score_case=score_case
)
'''

LEARNER = '''\
"""Adds the pieces of words that several crawlers of the evidence share and no browser of it has."""

import json
import os
import re
from collections import Counter
from pathlib import Path

SUPPORT = 5
document = Path(os.environ["BEAKER_WORKSPACE"]) / "documents" / "signatures" / "crawlers.txt"
lines = document.read_text(encoding="utf-8").splitlines()
cases = [json.loads(path.read_text()) for path in (Path(os.environ["BEAKER_EVIDENCE"]) / "cases").glob("*.json")]
browsers = [case["input"].casefold() for case in cases if case["expected"] == "browser"]
crawlers = [case["input"].casefold() for case in cases if case["expected"] == "crawler"]
missed = [agent for agent in crawlers if not any(line in agent for line in lines if not line.startswith("#"))]


def pieces(agent):
    words = re.findall(r"[a-z]{3,}", agent)
    return {word[a:b] for word in words for a in range(len(word)) for b in range(a + 3, min(len(word), a + 9) + 1)}


while missed and len(browsers) >= 2 * SUPPORT:
    count = Counter(piece for agent in missed for piece in pieces(agent))
    known = [(-n, -len(piece), piece) for piece, n in count.items() if n >= SUPPORT]
    good = next((piece for _, _, piece in sorted(known) if not any(piece in agent for agent in browsers)), None)
    if good is None:
        break
    lines.append(good)
    missed = [agent for agent in missed if good not in agent]
    print("learned", good)
document.write_text("\\n".join(lines) + "\\n", encoding="utf-8")
'''

PERMUTED = '''\
"""Gives every case of the evidence the expected value of another one, then learns from that."""

import json
import os
import runpy
from pathlib import Path

folder = Path(os.environ["BEAKER_EVIDENCE"]) / "cases"
paths = sorted(folder.glob("*.json"))
cases = [json.loads(path.read_text()) for path in paths]
shift = 1 + int(os.environ["BEAKER_PROPOSAL_SEED"]) % max(1, len(cases) - 1)
moved = [case["expected"] for case in cases[shift:] + cases[:shift]]
for path, case, expected in zip(paths, cases, moved):
    path.chmod(0o644)
    path.write_text(json.dumps({**case, "expected": expected}))
runpy.run_path(str(Path(__file__).with_name("learn.py")))
'''


def package_file(package: str, name: str) -> Path:
    """A file inside an installed package, found without importing the package."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / name


def by_hash(strings: Iterable[str]) -> list[str]:
    """Distinct strings in the order of their SHA-256: the choice depends on the strings alone."""
    return sorted(set(strings), key=lambda text: sha256(text.encode()).hexdigest())


def write_rows(folder: Path) -> None:
    """400 TRAIN and 200 TEST rows, half crawlers and half browsers, all distinct."""
    listed = json.loads(package_file("crawleruseragents", "crawler-user-agents.json").read_text(encoding="utf-8"))
    crawlers = by_hash(agent for entry in listed for agent in entry["instances"])
    lines = package_file("fake_useragent", "data/browsers.jsonl").read_text(encoding="utf-8").splitlines()
    browsers = by_hash({json.loads(line)["useragent"] for line in lines} - set(crawlers))
    folder.mkdir()
    half = TRAIN // 2
    for split, part in (("train", slice(0, half)), ("test", slice(half, half + TEST // 2))):
        chosen = [(agent, "crawler") for agent in crawlers[part]] + [(agent, "browser") for agent in browsers[part]]
        rows = [
            {"id": sha256(agent.encode()).hexdigest()[:16], "user_agent": agent, "kind": kind}
            for agent, kind in sorted(chosen)
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{split}.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture
def optimized(tmp_path: Path) -> Callable[[str], dict[str, Any]]:
    """Make a project whose proposer is this script, run it to its end, and return the run's answer."""

    def optimize(script: str) -> dict[str, Any]:
        write_rows(tmp_path / "dataset")
        project = tmp_path / "project"
        (project / ".beaker").mkdir(parents=True)
        files = {
            ".beaker/beaker.yaml": CONFIG % (json.dumps(sys.executable), script),
            "agent_integration.py": INTEGRATION,
            "learn.py": LEARNER,
            "permuted.py": PERMUTED,
        }
        for name, text in files.items():
            (project / name).write_text(text, encoding="utf-8")
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgSign=false"]
        for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "start"]):
            subprocess.run([*git, *arguments], cwd=project, check=True)

        def beaker(*argv: str) -> str:
            done = subprocess.run(
                [sys.executable, "-m", "beaker.cli", "--local", *argv],
                cwd=project,
                capture_output=True,
                text=True,
                check=False,
                env={key: value for key, value in os.environ.items() if not key.startswith("BEAKER_")},
            )
            assert done.returncode == 0, f"{argv}: {done.stderr}\n{done.stdout}"
            return done.stdout

        beaker("run", "smoke", "--json")
        beaker("dataset", "upload", "../dataset", "--name", "agents", "--json")
        lines = beaker("run", "trigger", "--dataset", "agents", "--watch", "--json").splitlines()
        answer: dict[str, Any] = json.loads(lines[-1])
        return answer

    return optimize


def test_run__real_user_agents__the_winner_is_much_better_on_test(
    optimized: Callable[[str], dict[str, Any]],
) -> None:
    """Signatures learned from TRAIN evidence hold on strings that were never looked at."""
    run = optimized("learn.py")
    test = run["result"]["test"]
    assert run["dataset"]["split_row_counts"] == {"train": TRAIN, "test": TEST}
    assert 0.45 <= test["baseline"] <= 0.55
    assert test["difference"] >= 0.2
    assert test["low"] > 0.1
    assert test["n"] == TEST


@pytest.mark.soak
def test_run__expected_values_permuted__hardly_gains(optimized: Callable[[str], dict[str, Any]]) -> None:
    """With the expected values of other cases there is nothing to learn: what was learned came from the evidence."""
    test = optimized("permuted.py")["result"]["test"]
    assert test["difference"] < 0.1
