"""The run worker: one process that takes one run of a place to its end (`python -m beaker.service.worker DIR RUN`).

With `--leashed` behind them it belongs to the process at the other end of its standard input, and stops when that ends.

It holds the run's lock as long as it lives. Whatever moment it is killed at, another one goes on from what was stored;
before that it ends what the killed one left running and removes its folder.

| exit status | meaning |
|---|---|
| 0 | the run has ended, or another worker has it |
| 2 | this machine refused (disk, store): the run stays open and is taken up again |
| 4 | the place was deleted, and with it the run |
| 130, 143 | stopped by SIGINT or SIGTERM: the run stays open unless it was cancelled |
"""

import asyncio
import os
import signal
import sqlite3
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn

from returns.pipeline import is_successful

from beaker.core.config_entry import kind_of_section
from beaker.core.environment import base_environment, names_credential, redactor
from beaker.core.inference import (
    API_KEY_VARIABLE,
    SCORER_API_KEY_VARIABLE,
)
from beaker.core.optimizer import OptimizerSettings, parse_launch_settings
from beaker.core.problems import Refused
from beaker.core.process_environment import process_environments
from beaker.core.proposer_settings import proposer_variables
from beaker.engine.cleaning import DATASET, cleaner
from beaker.engine.optimize import optimize
from beaker.engine.plan import RunPlan
from beaker.runtime.sandbox import entry_sandbox
from beaker.runtime.supervisor import Supervisor, end_recorded
from beaker.service.artifact_table import artifact_files
from beaker.service.journal import StoredJournal
from beaker.service.local_workers import GRANTED, LEASHED
from beaker.service.locks import acquire
from beaker.service.place import DATABASE, Place, deleted, open_place, utc_now
from beaker.service.ports import timestamp
from beaker.service.run_table import RunRecord, start_attempt
from beaker.service.sources import check_out, commit_files
from beaker.service.work_folder import WorkFolder
from beaker.service.worker_python import attempt_python

ENDED, REFUSED, DELETED = 0, 2, 4

LOOK_SECONDS = 0.5
"""How often a worker looks whether its run was cancelled (the signal that comes with it is faster), or deleted."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the worker of one run; the arguments are the place's folder and the run's id."""
    arguments = sys.argv[1:] if argv is None else argv
    leashed = arguments[2:] == [LEASHED]
    if len(arguments) != (3 if leashed else 2):
        print(f"usage: python -m beaker.service.worker STATE_DIR RUN_ID [{LEASHED}]", file=sys.stderr)
        return REFUSED
    state_dir = Path(arguments[0])
    try:
        if not (state_dir / DATABASE).exists():
            return _deleted(state_dir)  # opening it would make it anew
        return _work(open_place(state_dir), arguments[1], leashed=leashed)
    except Refused as refused:
        for problem in refused.problems:
            print(f"error: {problem}", file=sys.stderr)
    except (OSError, sqlite3.Error) as error:
        print(f"error: {type(error).__name__}: {error}", file=sys.stderr)
    return REFUSED


def _work(place: Place, run_id: str, *, leashed: bool) -> int:
    place.run_dir(run_id).mkdir(parents=True, exist_ok=True)
    lock = acquire(place.lock_path(run_id))
    if lock is None:
        return ENDED
    signal.signal(signal.SIGTERM, _unwind)
    end_recorded(place.record_path(run_id))
    _sweep(place)
    folder = WorkFolder(place.work_note(run_id), run_id)
    folder.remove()
    try:
        run = start_attempt(place.database, run_id, now=timestamp(utc_now()))
        return ENDED if run is None else asyncio.run(_attempt(place, run, folder.make(), leashed=leashed))
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # what is left to do takes a moment and leaves nothing behind
        folder.remove()
        place.database.close()
        lock.release()


def _sweep(place: Place) -> None:
    """Remove what workers of other runs left that were killed after their run had ended: nobody resumes those."""
    for note in (place.state_dir / "runs").glob(f"*/{place.work_note('').name}"):
        other = note.parent.name
        lock = acquire(place.lock_path(other), wait_seconds=0.0)
        if lock is not None:
            WorkFolder(note, other).remove()
            lock.release()


async def _attempt(place: Place, run: RunRecord, work: Path, *, leashed: bool) -> int:
    commit = cache(lambda: commit_files(place.blobs, run.source))
    journal = StoredJournal(
        place.database, run.id, now=utc_now, is_tracked=lambda path: path in commit(), keep=place.blobs.put
    )
    redact = redactor(_secrets(run))
    clean = cleaner(redact, work)
    stopped: list[int] = []
    try:
        _lay_out_dataset(place, run, work / DATASET)
        plan = run_plan(place, run, work=work, redact=redact)
        async with Supervisor(
            record=place.record_path(run.id),
            pycache=work / "pycache",
            redact=redact,
            warned=lambda problem: _say(f"warning: {problem}"),
        ) as supervisor:
            supervisor.become_subreaper()
            python = await attempt_python(
                place.run_dir(run.id),
                plan.original,
                plan.source_dir,
                supervisor,
                environ=os.environ,
                env=plan.setup_env,
            )
            if not is_successful(python):
                # Another shell may have the interpreter: the run stays open, and says why if none ever has.
                missing = python.failure()
                _remember(journal, clean(str(missing)))
                _say(f"error: {missing}\nhint: {missing.hint}")
                return REFUSED
            task = asyncio.create_task(optimize(plan, journal, supervisor, remark=lambda text: _say(redact(text))))
            _stop_on_signals(task, stopped)
            if leashed:
                _stop_without_owner(task, stopped)
            looking = asyncio.create_task(_stop_when_over(task, journal, place))
            try:
                await task
            except asyncio.CancelledError:
                if place.gone():
                    return _deleted(place.state_dir)
                if not stopped or journal.cancelled():
                    return ENDED
                return 128 + stopped[0]
            finally:
                looking.cancel()
    except Exception as error:
        if place.gone():
            return _deleted(place.state_dir)  # whatever it met first
        if isinstance(error, OSError | sqlite3.Error):
            # Not the run's fault: it stays open, and says why if no attempt ever gets further.
            _remember(journal, clean(f"{type(error).__name__}: {error}"))
            raise
        if isinstance(error, Refused):
            _finish_failed(journal, clean("\n".join(map(str, error.problems))))
        else:
            _say(redact(traceback.format_exc()))
            _finish_failed(journal, clean(f"an error inside Beaker: {type(error).__name__}: {error}"))
    return ENDED


def run_plan(place: Place, run: RunRecord, *, work: Path, redact: Callable[[str], str]) -> RunPlan:
    """What the engine needs to know about a run. Raises `Refused` for settings that this Beaker does not take."""
    parsed = parse_launch_settings(run.settings)
    if not is_successful(parsed):
        raise Refused(parsed.failure())
    settings = parsed.unwrap()
    judge = run.entry.get("scorer_model")
    kind = kind_of_section(str(run.entry.get("section", "integrations")))
    environments = process_environments(
        os.environ, _granted_values(run), run_id=run.id, judge=None if judge is None else str(judge), kind=kind
    )
    package_root = run.entry.get("package_import_root")
    isolation = run.entry.get("isolation")
    network = run.entry.get("sandbox_network") is True
    sandbox = entry_sandbox(isolation, network=network, judged=environments.judged)
    if not is_successful(sandbox):
        raise Refused(sandbox.failure())
    return RunPlan(
        run_id=run.id,
        check_out=lambda folder: check_out(place.blobs, run.source, folder),
        commit=cache(lambda: commit_files(place.blobs, run.source)),
        entrypoint=str(run.entry["entrypoint"]),
        source_dir=str(run.entry["source_dir"]),
        package_import_root=None if package_root is None else str(package_root),
        original=None if run.checkout is None else Path(run.checkout),
        declared_targets=run.targets,
        settings=settings,
        dataset_dir=work / DATASET,
        dataset_name=str(run.dataset["name"]),
        dataset_revision=str(run.dataset["revision"]),
        work=work,
        note=place.run_dir(run.id) / "in_flight.jsonl",
        setup_env=environments.code,
        rollout_env=environments.code,
        scorer_env=environments.scorer,
        proposer_env=base_environment(os.environ, settings.optimizer.proposer_env),
        redact=redact,
        credentials_out=redactor([*_credentials(run), *filter(None, [_reflection_key(settings.optimizer)])]),
        reflection_key=_reflection_key(settings.optimizer),
        process_per_case=isolation is not None,
        sandbox=sandbox.unwrap(),
        kind=kind,
    )


def _lay_out_dataset(place: Place, run: RunRecord, folder: Path) -> None:
    folder.mkdir()
    for file in artifact_files(place.database, run.dataset_id):
        target = folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        place.blobs.copy(file.sha256, target)


def _secrets(run: RunRecord) -> list[str]:
    """The values that must not be kept anywhere: what the run was granted, what its proposer gets, keys of models."""
    return [text for _, text in _held(run)]


def _credentials(run: RunRecord) -> list[str]:
    """Those of them whose name says that they are credentials; a folder or a model's name may well stand in an edit."""
    return [text for name, text in _held(run) if names_credential(name)]


def _held(run: RunRecord) -> list[tuple[str, str]]:
    """Names and values that this process holds for others, what was granted before what the caller has."""
    passed = proposer_variables(run.settings.get("harness_optimization"))
    names = (*_names(run.entry.get("required_env")), *passed, API_KEY_VARIABLE, SCORER_API_KEY_VARIABLE)
    ours = [(name, os.environ[name]) for name in names if name in os.environ]
    return [*_granted_values(run).items(), *ours]


def _granted_values(run: RunRecord) -> dict[str, str]:
    """What the integration's code gets: the value that was granted, else the one of the environment."""
    names = _names(run.entry.get("required_env"))
    places = {name: next((key for key in (f"{GRANTED}{name}", name) if key in os.environ), None) for name in names}
    return {name: os.environ[key] for name, key in places.items() if key is not None}


def _reflection_key(optimizer: OptimizerSettings) -> str | None:
    name = None if optimizer.reflection is None else optimizer.reflection.api_key_env
    return None if name is None else os.environ.get(name)


def _names(listed: object) -> tuple[str, ...]:
    return tuple(map(str, listed)) if isinstance(listed, list) else ()


def _unwind(number: int, _: object) -> NoReturn:
    """SIGTERM before the attempt listens to it."""
    raise SystemExit(128 + number)


def _stop_on_signals(task: "asyncio.Task[None]", stopped: list[int]) -> None:
    """The first signal stops the attempt, which ends what it started; the second ends the process at once."""

    def stop(number: int) -> None:
        stopped.append(number)
        if len(stopped) > 1:
            os._exit(128 + number)  # the watchdog of the supervisor ends what is left
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop, number)


def _stop_without_owner(task: "asyncio.Task[None]", stopped: list[int]) -> None:
    """Stop the attempt, as SIGTERM does, when the other end of standard input closes."""
    loop, owner = asyncio.get_running_loop(), sys.stdin.fileno()

    def look() -> None:
        if os.read(owner, 1):
            return
        loop.remove_reader(owner)
        if not stopped:  # asked already, it is on its way
            stopped.append(signal.SIGTERM)
            task.cancel()

    loop.add_reader(owner, look)


async def _stop_when_over(task: "asyncio.Task[None]", journal: StoredJournal, place: Place) -> None:
    while not place.gone() and not journal.cancelled():
        await asyncio.sleep(LOOK_SECONDS)
    task.cancel()


def _deleted(state_dir: Path) -> int:
    _say(f"error: {deleted(state_dir)}; this worker ends")
    return DELETED


def _remember(journal: StoredJournal, error: str) -> None:
    try:
        journal.set_facts(last_error=error)
    except sqlite3.Error:
        pass


def _finish_failed(journal: StoredJournal, message: str) -> None:
    journal.finish("FAILED", finish_reason="error", error_message=message, result=None)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
