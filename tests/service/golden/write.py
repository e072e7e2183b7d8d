"""Writes the golden store of this version: `python tests/service/golden/write.py` (a few seconds).

A small real run and a cancelled one, as SQL text (`store-VERSION.sql`), and what the API answers about them
(`store-VERSION.json`). Files of released versions stay as they are: later versions must go on reading them.
"""

import json
import os
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

from beaker import __version__
from beaker.client.api import Api
from beaker.client.flows import upload_dataset
from beaker.files.git import commit_all, init_repository
from beaker.service.embedded import open_embedded

CONFIG = """
integrations:
  demo:
    entrypoint: golden_integration:integration
    package_import_root: .beaker
    targets: {kind: documents, groups: [playbooks]}
"""

INTEGRATION = """
from contextlib import asynccontextmanager

from beaker import (
    Case, CaseResult, CaseScore, Check, DocumentRunSetupResult, FieldDiff, Integration, RunSetup, TargetDocument,
    documents,
)


class Setup(RunSetup[dict]):
    row_model = dict

    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        rules = TargetDocument(source_id="1", group="playbooks", name="rules.md", content="none", version="1")
        fixed = TargetDocument(source_id="2", group="playbooks", name="fixed.md", content="stays", editable=False)
        yield {"documents": DocumentRunSetupResult(target_documents=[rules, fixed])}

    async def load_cases(self, row, *, runtime):
        yield Case(id=row["id"], input=row["n"], expected=row["n"])


async def run_case(*, case_input, runtime):
    if case_input == 3:
        raise KeyError("no rule for 3")
    return CaseResult((runtime.targets_dir / "playbooks" / "rules.md").read_text(), "text")


async def score_case(*, case, result, case_files_dir):
    share = 1.0 if str(case.expected) in result.output else 0.25
    diffs = [FieldDiff("n", result.output, case.expected)]
    return CaseScore(share, {"n": share}, diffs, [Check("found", share, expected=case.expected)])


TARGETS = documents(groups=("playbooks",))
integration = Integration(targets=TARGETS, run_setup=Setup, run_case=run_case, score_case=score_case)
"""

PROPOSER = """
import json, pathlib, sys
history = json.loads(pathlib.Path("evidence/summary.json").read_text())["history"]
print("tried", len(history))
if pathlib.Path("documents/playbooks/rules.md").read_text() == "none":
    pathlib.Path("documents/playbooks/rules.md").write_text("1 2 4 5")
else:
    sys.exit("nothing more to learn")
"""


def main() -> int:
    """Make the project, run it, and write both files beside this one."""
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        for path, text in {
            ".beaker/beaker.yaml": CONFIG,
            ".beaker/golden_integration.py": INTEGRATION,
            "propose.py": PROPOSER,
        }.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        init_repository(root).unwrap()
        commit_all(root, "first").unwrap()
        data = Path(folder) / "data"
        data.mkdir()
        for split, numbers in (("train", (1, 2, 3, 4)), ("test", (4, 5, 6))):
            rows = [json.dumps({"id": f"{split}-{number}", "n": number}) + "\n" for number in numbers]
            (data / f"{split}.jsonl").write_text("".join(rows), encoding="utf-8")
        with open_embedded(root, None, os.environ, foreground=True) as place:
            api = Api(place, "local")
            upload_dataset(api, data, name="numbers", metadata={"source": "made"}).unwrap()
            command = [sys.executable, "{project}/propose.py"]
            config = {"harness_optimization": {"command": command, "max_proposals": 3, "timeouts": {"run_case": 30}}}
            given: dict[str, Any] = {"config": config, "dataset_ref": "numbers"}
            ended = api.call("create_optimization_run", idempotency_key="golden", **given).unwrap()["id"]
            place.workers.process(ended).wait()  # type: ignore[union-attr]  # it was just started here
            cancelled = api.call("create_optimization_run", **given).unwrap()["id"]
            api.call("cancel_optimization_run", run_id=cancelled).unwrap()
            place.workers.process(cancelled).wait()  # type: ignore[union-attr]  # it was just started here
            answers = {
                "runs": api.call("list_optimization_runs").unwrap()["runs"],
                "datasets": api.call("list_datasets").unwrap()["datasets"],
                "candidates": api.call("list_candidates", run_id=ended).unwrap(),
                "eval_reports": api.call("list_eval_reports", run_id=ended).unwrap()["eval_reports"],
            }
            database = place.place.state_dir / "beaker.db"
        connection = sqlite3.connect(database)
        dump = "".join(f"{line}\n" for line in connection.iterdump())
        connection.close()
    dump = dump.replace(str(root.resolve()), "/project").replace(sys.executable, "python")
    said = json.dumps(answers, indent=1, sort_keys=True).replace(sys.executable, "python")
    (here / f"store-{__version__}.sql").write_text(dump, encoding="utf-8")
    (here / f"store-{__version__}.json").write_text(f"{said}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
