"""`beaker candidate`: one candidate of a run shown, fetched, or put on a branch of this repository."""

import argparse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from beaker.cli.candidate_branch import add_branch, branch
from beaker.cli.candidate_names import add_candidate_name
from beaker.cli.candidate_pull_request import add_pull_request, pull_request
from beaker.cli.parser import HELP, add_agent_option, add_leaf, agent_words
from beaker.cli.pull import PULLED_OF_A_CANDIDATE, add_only_option, tell_results
from beaker.cli.run_candidates import changed_text
from beaker.cli.run_view import mapping, score
from beaker.cli.shell import DONE, Io, Styled, one_line
from beaker.cli.tables import labelled
from beaker.cli.words import counted

if TYPE_CHECKING:
    from pathlib import Path

    from beaker.cli.place import Place


def add_parser(subparsers: Any) -> None:
    """Add `candidate` with its actions."""
    group = subparsers.add_parser("candidate", help=HELP["candidate"])
    actions = group.add_subparsers(dest="action", metavar="ACTION", required=True)
    show = add_leaf(actions, "show", help="show one candidate: where it comes from, its scores, what it changes")
    add_candidate_name(show)
    show.add_argument("--diff", action="store_true", help="show the patch and the changed documents too")
    download = add_leaf(
        actions,
        "download",
        help="fetch a candidate's patch, change sets, documents and edited files",
        description="Writes patch.diff (when the repository changed), changes/, tree/ and report.html of any candidate "
        "to OUTPUT_DIR/RUN.N.",
    )
    add_candidate_name(download)
    download.add_argument("--output-dir", default=".", metavar="DIR", help="where to write (default: here)")
    add_only_option(download, PULLED_OF_A_CANDIDATE)
    for leaf in (show, download):
        add_agent_option(leaf)
    add_branch(actions)
    add_pull_request(actions)


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Perform the action and return its exit code."""
    actions = {"show": _show, "download": _download, "branch": branch, "pull-request": pull_request}
    return actions[arguments.action](arguments, io)


def _show(arguments: argparse.Namespace, io: Io) -> int:
    from beaker.cli.candidate_names import candidate_id, is_winner
    from beaker.cli.place import opened

    with opened(arguments, io) as place:
        named = candidate_id(place, arguments.candidate, arguments.beside)
        candidate = place.call("get_optimization_candidate", candidate_id=named)
        reports = place.call("list_eval_reports_for_candidate", candidate_id=named)
        won = is_winner(place, named)
        diff = _diff(place, named, io) if arguments.diff else None
    if io.json:
        told = {"candidate": candidate, "eval_reports": reports["eval_reports"], "is_winner": won}
        io.json_line(told if diff is None else {**told, "diff": diff})
        return DONE
    for line in labelled(_labels(candidate, won=won)):
        io.out(line)
    for report in map(mapping, reports["eval_reports"]):
        io.out(*_report_line(report))
    if diff:
        from beaker.cli.changes import coloured_diff

        io.out("\n", *coloured_diff(diff))
    return DONE


def _labels(candidate: Mapping[str, Any], *, won: bool) -> list[tuple[str, object]]:
    summary = mapping(candidate.get("summary"))
    return [
        ("candidate", candidate.get("id")),
        ("status", f"{candidate.get('status')}, the winner of its run" if won else candidate.get("status")),
        ("reason", candidate.get("reason")),
        ("parent", candidate.get("parent_id")),
        ("origin", candidate.get("origin")),
        ("created", candidate.get("created_at")),
        ("changed", changed_text(summary)),
        ("tree", candidate.get("tree")),
    ]


def _report_line(report: Mapping[str, Any]) -> Iterator[str]:
    """One split in one line: the objective, what it is a mean of, and the fields."""
    yield Styled(str(report.get("split", "")).upper(), "heading")
    if report.get("set") == "minibatch":
        yield " (minibatch alone)"
    cases = counted(report.get("cases_total") or 0, "case")
    counts = f"{report.get('scored')} scored, {report.get('failed')} failed"
    yield f"  {score(report.get('objective'))} over {cases}, {counts}"
    fields = mapping(report.get("field_scores"))
    if fields:
        yield "; " + ", ".join(f"{one_line(name)} {score(mapping(one).get('mean'))}" for name, one in fields.items())


def _diff(place: "Place", candidate_id: str, io: Io) -> str:
    """The patch of a candidate, and its document changes as a diff against the documents the run started from."""
    import tempfile
    from pathlib import Path

    from beaker.cli.place import answered
    from beaker.cli.transfers import telling
    from beaker.client.flows import download_candidate

    baseline = f"{candidate_id.rpartition('.')[0]}.0"
    with tempfile.TemporaryDirectory(prefix="beaker-candidate-") as temporary:
        root = Path(temporary)
        for name in (candidate_id, baseline):
            folder = root / ("candidate" if name == candidate_id else "baseline")
            answered(download_candidate(place.api, name, folder, progress=telling(io, "fetched", at_the_end=False)))
        patch = root / "candidate" / "patch.diff"
        parts = [patch.read_bytes().decode("utf-8", "replace")] if patch.is_file() else []
        for change_set in sorted((root / "candidate" / "changes").glob("*.json")):
            parts.append(_document_diff(change_set, (root / "baseline") / "tree" / "documents"))
    return "".join(parts)


def _document_diff(change_set: "Path", documents: "Path") -> str:
    from beaker.cli.changes import read_change_set
    from beaker.cli.place import answered
    from beaker.core.changesets import render_diff
    from beaker.files.changes import read_documents

    changes = read_change_set(change_set, change_set.name)
    found = answered(read_documents(documents, changes)) if documents.is_dir() else ()
    return render_diff(found, changes)


def _download(arguments: argparse.Namespace, io: Io) -> int:
    from functools import partial

    from beaker.cli.candidate_names import candidate_id
    from beaker.cli.outputs import output_folder
    from beaker.cli.place import answered, opened
    from beaker.cli.transfers import telling
    from beaker.client.flows import download_candidate
    from beaker.client.pulls import files_below
    from beaker.core.pulled import wanted_files
    from beaker.core.text import checked, name
    from beaker.files.folders import replacing_folder

    only = frozenset(arguments.only)
    answered(checked(name, arguments.candidate, "CANDIDATE", "BK902"))
    output = output_folder(io, arguments.output_dir)
    with opened(arguments, io) as place:
        named = candidate_id(place, arguments.candidate, arguments.beside)
        folder = output / answered(checked(name, named, "CANDIDATE", "BK902"))
        with replacing_folder(folder, only=only) as fresh:
            progress = telling(io, "fetched", at_the_end=False)
            wanted = partial(wanted_files, only)
            answered(download_candidate(place.api, named, fresh, progress=progress, wanted=wanted))
            files = files_below(fresh)
    if io.json:
        io.json_line({"candidate_id": named, "directory": str(folder), "files": list(files)})
        return DONE
    io.out(f"beaker candidate download: {counted(len(files), 'file')} in {one_line(str(folder))}")
    tell_results(io, folder, named, agent_words(arguments))
    return DONE
