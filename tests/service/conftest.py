"""A place on this machine, whole but for its workers: a real repository, a real store, real blobs."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest

from beaker.client.api import Api
from beaker.client.flows import upload_dataset
from beaker.core.agent_values import values_of
from beaker.core.api import Response, build_request
from beaker.core.cases import CaseScore, Check
from beaker.core.environment import granted_environment
from beaker.core.evaluations import CaseError, Evaluation
from beaker.core.search import (
    Evaluate,
    Evaluated,
    Propose,
    Proposed,
    SearchSettings,
    entries_to_json,
    progress,
    start,
    step,
)
from beaker.core.search import Started as SearchStarted
from beaker.engine.candidates import CandidateTree, tree_digest
from beaker.files.git import commit_all, init_repository
from beaker.service.agent_values import SECRETS, SecretsFile
from beaker.service.embedded import EmbeddedTransport, LocalTransfers
from beaker.service.journal import StoredJournal
from beaker.service.local_repository import LocalRepository
from beaker.service.local_workers import LocalWorkers
from beaker.service.place import Place, open_place
from beaker.service.ports import Ports, timestamp
from beaker.service.run_table import start_attempt

CONFIG = """
integrations:
  demo:
    entrypoint: beaker_integration:integration
    package_import_root: .beaker
    targets: {kind: documents, groups: [playbooks]}
"""
PROPOSER = {"harness_optimization": {"command": ["python", "{project}/propose.py"]}}


@attrs.define
class Clock:
    """A clock that a test turns; every look moves it on by a millisecond."""

    now: datetime = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now


@attrs.define
class Workers:
    """Remembers what was asked of it, so that handlers can be tested without processes."""

    started: list[tuple[str, dict[str, str]]] = attrs.field(factory=list)
    stopped: list[str] = attrs.field(factory=list)

    def start(self, run_id: str, granted: Mapping[str, str]) -> None:
        self.started.append((run_id, dict(granted)))

    def stop(self, run_id: str) -> None:
        self.stopped.append(run_id)


@attrs.define
class World:
    """A place and what surrounds it. `environ` is the caller's environment, changeable."""

    root: Path
    place: Place
    clock: Clock
    workers: Workers
    environ: dict[str, str]
    ports: Ports
    transport: EmbeddedTransport
    api: Api

    def write(self, path: str, text: str) -> Path:
        """Write a file of the project."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def commit(self) -> str:
        """Commit the project as it is."""
        return commit_all(self.root, "more").unwrap()

    def raw(self, name: str, /, **arguments: Any) -> Response:
        """The response to a call, unread."""
        key = arguments.pop("idempotency_key", None)
        return self.transport.send(build_request(name, arguments, agent_key="local", idempotency_key=key).unwrap())

    def dataset(self, train: int = 20, test: int = 10, *, name: str = "inv", **options: Any) -> dict[str, Any]:
        """Upload a dataset with so many rows and return its artifact."""
        folder = self.root.parent / f"data-{name}-{train}-{test}"
        folder.mkdir(exist_ok=True)
        for split, count in (("train", train), ("test", test)):
            rows = [json.dumps({"id": f"{split}-{number}", "input": number}) + "\n" for number in range(count)]
            (folder / f"{split}.jsonl").write_text("".join(rows), encoding="utf-8")
        return upload_dataset(self.api, folder, name=name, **options).unwrap()

    def launch(self, **arguments: Any) -> dict[str, Any]:
        """Launch a run of the dataset `inv` and return it."""
        given = {"config": PROPOSER, "dataset_ref": "inv"} | arguments
        return self.api.call("create_optimization_run", **given).unwrap()

    def journal(self, run_id: str) -> StoredJournal:
        """The journal of a run."""
        return StoredJournal(self.place.database, run_id, now=self.clock)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A committed project, made once and copied for each test."""
    root = tmp_path_factory.mktemp("template") / "project"
    (root / ".beaker").mkdir(parents=True)
    (root / ".beaker" / "beaker.yaml").write_text(CONFIG, encoding="utf-8")
    (root / "propose.py").write_text("print('hello')\n", encoding="utf-8")
    init_repository(root).unwrap()
    commit_all(root, "first").unwrap()
    return root


@pytest.fixture
def project(template: Path, tmp_path: Path) -> Path:
    """A committed project."""
    shutil.copytree(template, tmp_path / "project", symlinks=True)
    return tmp_path / "project"


@pytest.fixture
def world(project: Path) -> Iterator[World]:
    root = project
    place = open_place(root / ".beaker" / "local")
    clock, workers, environ = Clock(), Workers(), dict[str, str]()
    numbers = iter(range(1, 1000))
    kept = SecretsFile(place.state_dir / SECRETS)
    ports = Ports(
        database=place.database,
        blobs=place.blobs,
        repository=LocalRepository(root, ".beaker/beaker.yaml"),
        workers=workers,
        transfers=LocalTransfers(),
        now=clock,
        new_id=lambda prefix: f"{prefix}_{next(numbers)}",
        granted=lambda names, agent_key: granted_environment(
            names, secrets=values_of(kept.read(), agent_key), caller=environ, dotenv={}
        ),
        unset=lambda names: tuple(name for name in names if name not in environ),
        program=lambda name: name in ("python", "/bin/sh"),
        secrets=kept,
    )
    transport = EmbeddedTransport(place, ports, LocalWorkers(place, environ))
    yield World(root, place, clock, workers, environ, ports, transport, Api(transport, "local"))
    place.database.close()


SEEDS = {"playbooks": {"a.md": "old", "b.md": "same"}}


@pytest.fixture
def play() -> Callable[..., None]:
    """Plays the engine's part for a run: searches, stores every result, and ends the run like a worker does.

    Each proposal changes `a.md`; candidate `n` scores `n * 0.2` everywhere, and the case `train-0` always fails.
    """

    def played(world: World, run_id: str, *, train: int = 3, test: int = 2, proposals: int = 2) -> None:
        start_attempt(world.place.database, run_id, now=timestamp(world.clock()))
        journal = world.journal(run_id)
        journal.set_facts(
            seed_documents=[
                {"source_id": name, "group": "playbooks", "name": name, "version": "1", "editable": True}
                for name in ("a.md", "b.md")
            ],
            targets_imported={"kind": "documents", "groups": ["playbooks"]},
        )
        baseline = CandidateTree(SEEDS)
        trees = {tree_digest(baseline): 0}
        journal.store_tree(tree_digest(baseline), baseline)
        settings = SearchSettings(max_rollouts=100, max_proposals=proposals)
        state = start(
            settings,
            [f"train-{number}" for number in range(train)],
            [f"test-{number}" for number in range(test)],
            tree_digest(baseline),
        ).unwrap()
        entries = list(step(state, SearchStarted())[1])
        journal.append(entries_to_json(entries), progress(state))
        while (command := next(iter(state.outstanding), None)) is not None and state.finished is None:
            if isinstance(command, Evaluate):
                objective = min(0.2 * trees[command.tree], 1.0)
                evaluations = [evaluated(case_id, objective) for case_id in command.case_ids]
                for evaluation in evaluations:
                    journal.store_evaluation(command.tree, evaluation)
                event: Any = Evaluated(command.seq, tuple((one.case_id, one.objective) for one in evaluations))
            elif isinstance(command, Propose):
                number = command.proposal
                child = CandidateTree({"playbooks": {"a.md": f"new {number}", "b.md": "same", "c.md": "created"}})
                trees[tree_digest(child)] = number
                journal.store_tree(tree_digest(child), child)
                event = Proposed(command.seq, "child", tree_digest(child), "done", ("playbooks/a.md",))
            entries = list(step(state, event)[1])
            journal.append(entries_to_json(entries), progress(state))
        winner = state.winner or 0
        result = {"baseline_id": f"{run_id}.0", "winner_id": f"{run_id}.{winner}", "test": None}
        journal.finish("COMPLETED", finish_reason=state.finished, error_message=None, result=result)

    return played


def evaluated(case_id: str, objective: float) -> Evaluation:
    """What a case gave: a score, or an error for `train-0`."""
    if case_id == "train-0":
        return Evaluation(case_id, error=CaseError("raised", "KeyError: 'x'", "Traceback ..."), duration_ms=2.5)
    score = CaseScore(objective, {"total": objective}, checks=(Check("fits", "pass"), Check("near", 0.5)))
    return Evaluation(case_id, output={"n": 1}, score=score, duration_ms=1.5, attempts=2)
