"""`beaker skills`: the guides that tell a coding agent how to work with this version of Beaker."""

import argparse
from pathlib import Path
from typing import Any

from beaker.cli.parser import HELP, add_leaf
from beaker.cli.shell import DONE, Io, Styled, one_line


def add_parser(subparsers: Any) -> None:
    """Add `skills` with its actions."""
    group = subparsers.add_parser("skills", help=HELP["skills"])
    actions = group.add_subparsers(dest="action", metavar="ACTION", required=True)
    add_leaf(actions, "list", help="list the guides of this version")
    show = add_leaf(actions, "show", help="print a guide")
    show.add_argument("name", metavar="NAME", help="a guide, as `beaker skills list` names it")
    install = add_leaf(
        actions,
        "install",
        help="put the guides where a coding agent looks for them",
        description="Writes DIR/NAME/SKILL.md for every guide, or those that are named: all of them or none. A file "
        "that is not as Beaker wrote it stays, unless --force is given; nothing is written through a link.",
    )
    install.add_argument(
        "dir", metavar="DIR", help="such as .claude/skills or .agents/skills; made where it is missing"
    )
    install.add_argument("names", nargs="*", metavar="NAME", help="only these guides (default: all)")
    install.add_argument("--force", action="store_true", help="replace files that were changed, or are not Beaker's")
    install.add_argument("--dry-run", action="store_true", help="say what would be done, and write nothing")


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Perform the action; exit code 2 for an unknown guide, and for a file in the way."""
    if arguments.action == "install":
        return _install(arguments, io)
    return _list(io) if arguments.action == "list" else _show(arguments.name, io)


def _list(io: Io) -> int:
    from textwrap import wrap

    from beaker.files.skill_files import shipped_skills

    skills = shipped_skills()
    if io.json:
        keys = ("name", "description", "version")
        io.json_line({"skills": [{key: getattr(one, key) for key in keys} for one in skills]})
        return DONE
    for one in skills:
        io.out(Styled(one.name, "key"), f"  {one.version}")
        for line in wrap(one.description, 100):
            io.out("  ", line)
    io.note("For your coding agent: ", io.command("skills", "install", ".claude/skills"), " (or where it looks)")
    return DONE


def _show(name: str, io: Io) -> int:
    from beaker.files.skill_files import shipped_skills

    (skill,) = shipped_skills([name])
    if io.json:
        io.json_line({key: getattr(skill, key) for key in ("name", "description", "version", "text")})
    else:
        io.out(skill.text.rstrip("\n"))
    return DONE


def _install(arguments: argparse.Namespace, io: Io) -> int:
    from beaker.cli.words import counted
    from beaker.files.skill_files import install, plan_installation, shipped_skills

    directory = Path(io.cwd, arguments.dir)
    planned = plan_installation(directory, shipped_skills(arguments.names), force=arguments.force)
    if not arguments.dry_run:
        install(planned)
    if io.json:
        skills = [
            {"name": one.skill.name, "version": one.skill.version, "path": str(one.path), "action": one.action}
            for one in planned
        ]
        io.json_line({"directory": str(directory), "dry_run": arguments.dry_run, "skills": skills})
        return DONE
    for one in planned:
        would = "would " if arguments.dry_run and one.action != "unchanged" else ""
        io.out(f"  {would}{one.action}  {one_line(str(one.path))}")
    total = counted(len(planned), "guide")
    if arguments.dry_run:
        io.out(f"beaker skills install: {total} looked at; nothing was written")
    else:
        io.out(Styled("beaker skills install:", "ok"), f" {total} in {one_line(str(directory))}")
    return DONE
