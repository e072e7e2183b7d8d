"""Golden stores: what an earlier version wrote is read as it was meant."""

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from beaker import __version__
from beaker.client.api import Api
from beaker.core.evaluations import Evaluation
from beaker.core.problems import Refused
from beaker.service.embedded import EmbeddedTransport, open_embedded
from beaker.service.journal import StoredJournal
from beaker.service.place import utc_now
from beaker.service.run_table import find_run
from beaker.service.worker import run_plan

GOLDEN = Path(__file__).parent / "golden"
VERSIONS = sorted(path.stem.removeprefix("store-") for path in GOLDEN.glob("store-*.sql"))


def opened(project: Path, version: str) -> EmbeddedTransport:
    """The place of a project whose store this version wrote."""
    state = project / ".beaker" / "local"
    state.mkdir()
    connection = sqlite3.connect(state / "beaker.db")
    connection.executescript((GOLDEN / f"store-{version}.sql").read_text(encoding="utf-8"))
    connection.close()
    return open_embedded(project, None, os.environ)


def ended_run(api: Api) -> str:
    """The id of the run that completed."""
    runs = api.call("list_optimization_runs", status="COMPLETED").unwrap()["runs"]
    (run,) = runs
    assert isinstance(run, dict)
    return str(run["id"])


def within(expected: Any, found: Any) -> Any:
    """`found` without the keys that a later version added."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return {key: within(item, found[key]) for key, item in expected.items() if key in found}
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [within(*pair) for pair in zip(expected, found, strict=True)]
    return found


def test_golden__this_version__has_a_store() -> None:
    """Every version leaves one (`python tests/service/golden/write.py`)."""
    assert __version__ in VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_golden__store__answers_as_it_did(project: Path, version: str) -> None:
    """Runs, datasets, candidates and reports say what they said; nothing but new keys may be added."""
    said = json.loads((GOLDEN / f"store-{version}.json").read_text(encoding="utf-8"))
    with opened(project, version) as place:
        api = Api(place, "local")
        run_id = ended_run(api)
        found = {
            "runs": api.call("list_optimization_runs").unwrap()["runs"],
            "datasets": api.call("list_datasets").unwrap()["datasets"],
            "candidates": api.call("list_candidates", run_id=run_id).unwrap(),
            "eval_reports": api.call("list_eval_reports", run_id=run_id).unwrap()["eval_reports"],
        }
        assert within(said, found) == said
        winner = found["candidates"]["winner_id"]
        offered = api.call("create_candidate_download", candidate_id=winner).unwrap()
        assert "changes/playbooks.json" in [file["path"] for file in offered["files"]]


@pytest.mark.parametrize("version", VERSIONS)
def test_golden__store__is_gone_on_with(project: Path, tmp_path: Path, version: str) -> None:
    """What a worker reads when it takes up a run: its plan, its evaluations, its proposals, its facts, its trees."""
    with opened(project, version) as place:
        run_id = ended_run(Api(place, "local"))
        run = find_run(place.place.database, run_id)
        assert run is not None
        plan = run_plan(place.place, run, work=tmp_path, redact=str)
        assert (plan.settings.optimizer.max_proposals, plan.settings.optimizer.timeouts.run_case) == (3, 30.0)
        journal = StoredJournal(place.place.database, run_id, now=utc_now)
        trees = [entry["tree"] for entry in journal.log() if entry["type"] == "evaluate"]
        found = journal.evaluations(str(trees[0]), ["train-1", "train-3"])
        assert all(isinstance(one, Evaluation) for one in found.values())
        assert [one.error is None for one in found.values()] == [True, False]
        assert "playbooks" in journal.tree(str(trees[0])).documents
        assert {"seed_documents", "targets_imported", "settings"} <= journal.facts().keys()
        commands = [entry["seq"] for entry in journal.log() if entry["type"] == "propose"]
        assert all(journal.proposal(int(str(seq))) is not None for seq in commands)


def test_golden__proposals_of_an_early_build__are_shown_without_what_it_did_not_keep(project: Path) -> None:
    """Early builds did not say in the record which proposal it is, nor keep what was printed."""
    with opened(project, VERSIONS[0]) as place:
        api = Api(place, "local")
        run_id = ended_run(api)
        whole = api.call("list_candidates", run_id=run_id).unwrap()["proposals"]
        assert whole[0]["stdout"] == "tried 0\n"
        for removed, kept in ((("proposal",), {}), (("stdout", "stderr"), {"stdout": "", "stderr": ""})):
            paths = ", ".join(f"'$.{key}'" for key in removed)
            place.place.database.execute(f"UPDATE proposals SET result = json_remove(result, {paths})")
            assert api.call("list_candidates", run_id=run_id).unwrap()["proposals"] == [one | kept for one in whole]


def test_golden__store_of_a_later_schema__is_refused(project: Path) -> None:
    """A later version's store is left alone."""
    opened(project, VERSIONS[-1]).close()
    state = project / ".beaker" / "local"
    connection = sqlite3.connect(state / "beaker.db")
    with connection:
        connection.execute("UPDATE schema_version SET version = version + 1")
    connection.close()
    with pytest.raises(Refused) as refused:
        open_embedded(project, None, os.environ)
    assert refused.value.problems[0].code == "BK471"
