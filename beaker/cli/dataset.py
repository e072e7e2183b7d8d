"""`beaker dataset upload|list|show`, and the group they stand in with `dataset promote`."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beaker.cli.dataset_promote import add_promote, promote
from beaker.cli.parser import (
    HELP,
    add_agent_option,
    add_entry_options,
    add_leaf,
    add_python_option,
    agent_words,
    positive,
)
from beaker.cli.run_view import listed, mapping, styled_status
from beaker.cli.shell import DONE, Io, Styled, one_line
from beaker.cli.tables import labelled, show_table
from beaker.cli.transfers import telling

if TYPE_CHECKING:
    from beaker.cli.place import Answer
    from beaker.client.dataset_files import LocalDataset

# A revision is shown whole, so that NAME@REVISION can be put together from it.
_COLUMNS = (("NAME", 28), ("REVISION", 71), ("PROD", 5), ("SAMPLES", 10), ("DATE", 27))


def add_parser(subparsers: Any) -> None:
    """Add `dataset` with its actions."""
    group = subparsers.add_parser("dataset", help=HELP["dataset"])
    actions = group.add_subparsers(dest="action", metavar="ACTION", required=True)
    upload = add_leaf(
        actions,
        "upload",
        help="upload a folder with train.jsonl and test.jsonl",
        description="Uploads train.jsonl, test.jsonl and manifest.json of a folder, one JSON object per line, and the "
        "files below the folder that rows name. Rows are counted; counts given with --split must agree. Where an "
        "Integration is configured, it has to be able to read every row.",
    )
    upload.add_argument("path", metavar="PATH", help="the folder")
    upload.add_argument("--name", required=True, metavar="NAME", help="what runs call the dataset")
    upload.add_argument(
        "--split", action="append", default=[], metavar="NAME=COUNT", help="rows of a split; repeatable"
    )
    upload.add_argument("--total-count", type=positive(None, least=0), metavar="N", help="rows in all")
    upload.add_argument(
        "--metadata", action="append", default=[], metavar="KEY=VALUE", help="a note kept with it; repeatable"
    )
    upload.add_argument(
        "--expires-in-seconds", type=positive(None), default=900, metavar="N", help="life of the upload URLs (900)"
    )
    upload.add_argument("--no-promote", action="store_true", help="do not make it what NAME stands for")
    upload.add_argument("--no-check", action="store_true", help="do not show the rows to the Integration first")
    upload.add_argument("--dry-run", action="store_true", help="list what would be sent, and send nothing")
    listing = add_leaf(actions, "list", help="list datasets")
    listing.add_argument("--limit", type=positive(None), default=100, metavar="N", help="at most so many (100)")
    listing.add_argument("--offset", type=positive(None, least=0), default=0, metavar="N", help="skip so many (0)")
    show = add_leaf(actions, "show", help="show one dataset")
    show.add_argument("reference", metavar="REFERENCE", help="NAME, NAME@production or NAME@REVISION")
    for leaf in (upload, listing, show):
        add_agent_option(leaf)
    add_entry_options(upload)
    add_python_option(upload)
    add_promote(actions)


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Perform the action and return its exit code."""
    actions = {"upload": _upload, "list": _list, "show": _show, "promote": promote}
    return actions[arguments.action](arguments, io)


def _upload(arguments: argparse.Namespace, io: Io) -> int:
    from beaker.cli.dataset_check import check_rows
    from beaker.cli.place import answered, look_around, opened
    from beaker.client.dataset_files import gather
    from beaker.client.flows import upload_flow
    from beaker.client.running import run_flow
    from beaker.core.problems import Refused
    from beaker.core.responses import stated_problem
    from beaker.core.upload_options import read_upload_options, total_problem, unfit_dataset

    read = answered(read_upload_options(arguments.name, splits=arguments.split, metadata=arguments.metadata))
    name, directory = read.name, Path(io.cwd, arguments.path)
    dataset = answered(gather(directory, name=name, splits=read.counts or None, metadata=read.metadata))
    splits = dict(dataset.declaration.splits)
    if (wrong := total_problem(arguments.total_count, splits)) is not None:
        raise Refused(wrong)
    if arguments.dry_run:
        return _show_files(dataset, io)
    options = {
        "promote": not arguments.no_promote,
        "total_count": arguments.total_count,
        "expires_in_seconds": arguments.expires_in_seconds,
    }
    around = look_around(arguments, io)
    check_rows(arguments, io, around, directory)
    with opened(arguments, io, around=around) as place:
        artifact: Answer = answered(
            run_flow(place.api, upload_flow(dataset, options, progress=telling(io, "sent", at_the_end=True)))
        )
    if io.json:
        io.json_line(artifact)
        return DONE
    revision = artifact.get("dataset_revision") or artifact.get("manifest_digest")
    warnings = [stated_problem(warning) for warning in listed(artifact.get("warnings"))]
    if not warnings and (unfit := unfit_dataset(one_line(name), splits)) is not None:
        warnings = [unfit]  # the place does not say it itself
    promoted = "not promoted" if arguments.no_promote or warnings else "promoted"
    sent = ", nothing sent since these rows were there already" if artifact.get("reused") else ""
    rows = ", ".join(f"{count} {split}" for split, count in splits.items())
    io.out(
        f"beaker dataset upload: {one_line(name)}@{one_line(str(revision))} ",
        styled_status(artifact.get("status")),
        f", {promoted}, {rows}{sent}",
    )
    for warning in warnings:
        io.warn(warning)
    if warnings:
        return DONE
    io.note(Styled("Next:", "heading"))
    start = io.command("run", "trigger", "--dataset", name, *agent_words(arguments))
    io.note(f"  1. start a run with it: {start}")
    return DONE


def _show_files(dataset: "LocalDataset", io: Io) -> int:
    """Say what an upload would send."""
    declaration = dataset.declaration
    files = [{"path": file.path, "size_bytes": file.size_bytes, "sha256": file.sha256} for file in declaration.files]
    if io.json:
        splits = dict(declaration.splits)
        io.json_line({"dry_run": True, "name": declaration.name, "splits": splits, "files": files})
        return DONE
    io.out(f"beaker dataset upload: would send {one_line(declaration.name)}; nothing was sent")
    for file in declaration.files:
        io.out(f"  {one_line(file.path)} ({file.size_bytes} bytes)")
    return DONE


def _list(arguments: argparse.Namespace, io: Io) -> int:
    from beaker.cli.place import opened

    with opened(arguments, io) as place:
        page = place.call("list_datasets", limit=arguments.limit, offset=arguments.offset)
    if io.json:
        io.json_line(page)
        return DONE
    datasets = [mapping(dataset) for dataset in page["datasets"]]
    if not datasets:
        io.out("no datasets")
        return DONE
    rows = (
        [
            dataset.get("name"),
            dataset.get("revision"),
            "yes" if dataset.get("is_production") else " ",
            mapping(dataset.get("sample_counts")).get("total"),
            dataset.get("completed_at") or dataset.get("created_at"),
        ]
        for dataset in datasets
    )
    show_table(io, _COLUMNS, rows)
    return DONE


def _show(arguments: argparse.Namespace, io: Io) -> int:
    from beaker.cli.place import opened

    with opened(arguments, io) as place:
        answer = place.call("resolve_dataset", reference=arguments.reference)
    if io.json:
        io.json_line(answer)
        return DONE
    dataset = mapping(answer["dataset"])
    counts = mapping(dataset.get("sample_counts"))
    files = [mapping(file) for file in listed(dataset.get("files"))]
    pairs: list[tuple[str, object]] = [
        ("name", dataset.get("name")),
        ("revision", dataset.get("revision")),
        ("reference", dataset.get("reference")),
        ("kind", dataset.get("kind")),
        ("production", "yes" if dataset.get("is_production") else "no"),
        ("samples", ", ".join(f"{key}={count}" for key, count in counts.items())),
        ("date", dataset.get("completed_at") or dataset.get("created_at")),
        ("artifact id", dataset.get("artifact_id")),
        ("files", len(files)),
    ]
    for line in labelled(pairs):
        io.out(line)
    for file in files:
        io.out(f"- {one_line(str(file.get('path')))} ({file.get('size_bytes')} bytes)")
    return DONE
