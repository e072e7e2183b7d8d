"""`beaker run pull`: everything a run has, into a folder of its own, all or nothing."""

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import add_agent_option, add_leaf, agent_words
from beaker.cli.run_view import failure_lines, mapping, result_lines, search_text
from beaker.cli.shell import DONE, Io, Styled, one_line
from beaker.cli.words import counted, quoted

if TYPE_CHECKING:
    from beaker.cli.place import Answer


PULLED = (
    "run.json", "candidates.json", "eval_reports.json", "proposals", "patch.diff", "changes", "tree", "report.html",
)  # fmt: skip
"""What `--only` may name: everything that stands directly in the folder of a run."""

PULLED_OF_A_CANDIDATE = PULLED[4:]
"""What stands directly in the folder of a candidate."""


def add_pull(actions: Any) -> None:
    """Add `run pull`."""
    leaf = add_leaf(
        actions,
        "pull",
        help="fetch candidates, reports, the winner's patch, documents and change sets",
        description="Writes OUTPUT_DIR/candidates.json, OUTPUT_DIR/eval_reports.json and a folder OUTPUT_DIR/RUN_ID "
        "with them, run.json, patch.diff (when the repository changed), changes/, tree/, report.html and proposals/ "
        "(what models were asked and answered). A run without "
        "a winner, unfinished or cancelled, gives its best candidate so far in best/ instead.",
    )
    leaf.add_argument("run_id", metavar="RUN_ID")
    leaf.add_argument("--output-dir", default=".", metavar="DIR", help="where to write (default: here)")
    add_only_option(leaf, PULLED)
    add_agent_option(leaf)


def add_only_option(leaf: argparse.ArgumentParser, names: Collection[str]) -> None:
    """`--only NAME`, repeatable; what it does not name stays as it is."""
    leaf.add_argument(
        "--only",
        action="append",
        choices=names,
        default=[],
        metavar="NAME",
        help=f"fetch this alone, and leave the rest as it is: {', '.join(names)}; repeatable",
    )


def wanted_files(only: Collection[str], path: str) -> bool:
    """Whether `--only` asks for the file `path` of a candidate; without it everything is asked for."""
    return not only or path.partition("/")[0] in only


def pull(arguments: argparse.Namespace, io: Io) -> int:
    """Fetch first, write last; what was there before stays until everything new is in place."""
    from beaker.cli.outputs import output_folder, writing
    from beaker.cli.place import answered, opened
    from beaker.client.flows import download_artifacts, download_candidate
    from beaker.core.text import name
    from beaker.files.atomic import write_text
    from beaker.files.folders import replacing_folder

    run_id: str = arguments.run_id
    only = frozenset(arguments.only)
    of_a_candidate = not only or not only.isdisjoint(PULLED_OF_A_CANDIDATE)
    replaced_here = only | {"best"} if only and of_a_candidate else only
    folder_name = _folder_name(name, run_id)
    written_beside = tuple(file for file in ("candidates.json", "eval_reports.json") if wanted_files(only, file))
    output = output_folder(io, arguments.output_dir, files=written_beside)
    folder = output / folder_name
    with opened(arguments, io) as place, replacing_folder(folder, only=replaced_here) as fresh:
        run = place.call("get_optimization_run", run_id=run_id)
        candidates = place.call("list_candidates", run_id=run_id)
        reports = place.call("list_eval_reports", run_id=run_id)
        winner = candidates.get("winner_id")
        best = mapping(mapping(run.get("progress")).get("best")).get("candidate_id")
        bodies = {"run.json": run, "candidates.json": candidates, "eval_reports.json": reports}
        for file, body in bodies.items():
            if wanted_files(only, file):
                write_text(fresh / file, _pretty(body))
        chosen, place_of = (winner, fresh) if isinstance(winner, str) else (best, fresh / "best")
        if isinstance(chosen, str) and of_a_candidate:
            answered(download_candidate(place.api, chosen, place_of, wanted=lambda path: wanted_files(only, path)))
        if wanted_files(only, "proposals"):
            answered(download_artifacts(place.api, candidates, fresh / "proposals"))
        pulled = [f"{folder.name}/{path}" for path in files_below(fresh)]
    beside = {file: _pretty(bodies[file]) for file in written_beside}
    replaced = [file for file, text in beside.items() if _holds_other(output / file, text)]
    for file, text in beside.items():
        with writing("the file", str(output / file)):
            write_text(output / file, text)
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
    tell_results(io, folder if isinstance(winner, str) else folder / "best", chosen, agent_words(arguments))
    return DONE


def tell_results(io: Io, folder: Path, candidate: object, words: Sequence[str]) -> None:
    """Say where the patch and the change sets of a candidate are, and what to do with them; `words` name the agent."""
    patch, report = folder / "patch.diff", folder / "report.html"
    change_sets = sorted((folder / "changes").glob("*.json"))
    if patch.is_file():
        io.out(f"  patch      {one_line(str(patch))}")
    for change_set in change_sets:
        io.out(f"  changes    {one_line(str(change_set))}")
    steps = [f"look at it: {quoted(str(report))}"] if report.is_file() else []
    if patch.is_file():
        steps.append(f"take its code: git apply {quoted(str(patch))}")
        if isinstance(candidate, str):
            branch = io.command("candidate", "branch", candidate, "--name", "NAME", *words)
            steps.append(f"or put it on a branch: {branch}")
    for change_set in filter(_changes_something, change_sets):
        apply = io.derive(options="").command("changes", "apply", str(change_set), "--dir", "DIR")
        steps.append(f"take its documents: {apply}")
    if steps:
        io.note(Styled("Next:", "heading"))
    for number, step in enumerate(steps, start=1):
        io.note(f"  {number}. {step}")


def _changes_something(change_set: Path) -> bool:
    """Whether a change set, as it was downloaded, holds a change."""
    import json

    try:
        return bool(json.loads(change_set.read_bytes()).get("changes"))
    except (ValueError, AttributeError):
        return False


def files_below(folder: Path) -> list[str]:
    """Paths of every file below a folder, counted from there, sorted."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


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


def _pretty(body: "Answer") -> str:
    import json

    return json.dumps(body, indent=2, allow_nan=False)
