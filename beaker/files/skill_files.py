"""The guides for coding agents as files: those of this package, and putting them into a folder."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from returns.pipeline import is_successful

from beaker.core.options import did_you_mean
from beaker.core.problems import Problem, Refused
from beaker.core.skills import FILE, Action, Found, Skill, install_action, read_skill, sealed
from beaker.core.values import value
from beaker.files.project import leads_out
from beaker.files.reading import read_regular
from beaker.files.undoable import undoable

SHIPPED = Path(__file__).parents[1] / "skills"
"""Where the guides of this package lie."""


@value
class Installation:
    """What happens to the guide at `path`."""

    skill: Skill
    path: Path
    action: Action


def shipped_skills(names: Iterable[str] = ()) -> tuple[Skill, ...]:
    """The guides of this package, by name: all, or those that are named, each once. `Refused` for a name that is none
    of them (BK911) and for a damaged one (BK760)."""
    found = {}
    for path in sorted(SHIPPED.glob(f"*/{FILE}")):
        read = read_skill(path.parent.name, path.read_text(encoding="utf-8"))
        if not is_successful(read):
            raise Refused(read.failure())
        found[path.parent.name] = read.unwrap()
    wanted = dict.fromkeys(names) or found
    unknown = [
        Problem("BK911", f"there is no skill {name!r}", hint=f"{did_you_mean(name, found)}; see `beaker skills list`")
        for name in wanted
        if name not in found
    ]
    if unknown:
        raise Refused(unknown)
    return tuple(found[name] for name in wanted)


def plan_installation(directory: Path, skills: Iterable[Skill], *, force: bool = False) -> tuple[Installation, ...]:
    """What installing `skills` into `directory` would do to each; nothing is written. `Refused` with every guide that
    cannot be installed, and `OSError` for a folder that cannot be looked into."""
    planned, problems = [], []
    for skill in skills:
        path = directory / skill.name / FILE
        found = _found(path)
        present = _text(path) if found == "file" else None
        action = install_action(skill, where=str(path), found=found, present=present, force=force)
        if not is_successful(action):
            problems.append(action.failure())
        elif (outside := leads_out(path)) is not None:
            problems.append(outside)
        else:
            planned.append(Installation(skill, path, action.unwrap()))
    if problems:
        raise Refused(problems)
    return tuple(planned)


def install(planned: Iterable[Installation]) -> None:
    """Write what was planned: all of it, or nothing. `Refused` and `OSError` as from `undoable`."""
    with undoable({one.path: sealed(one.skill).encode() for one in planned if one.action != "unchanged"}):
        pass


def installed_versions(directory: Path) -> dict[str, str | None]:
    """The version of every guide of this package that is installed in `directory`, by name; `None` where the file that
    is there does not say. Raises `OSError`."""
    versions: dict[str, str | None] = {}
    for skill in shipped_skills():
        path = directory / skill.name / FILE
        if _found(path) == "file":
            read = read_skill(skill.name, _text(path) or "")
            versions[skill.name] = read.unwrap().version if is_successful(read) else None
    return versions


def _found(path: Path) -> Found:
    """What is at `path`. A folder of its own that is a link counts as something else, wherever it leads."""
    try:
        folder = os.lstat(path.parent)
    except FileNotFoundError:
        return None
    if not stat.S_ISDIR(folder.st_mode):
        return "other"
    try:
        return "file" if stat.S_ISREG(os.lstat(path).st_mode) else "other"
    except FileNotFoundError:
        return None


def _text(path: Path) -> str | None:
    try:
        return read_regular(path).decode()
    except UnicodeDecodeError:
        return None
