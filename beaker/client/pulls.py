"""Pulling a run: everything that a place has of it, into a folder of its own, all or nothing."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

import attrs
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.client.api import Api
from beaker.client.fetching import Progress
from beaker.client.flows import download_artifacts, download_candidate
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.pulled import PULLED, PULLED_BESIDE, PULLED_OF_A_CANDIDATE, choose_candidate, wanted_files
from beaker.core.strict_json import JsonObject
from beaker.core.text import checked, name
from beaker.core.values import value
from beaker.files.atomic import write_text
from beaker.files.folders import replacing_folder

T = TypeVar("T")

MALFORMED = "BK812"
"""The problem of a place that does not describe the files of a candidate as ours do."""


@value(kw_only=True)
class Pulled:
    """What was pulled: `directory` holds `files`, paths from there; `beside` stand in the folder around it, `replaced`
    in the place of others.

    `run` and `candidates` are the answers about them. `chosen` is the candidate whose files came, in `directory` when
    it is the winner, else in `best/` below it. `missing` says which files the place could not give.
    """

    run_id: str
    status: str | None
    winner_id: str | None
    chosen: str | None
    directory: Path
    files: tuple[str, ...]
    beside: tuple[str, ...]
    replaced: tuple[str, ...] = ()
    missing: Problems = ()
    run: Mapping[str, Any] = attrs.field(factory=dict, repr=False)
    candidates: Mapping[str, Any] = attrs.field(factory=dict, repr=False)


def pull_run(
    api: Api, run_id: str, output: Path, *, only: Collection[str] = (), progress: Progress | None = None
) -> Result[Pulled, Problem]:
    """Write `output`/`run_id` with everything the place has of a run, and its candidates and reports beside it too.

    With `only`, names of `core.pulled.PULLED`, the rest stays as it was. Fetched first, written last: what was there
    before stays until everything new is in place. Raises `OSError` for what cannot be written. BK902 for an id that
    names no folder and for other names in `only`.
    """
    named = checked(name, run_id, "RUN_ID", "BK902")
    if not is_successful(named):
        return Failure(named.failure())
    if unknown := sorted(set(only) - set(PULLED)):
        return Failure(Problem("BK902", f"nothing is called {', '.join(unknown)}", "only", ", ".join(PULLED)))
    try:
        return Success(_pull(api, run_id, output, frozenset(only), progress))
    except Refused as refused:
        return Failure(refused.problems[0])


def _pull(api: Api, run_id: str, output: Path, only: frozenset[str], progress: Progress | None) -> Pulled:
    of_a_candidate = not only or not only.isdisjoint(PULLED_OF_A_CANDIDATE)
    replaced_here = only | {"best"} if only and of_a_candidate else only
    folder = output / run_id
    missing: list[Problem] = []
    with replacing_folder(folder, only=replaced_here) as fresh:
        run = _answered(api.call("get_optimization_run", run_id=run_id))
        candidates = _answered(api.call("list_candidates", run_id=run_id))
        reports = _answered(api.call("list_eval_reports", run_id=run_id))
        bodies = {"run.json": run, "candidates.json": candidates, "eval_reports.json": reports}
        for file, body in bodies.items():
            if wanted_files(only, file):
                write_text(fresh / file, _pretty(body))
        chosen = choose_candidate(run, candidates)
        if chosen.candidate_id is not None and of_a_candidate:
            come = download_candidate(
                api,
                chosen.candidate_id,
                fresh / "best" if chosen.best else fresh,
                wanted=lambda path: wanted_files(only, path),
                progress=progress,
            )
            if not is_successful(come) and come.failure().code == MALFORMED:
                message = f"the files of {chosen.candidate_id} are left out: {come.failure().message}"
                missing.append(Problem(MALFORMED, message, hint="the place may show them on a page of its own"))
            else:
                _answered(come)
        if wanted_files(only, "proposals"):
            _answered(download_artifacts(api, candidates, fresh / "proposals"))
        files = files_below(fresh)
    beside = {file: _pretty(bodies[file]) for file in PULLED_BESIDE if wanted_files(only, file)}
    replaced = [file for file, text in beside.items() if _holds_other(output / file, text)]
    for file, text in beside.items():
        write_text(output / file, text)
    winner, status = candidates.get("winner_id"), run.get("status")
    return Pulled(
        run_id=run_id,
        status=status if isinstance(status, str) else None,
        winner_id=winner if isinstance(winner, str) else None,
        chosen=chosen.candidate_id,
        directory=folder,
        files=files,
        beside=tuple(beside),
        replaced=tuple(replaced),
        missing=tuple(missing),
        run=run,
        candidates=candidates,
    )


def files_below(folder: Path) -> tuple[str, ...]:
    """Paths of every file below a folder, counted from there, sorted."""
    return tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()))


def _answered(result: Result[T, Problem]) -> T:
    if is_successful(result):
        return result.unwrap()
    raise Refused(result.failure())


def _holds_other(path: Path, text: str) -> bool:
    """Whether something else than `text` stands there."""
    try:
        return path.read_bytes() != text.encode()
    except FileNotFoundError:
        return False


def _pretty(body: JsonObject) -> str:
    return json.dumps(body, indent=2, allow_nan=False)
