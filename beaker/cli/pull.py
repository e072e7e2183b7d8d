"""`beaker run pull`: everything a run has, into a folder of its own, all or nothing."""

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from beaker.cli.parser import add_agent_option, add_leaf, agent_words
from beaker.cli.run_view import failure_lines, mapping, result_lines, search_text
from beaker.cli.shell import DONE, Io, Styled, one_line
from beaker.cli.words import counted, quoted

PULLED = (
    "run.json", "candidates.json", "eval_reports.json", "proposals", "patch.diff", "changes", "tree", "report.html",
)  # fmt: skip
"""What `--only` may name: `beaker.core.pulled.PULLED`, which takes too long to import for a parser."""

PULLED_OF_A_CANDIDATE = PULLED[4:]
"""What it may name of a candidate."""


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


def pull(arguments: argparse.Namespace, io: Io) -> int:
    """Fetch first, write last; what was there before stays until everything new is in place."""
    from beaker.cli.outputs import output_folder
    from beaker.cli.place import answered, opened
    from beaker.cli.transfers import telling
    from beaker.client.pulls import pull_run
    from beaker.core.pulled import PULLED_BESIDE, wanted_files
    from beaker.core.text import checked, name

    run_id = answered(checked(name, arguments.run_id, "RUN_ID", "BK902"))
    only = frozenset(arguments.only)
    beside = tuple(file for file in PULLED_BESIDE if wanted_files(only, file))
    output = output_folder(io, arguments.output_dir, files=beside)
    with opened(arguments, io) as place:
        progress = telling(io, "fetched", at_the_end=False)
        pulled = answered(pull_run(place.api, run_id, output, only=only, progress=progress))
    for problem in pulled.missing:
        io.warn(problem)
    run, folder, winner = pulled.run, pulled.directory, pulled.winner_id
    if io.json:
        io.json_line(
            {
                "run_id": run_id,
                "status": run.get("status"),
                "winner_id": winner,
                "directory": str(folder),
                "files": [*pulled.beside, *(f"{folder.name}/{path}" for path in pulled.files)],
            }
        )
        return DONE
    io.out(f"beaker run pull: {counted(len(pulled.files), 'file')} in {one_line(str(folder))}")
    for file in pulled.beside:
        replaced = " (replaced another one)" if file in pulled.replaced else ""
        io.out(f"  beside it  {one_line(str(output / file))}", replaced)
    if text := search_text(run):
        io.out(f"  search     {text}")
    for line in (*failure_lines(run), *result_lines(mapping(run.get("result")))):
        io.out(f"  {line}")
    if winner is None:
        io.out(f"  no winner  {_no_winner(run.get('status'))}")
        if pulled.chosen is not None:
            io.out(
                f"  best       {one_line(pulled.chosen)} on TRAIN, not proven on TEST: {one_line(str(folder / 'best'))}"
            )
    tell_results(io, folder if winner is not None else folder / "best", pulled.chosen, agent_words(arguments))
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


def _no_winner(status: object) -> str:
    """Why a run has none."""
    from beaker.core.runs import has_ended, normal_status

    if not has_ended(status):
        return "yet: the run has not ended"
    return f"since the run ended {one_line(normal_status(status))} before one was proven"
