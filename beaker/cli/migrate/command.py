"""The command `beaker migrate`: shows the edits that bring a project up to date, or makes them, verified or undone."""

import argparse
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import HELP, add_leaf, add_python_option
from beaker.cli.shell import DONE, Io, Styled, one_line, problems_json

if TYPE_CHECKING:
    from beaker.cli.migrate.plan import FilePlan, MigrationPlan


def add_parser(subparsers: Any) -> None:
    """Add `beaker migrate`."""
    leaf = add_leaf(
        subparsers,
        "migrate",
        help=HELP["migrate"],
        description="Shows what to change in the configuration and the modules of a project that was written for an "
        "earlier generation. With --write the edits are made: every entry is imported before and after in a process of "
        "its own, and all files are put back when anything differs.",
    )
    leaf.add_argument("--write", action="store_true", help="make the edits that are shown")
    add_python_option(leaf)


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Exit code 0 when the edits were shown, or made; 2 when they could not be, and then nothing was changed."""
    from beaker.cli.migrate.plan import plan_migration
    from beaker.cli.place import look_around
    from beaker.core.problems import Refused

    around = look_around(arguments, io)
    if around.problems:
        raise Refused(around.problems)
    plan = plan_migration(around, io.cwd.resolve())
    if arguments.write and plan.files:
        from beaker.cli.migrate.writing import write_verified

        write_verified(arguments, io, around, plan)
    if io.json:
        io.json_line(_told(arguments, plan))
    else:
        _show(arguments, io, plan)
    return DONE


def _told(arguments: argparse.Namespace, plan: "MigrationPlan") -> dict[str, object]:
    return {
        "written": bool(arguments.write and plan.files),
        "files": [
            {
                "path": file.name,
                "changes": [{"line": line, "change": words} for line, words in file.changes],
                "diff": _diff(file),
            }
            for file in plan.files
        ],
        "by_hand": problems_json(plan.by_hand)["problems"] if plan.by_hand else [],
    }


def _show(arguments: argparse.Namespace, io: Io, plan: "MigrationPlan") -> None:
    for file in plan.files:
        io.out(Styled(one_line(file.name), "heading"))
        for line, words in file.changes:
            io.out(f"  line {line}: {one_line(words)}")
        if not arguments.write:
            io.out(_diff(file).rstrip("\n"))
    for problem in plan.by_hand:
        io.out("  by hand: ", one_line(str(problem)))
    changed = f"{len(plan.files)} file{'' if len(plan.files) == 1 else 's'}"
    if not plan.files:
        said = "nothing can be changed for you" if plan.by_hand else "nothing to change"
        io.out(Styled("beaker migrate:", "warn" if plan.by_hand else "ok"), f" {said}")
    elif arguments.write:
        shown = plan.after is not None and plan.after.entries
        proof = "every entry shows what it showed" if shown else "no entry is configured, so nothing was imported"
        io.out(Styled("beaker migrate:", "ok"), f" {changed} changed; {proof}")
        io.note("look at the changes (git diff), and run your tests")
    else:
        io.out(Styled("beaker migrate:", "ok"), f" {changed} would change; nothing was written")
        io.note(f"make the changes: {io.command('migrate', '--write')}")


def _diff(file: "FilePlan") -> str:
    import difflib

    before, after = (data.decode("utf-8", "replace").splitlines(keepends=True) for data in (file.before, file.after))
    lines = difflib.unified_diff(before, after, f"a/{file.name}", f"b/{file.name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
