"""`beaker changes`: look at a DocumentChangeSet as a diff, apply it to a folder of documents, and take it back.

Exit 1 when documents are no longer what the change set was made from; 2 when the set or the folder is no good.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import HELP, add_leaf
from beaker.cli.shell import DONE, NEGATIVE, Io, Styled, one_line
from beaker.cli.words import counted

if TYPE_CHECKING:
    from beaker.core.documents import DocumentChangeSet, TargetDocument
    from beaker.core.problems import Problems
    from beaker.files.changes import Applied, Recovery

MAX_FILE_BYTES = 256 * 1024 * 1024


def add_parser(subparsers: Any) -> None:
    """Add `changes` with its actions."""
    group = subparsers.add_parser("changes", help=HELP["changes"])
    actions = group.add_subparsers(dest="action", metavar="ACTION", required=True)
    show = add_leaf(actions, "show", help="show a change set as a diff")
    show.add_argument("file", metavar="FILE", help="a change set, as `beaker run pull` writes it below changes/")
    show.add_argument("--dir", metavar="DIR", help="compare with the documents in DIR/<group>/<name>")
    apply = add_leaf(
        actions,
        "apply",
        help="apply a change set to a folder of documents, all or nothing",
        description="Apply a change set to the documents in DIR/<group>/<name>: all of it, or nothing when a document "
        "is no longer what the change was made from. Applying it again changes nothing.",
    )
    apply.add_argument("file", metavar="FILE", help="a change set, as `beaker run pull` writes it below changes/")
    apply.add_argument("--dir", metavar="DIR", required=True, help="the folder that holds one folder per group")
    apply.add_argument("--dry-run", action="store_true", help="say what would be done, and write nothing")
    revert = add_leaf(
        actions,
        "revert",
        help="take an applied change set back, all or nothing",
        description="Give the documents in DIR/<group>/<name> the contents that `changes apply` of the same change set "
        "replaced: all of them, or nothing when a document was changed since.",
    )
    revert.add_argument("file", metavar="FILE", help="the change set that was applied")
    revert.add_argument("--dir", metavar="DIR", required=True, help="the folder that it was applied to")
    revert.add_argument("--dry-run", action="store_true", help="say what would be done, and write nothing")


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Perform the action and return the exit code."""
    from beaker.core.problems import Refused

    try:
        change_set = read_change_set(Path(io.cwd, arguments.file), arguments.file)
    except Refused as refused:
        return io.fail(refused.problems)
    return _show(arguments, io, change_set) if arguments.action == "show" else _change(arguments, io, change_set)


def _show(arguments: argparse.Namespace, io: Io, change_set: "DocumentChangeSet") -> int:
    from returns.pipeline import is_successful

    from beaker.core.changesets import render_diff
    from beaker.files.changes import look_at_directory

    documents: tuple[TargetDocument, ...] | None = None
    if arguments.dir is not None:
        directory = Path(io.cwd, arguments.dir).resolve()
        looked = look_at_directory(directory, change_set)
        if not is_successful(looked):
            return io.fail(looked.failure())
        present, recovery = looked.unwrap()
        _note_recovery(recovery, io, foreseen=True)
        touched = {(change.group, change.name) for change in change_set.changes}
        documents = tuple(one for one in present if (one.group, one.name) in touched)
    diff = render_diff(documents, change_set)
    if io.json:
        io.json_line({**_summary(change_set), "diff": diff})
        return DONE
    total = len(change_set.changes)
    counts = ", ".join(f"{count} {op}" for op, count in _counts(change_set).items() if count)
    groups = ", ".join(change_set.groups) or "no groups named"
    headline = f"{total} change{'' if total == 1 else 's'}"
    io.out(
        Styled(f"beaker changes show: {headline}", "heading"), f" ({counts}) in {groups}" if total else f" in {groups}"
    )
    io.out("run ", one_line(change_set.run_id))
    if diff:
        io.out("\n", *coloured_diff(diff))
    return DONE


def _change(arguments: argparse.Namespace, io: Io, change_set: "DocumentChangeSet") -> int:
    """Apply a change set, or take it back."""
    from returns.pipeline import is_successful

    from beaker.core.changesets import Conflict
    from beaker.files.changes import apply_to_directory, revert_in_directory

    directory = Path(io.cwd, arguments.dir).resolve()
    reverting = arguments.action == "revert"
    if reverting:
        outcome = revert_in_directory(directory, change_set, dry_run=arguments.dry_run)
    else:
        outcome = apply_to_directory(directory, change_set, dry_run=arguments.dry_run, remember=True)
    if not is_successful(outcome):
        problems = outcome.failure()
        conflicting = any(isinstance(problem, Conflict) for problem in problems)
        return io.fail(problems, code=NEGATIVE) if conflicting else io.fail(problems)
    changed = outcome.unwrap()
    done = "reverted" if reverting else "applied"
    if io.json:
        io.json_line({"directory": str(directory), "run_id": change_set.run_id, **_told(changed, done)})
        return DONE
    _note_recovery(changed.recovery, io, foreseen=changed.dry_run)
    for step in changed.steps:
        place = one_line(f"{step.change.group}/{step.change.name}")
        io.out(f"  {step.change.op}  {place}", "" if step.outcome == "applies" else "  (done already)")
    count = sum(step.outcome == "applies" for step in changed.steps)
    changes = counted(count, "change")
    at = f"in {directory}" if reverting else f"to {directory}"
    if not count:
        said = "nothing left to do"
    elif changed.dry_run:
        said = f"{changes} would be {done} {at}; nothing was written"
    else:
        said = f"{changes} {done} {at}"
    io.out(Styled(f"beaker changes {arguments.action}:", "ok"), " ", said)
    return DONE


def _told(changed: "Applied", done: str) -> dict[str, object]:
    """What became of a change set, as JSON; `done` is the word for it."""
    count, recovery = sum(step.outcome == "applies" for step in changed.steps), changed.recovery
    return {
        "dry_run": changed.dry_run,
        done: count,
        f"already_{done}": len(changed.steps) - count,
        "changes": [
            {"op": step.change.op, "group": step.change.group, "name": step.change.name, "outcome": step.outcome}
            for step in changed.steps
        ],
        "recovery": None if recovery is None else {"outcome": recovery.outcome, "kept": list(recovery.kept)},
    }


def read_change_set(path: Path, shown: str) -> "DocumentChangeSet":
    """The change set in a file. `Refused` with every fault, each with the file and its place in it."""
    from returns.pipeline import is_successful

    from beaker.core.changesets import change_set_from_json
    from beaker.core.problems import Problem, Refused
    from beaker.core.strict_json import parse
    from beaker.files.atomic import os_problem

    if path.is_dir():
        hint = "give one of the files in it" if any(path.glob("*.json")) else "give a file that holds a change set"
        raise Refused(Problem("BK618", "is a folder, not a change set", shown, hint))
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise Refused(os_problem(error, "read the change set", shown)) from None
    if len(data) > MAX_FILE_BYTES:
        raise Refused(Problem("BK618", f"has more than {MAX_FILE_BYTES} bytes; no change set is that large", shown))
    parsed = parse(data, "the change set")
    if not is_successful(parsed):
        raise Refused(_in_file((parsed.failure(),), shown))
    read = change_set_from_json(parsed.unwrap())
    if not is_successful(read):
        raise Refused(_in_file(read.failure(), shown))
    return read.unwrap()


def _in_file(problems: "Problems", shown: str) -> "Problems":
    from beaker.core.problems import Problem

    return tuple(
        Problem(one.code, one.message, f"{shown}: {one.where}" if one.where else shown, one.hint) for one in problems
    )


def _note_recovery(recovery: "Recovery | None", io: Io, *, foreseen: bool) -> None:
    """Say how an interrupted apply was ended, or that a command which writes will do so."""
    if recovery is None:
        return
    if foreseen:
        how = "complete" if recovery.outcome == "completed" else "undo"
        io.note(f"An earlier apply was interrupted here; the next command that writes will {how} it first.")
    else:
        io.note(f"An earlier apply that had been interrupted here was {recovery.outcome} first.")
    for place in recovery.kept:
        io.note("  left as it is, since something else changed it: ", one_line(place))


def _summary(change_set: "DocumentChangeSet") -> dict[str, object]:
    return {
        "run_id": change_set.run_id,
        "seed_hash": change_set.seed_hash,
        "candidate_hash": change_set.candidate_hash,
        "groups": list(change_set.groups),
        "counts": _counts(change_set),
        "changes": [{"op": one.op, "group": one.group, "name": one.name} for one in change_set.changes],
    }


def _counts(change_set: "DocumentChangeSet") -> dict[str, int]:
    return {op: sum(one.op == op for one in change_set.changes) for op in ("create", "update", "delete")}


_ROLES = {"+": "ok", "-": "error", "@": "key", "c": "heading", "u": "heading", "d": "heading"}


def coloured_diff(diff: str) -> list[str]:
    """The lines of a diff, each with its line end except the last, coloured by their first character."""
    lines = diff.removesuffix("\n").split("\n")
    parts: list[str] = []
    for number, line in enumerate(lines):
        role = _ROLES.get(line[:1])
        parts += [Styled(line, role) if role else line, "\n" if number + 1 < len(lines) else ""]
    return parts
