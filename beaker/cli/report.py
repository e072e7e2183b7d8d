"""`beaker run report`: one HTML page about a run, made from what its place answers."""

import argparse
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import add_agent_option, add_leaf
from beaker.cli.shell import DONE, Io, one_line

if TYPE_CHECKING:
    from pathlib import Path

    from beaker.cli.place import Place


def add_report(actions: Any) -> None:
    """Add `run report`."""
    leaf = add_leaf(
        actions,
        "report",
        help="write one HTML page about a run",
        description="Writes one self-contained page: the result on held-out cases, the score by rollout, the tree of "
        "candidates, every case under the baseline and the winner, the changes line by line, and the costs. It loads "
        "nothing and runs no script. A run that has not ended is shown as far as it is.",
    )
    leaf.add_argument("run_id", metavar="RUN_ID")
    leaf.add_argument("--html", metavar="FILE", help="where to write it (default: RUN_ID.html here)")
    leaf.add_argument(
        "--candidate", metavar="ID", help="hold this candidate against the baseline, as RUN.N or N (the winner)"
    )
    add_agent_option(leaf)


def report(arguments: argparse.Namespace, io: Io) -> int:
    """Fetch, make the page, write it in one step."""
    from beaker.cli.outputs import output_file, writing
    from beaker.cli.place import answered, opened
    from beaker.core.candidate_names import known_candidate, run_of
    from beaker.core.report import RunReport, candidate_ids, compared_candidate, report_page
    from beaker.core.text import checked, name
    from beaker.files.atomic import write_text

    named: str = arguments.run_id
    given = arguments.html or f"{answered(checked(name, named, 'RUN_ID', 'BK902'))}.html"
    run_id = run_of(named)
    asked = arguments.candidate or (named if named != run_id else None)
    target = output_file(io, given)
    with opened(arguments, io) as place:
        run = place.call("get_optimization_run", run_id=run_id)
        candidates = place.call("list_candidates", run_id=run_id)
        reports = place.call("list_eval_reports", run_id=run_id)
        known = candidate_ids(candidates)
        chosen = answered(known_candidate(run_id, asked, known))
        shown = chosen or compared_candidate(run, candidates)
        before, _ = _fetched(place, known[0], io) if known else (None, "")
        after, patch = _fetched(place, shown, io) if shown in known and before is not None else (None, "")
    page = report_page(
        RunReport(
            run=run,
            candidates=candidates,
            reports=reports,
            candidate_id=chosen,
            before=before,
            after=after,
            patch=patch,
        )
    )
    with writing("the page", given):
        write_text(target, page)
    if io.json:
        io.json_line({"run_id": run_id, "candidate_id": shown, "file": str(target)})
    else:
        io.out(f"beaker run report: {one_line(str(target))}")
    return DONE


def _fetched(place: "Place", candidate_id: str, io: Io) -> tuple[dict[str, dict[str, str]] | None, str]:
    """The documents and the patch of a candidate; a place that hands none out is a page without changes, and said."""
    import tempfile
    from pathlib import Path

    from returns.pipeline import is_successful

    from beaker.cli.transfers import telling
    from beaker.client.flows import download_candidate

    with tempfile.TemporaryDirectory(prefix="beaker-report-") as temporary:
        folder = Path(temporary)
        fetched = download_candidate(
            place.api, candidate_id, folder, wanted=_is_shown, progress=telling(io, "fetched", at_the_end=False)
        )
        if not is_successful(fetched):
            io.warn(fetched.failure())
            return None, ""
        patch = folder / "patch.diff"
        text = patch.read_bytes().decode("utf-8", "replace") if patch.is_file() else ""
        return _documents(folder / "tree" / "documents"), text


def _is_shown(path: str) -> bool:
    return path == "patch.diff" or path.startswith("tree/documents/")


def _documents(root: "Path") -> dict[str, dict[str, str]]:
    """Group to name to content of what lies below `root`, a folder a group."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(root.rglob("*")):
        if path.is_file():
            group, *name = path.relative_to(root).parts
            found.setdefault(group, {})["/".join(name)] = path.read_bytes().decode("utf-8", "replace")
    return found
