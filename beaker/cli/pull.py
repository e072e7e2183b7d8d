"""`beaker run pull`: everything a run has, into a folder of its own, all or nothing."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import add_agent_option, add_leaf
from beaker.cli.run_view import failure_lines, mapping, result_lines, search_text
from beaker.cli.shell import DONE, Io, one_line
from beaker.cli.words import counted

if TYPE_CHECKING:
    from beaker.cli.place import Answer


def add_pull(actions: Any) -> None:
    """Add `run pull`."""
    leaf = add_leaf(
        actions,
        "pull",
        help="fetch candidates, reports, the winner's documents and change sets",
        description="Writes OUTPUT_DIR/candidates.json, OUTPUT_DIR/eval_reports.json and a folder OUTPUT_DIR/RUN_ID "
        "with them, run.json, changes/ and tree/. A run without a winner, unfinished or cancelled, gives its best "
        "candidate so far in best/ instead.",
    )
    leaf.add_argument("run_id", metavar="RUN_ID")
    leaf.add_argument("--output-dir", default=".", metavar="DIR", help="where to write (default: here)")
    add_agent_option(leaf)


def pull(arguments: argparse.Namespace, io: Io) -> int:
    """Fetch first, write last; what was there before stays until everything new is in place."""
    from beaker.cli.place import answered, opened
    from beaker.client.flows import download_candidate
    from beaker.core.text import name
    from beaker.files.atomic import write_text

    run_id: str = arguments.run_id
    output = (io.cwd / arguments.output_dir).resolve()
    folder = output / _folder_name(name, run_id)
    output.mkdir(parents=True, exist_ok=True)
    with opened(arguments, io) as place, _replaced(folder) as fresh:
        run = place.call("get_optimization_run", run_id=run_id)
        candidates = place.call("list_candidates", run_id=run_id)
        reports = place.call("list_eval_reports", run_id=run_id)
        winner = candidates.get("winner_id")
        best = mapping(mapping(run.get("progress")).get("best")).get("candidate_id")
        bodies = {"run.json": run, "candidates.json": candidates, "eval_reports.json": reports}
        for file, body in bodies.items():
            write_text(fresh / file, _pretty(body))
        if isinstance(winner, str):
            answered(download_candidate(place.api, winner, fresh))
        elif isinstance(best, str):
            answered(download_candidate(place.api, best, fresh / "best"))
    beside = {file: _pretty(bodies[file]) for file in ("candidates.json", "eval_reports.json")}
    replaced = [file for file, text in beside.items() if _holds_other(output / file, text)]
    for file, text in beside.items():
        write_text(output / file, text)
    pulled = sorted(path.relative_to(output).as_posix() for path in folder.rglob("*") if path.is_file())
    if io.json:
        io.json_line(
            {
                "run_id": run_id,
                "status": run.get("status"),
                "winner_id": winner,
                "directory": str(folder),
                "files": [*beside, *pulled],
            }
        )
        return DONE
    io.out(f"beaker run pull: {counted(len(pulled), 'file')} in {one_line(str(folder))}")
    for file in beside:
        io.out(f"  beside it  {one_line(str(output / file))}", " (replaced another one)" if file in replaced else "")
    if text := search_text(run):
        io.out(f"  search     {text}")
    for line in (*failure_lines(run), *result_lines(mapping(run.get("result")))):
        io.out(f"  {line}")
    if winner is None:
        io.out(f"  no winner  {_no_winner(run.get('status'))}")
        if isinstance(best, str):
            io.out(f"  best       {one_line(best)} on TRAIN, not proven on TEST: {one_line(str(folder / 'best'))}")
    for change_set in sorted((folder / "changes").glob("*.json")):
        io.out(f"  changes    {one_line(str(change_set))}")
    return DONE


def _no_winner(status: object) -> str:
    """Why a run has none."""
    from beaker.core.runs import has_ended, normal_status

    if not has_ended(status):
        return "yet: the run has not ended"
    return f"since the run ended {one_line(normal_status(status))} before one was proven"


def _holds_other(path: Path, text: str) -> bool:
    """Whether something else than `text` stands there."""
    try:
        return path.read_bytes() != text.encode()
    except FileNotFoundError:
        return False


def _folder_name(rule: Any, run_id: str) -> str:
    from beaker.core.problems import Problem, Refused

    try:
        return str(rule(run_id, "RUN_ID"))
    except ValueError as error:
        raise Refused(Problem("BK902", str(error))) from None


@contextmanager
def _replaced(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder` that takes its place when the block ends, and goes away when it raises."""
    import secrets

    mark = secrets.token_hex(4)
    fresh, old = (folder.with_name(f".{folder.name}.{kind}-{mark}") for kind in ("new", "old"))
    fresh.mkdir()
    try:
        yield fresh
        if folder.exists():
            os.rename(folder, old)
        os.rename(fresh, folder)
    except BaseException:
        if old.exists() and not folder.exists():
            os.rename(old, folder)
        _remove(fresh)
        raise
    _remove(old)


def _remove(folder: Path) -> None:
    """Remove a tree of ours; document trees are read-only, folders included."""
    import shutil

    for parent, _, _ in os.walk(folder):
        os.chmod(parent, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _pretty(body: "Answer") -> str:
    import json

    return json.dumps(body, indent=2, allow_nan=False)
