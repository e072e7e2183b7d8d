"""Guides for coding agents: what a `SKILL.md` says of itself, and what installing one over a file would do.

An installed guide carries the SHA-256 of what was written (`sha256` in its front matter), so that a file which somebody
has changed since, or which was never ours, is told from one that a newer version may replace.
"""

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Literal, TypeAlias

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.values import value

FILE = "SKILL.md"
"""The file that a guide is, in the folder of its name."""

Found: TypeAlias = Literal["file", "other"] | None
"""What lies where a guide belongs: a regular file, something else (a link, a folder, a pipe), or nothing."""

Action: TypeAlias = Literal["create", "update", "replace", "unchanged"]
"""`update` is of a guide that we wrote, `replace` of a file that somebody else has a share in."""

_FRONT_MATTER = re.compile(r"---\n(?P<lines>(?:.*\n)*?)---\n")
_LINE = re.compile(r" *(?P<key>[a-z0-9_-]+):(?: +(?P<quote>\"?)(?P<text>.*)(?P=quote))? *")
_SEAL = re.compile(r"^  sha256: \"(?P<digest>[0-9a-f]{64})\"\n", re.MULTILINE)
_VERSION = re.compile(r"^  version: .*\n", re.MULTILINE)


@value
class Skill:
    """A guide: its `name`, when to use it (`description`), the `version` of Beaker that it is about, and its `text`,
    front matter included."""

    name: str
    description: str
    version: str
    text: str


def read_skill(folder: str, text: str) -> Result[Skill, Problem]:
    """The guide that the `SKILL.md` of `folder` holds; BK760 when its front matter does not name itself so, or lacks
    what it is for and its version."""
    front = _FRONT_MATTER.match(text)
    lines = () if front is None else front["lines"].splitlines()
    said = {line["key"]: line["text"] or "" for line in map(_LINE.fullmatch, lines) if line is not None}
    lacking = [key for key in ("name", "description", "version") if not said.get(key)]
    if lacking or said["name"] != folder:
        reason = f"its front matter lacks {', '.join(lacking)}" if lacking else f"it calls itself {said['name']!r}"
        hint = "install Beaker anew: this file came with it"
        return Failure(Problem("BK760", f"this guide is damaged: {reason}", f"{folder}/{FILE}", hint))
    return Success(Skill(said["name"], said["description"], said["version"], text))


def sealed(skill: Skill) -> str:
    """The text of a guide as it is installed: with its own SHA-256 behind the version."""
    line = f'  sha256: "{sha256(skill.text.encode()).hexdigest()}"\n'
    return _VERSION.sub(lambda version: version[0] + line, skill.text, count=1)


def is_untouched(text: str) -> bool:
    """Whether `text` is a guide of whatever version as it was installed, lines ending as they may."""
    text = text.replace("\r\n", "\n")
    seal = _SEAL.search(text)
    if seal is None:
        return False
    return sha256(_SEAL.sub("", text, count=1).encode()).hexdigest() == seal["digest"]


FOLDERS = (".claude/skills", ".agents/skills")
"""Where guides are looked for in a project."""


def folder_for_agents(present: Iterable[str]) -> str:
    """Where guides are best installed in a project that has files and folders of these names: where Claude Code looks
    if it is used there, else where most others do."""
    return FOLDERS[0] if {".claude", "CLAUDE.md"} & set(present) else FOLDERS[1]


def install_action(
    skill: Skill, *, where: str, found: Found, present: str | None, force: bool = False
) -> Result[Action, Problem]:
    """What installing `skill` at `where` comes to. `present` is the text of a file that is there, `None` for one that
    is no text. A file of somebody else, or one that was changed, is replaced with `force` alone (BK761); what is no
    regular file is never written to (BK762)."""
    if found is None:
        return Success("create")
    if found == "other":
        hint = "move it away, or name another folder: a guide is a file in a folder of its own, and no link"
        return Failure(Problem("BK762", "a link, or something else than a guide, is in the way", where, hint))
    if present is not None and is_untouched(present):
        return Success("unchanged" if present.replace("\r\n", "\n") == sealed(skill) else "update")
    if force:
        return Success("replace")
    hint = "compare the two (`beaker skills show`); --force replaces it"
    return Failure(Problem("BK761", "is there already, and not as Beaker wrote it", where, hint))
