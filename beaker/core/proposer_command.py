"""Judging a proposer command before it is ever run: what of it cannot start, or cannot find the file it names.

Only warnings come of it. A command that fails costs its proposals and nothing else, and what is missing here may be
there when the run needs it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches

from beaker.core.options import closest, shown
from beaker.core.problems import Problem
from beaker.core.values import value

PROJECT = "{project}"
"""Stands in a command for a read-only checkout of the run's commit, from its root."""

PYTHON = "{python}"
"""Stands in a command for the interpreter that runs the project's code."""

CODE = "BK480"
"""The code of a warning about a command."""

_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z_]\w*)\}")
_IN_PROJECT = re.compile(r"\{project\}/([^\s:;,'\"|&<>()]*)")
_OPEN_PATH = re.compile(r"[*?\[$]")
_SCRIPT_STARTS = (b"#!", b"\x7fELF", b"\xfe\xed\xfa", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")


@value(kw_only=True)
class CommandWorld:
    """What a command meets: `files`, the tracked paths of the commit, each with whether it is executable (`None`: a
    link or submodule, not to be told); `first_bytes` reads the beginning of one; `program` tells whether a name, or
    an absolute path, can be started on the machine."""

    files: Mapping[str, bool | None]
    first_bytes: Callable[[str], bytes]
    program: Callable[[str], bool]


def command_warnings(command: Iterable[str], world: CommandWorld, *, where: str) -> Iterator[Problem]:
    """What of `command` cannot work, each with its place below `where`, the place of the command (BK480)."""
    words = tuple(command)
    folders = {folder for path in world.files for folder in _parents(path)}
    for index, word in enumerate(words):
        place = f"{where}[{index}]"
        yield from (Problem(CODE, message, place, hint) for message, hint in _placeholder_faults(word))
        missing = [*_missing(word, world.files, folders)]
        yield from (Problem(CODE, message, place, hint) for message, hint in missing)
        if not missing:
            found = _start_faults(word, world) if index == 0 else _relative_faults(word, world.files)
            yield from (Problem(CODE, message, place, hint) for message, hint in found)


_Fault = tuple[str, str]
"""What is wrong, and what to do."""


def _placeholder_faults(word: str) -> Iterator[_Fault]:
    for found in _PLACEHOLDER.finditer(word):
        name = found[1]
        meant = closest(name, ["project", "python"])
        if name not in ("project", "python") and (meant is not None or word[found.end() : found.end() + 1] == "/"):
            known = f"only {PROJECT}, a checkout of the commit, and {PYTHON}, the interpreter, are filled in"
            hint = known if meant is None else f"did you mean {{{meant}}}?"
            yield f"{found[0]} is no placeholder: the command gets it as it is written", hint


def _missing(word: str, files: Mapping[str, bool | None], folders: set[str]) -> Iterator[_Fault]:
    """Paths below `{project}` that the commit does not have."""
    for found in _IN_PROJECT.finditer(word):
        path = _normal(found[1])
        if path == "." or path in files or path in folders or _OPEN_PATH.search(path):
            continue
        if _hidden(path, files):
            continue
        yield f"{PROJECT}/{path} is not in the commit", _nearest(path, files)


def _hidden(path: str, files: Mapping[str, bool | None]) -> bool:
    """Whether a path leads through a link or into a submodule, so that nothing can be told about it."""
    return any(files.get(folder, False) is None for folder in _parents(path))


def _nearest(path: str, files: Mapping[str, bool | None]) -> str:
    same = [one for one in files if one.rpartition("/")[2] == path.rpartition("/")[2]]
    near = same or get_close_matches(path, files, n=1)
    if near:
        return f"did you mean {PROJECT}/{min(near)}? {PROJECT} is the root of the repository"
    return f"commit it (`git add {path}`, `git commit`): {PROJECT} is a checkout of the commit"


def _start_faults(word: str, world: CommandWorld) -> Iterator[_Fault]:
    """Why the first word cannot be started."""
    if word.startswith(f"{PROJECT}/"):
        path = _normal(word.removeprefix(f"{PROJECT}/"))
        executable = world.files.get(path)
        if path not in world.files and not _hidden(path, world.files):
            yield f"{word} is a folder, not a program", "name the program in it"
        elif executable is False:
            hint = f"`chmod +x {path}` and commit that, or put its interpreter in front, as in [{_interpreter(word)}]"
            yield f"{word} is not executable in the commit", hint
        elif executable and not world.first_bytes(path).startswith(_SCRIPT_STARTS):
            hint = f"begin it with a line such as #!/usr/bin/env python3, or write [{_interpreter(word)}]"
            yield f"{word} has no #! line that says what runs it", hint
    elif PROJECT in word or _PLACEHOLDER.search(word):
        return
    elif "/" in word and not word.startswith("/"):
        path = _normal(word)
        hint = "~ is not filled in: write the path in full" if word.startswith("~") else _in_project(path, world.files)
        yield f"{word} is looked for in the proposer's working copy, which does not have it", hint
    elif not world.program(word):
        tracked = f", or write [{_interpreter(f'{PROJECT}/{word}')}]" if word in world.files else ""
        told = "cannot be started on this machine" if word.startswith("/") else "is not on your PATH"
        yield f"the program {shown(word)} {told}", f"install it, or correct the name{tracked}"


def _relative_faults(word: str, files: Mapping[str, bool | None]) -> Iterator[_Fault]:
    """An argument that names a file of the commit as if the command ran in a checkout."""
    path = _normal(word)
    if path in files and not word.startswith(("/", "-")):
        message = f"{word} is a file of the commit, but the command runs in a working copy that does not have it"
        yield message, _in_project(path, files)


def _in_project(path: str, files: Mapping[str, bool | None]) -> str:
    if path in files:
        return f"write {PROJECT}/{path}"
    return f"a committed program is named {PROJECT}/PATH, any other by its full path"


def _interpreter(word: str) -> str:
    return f'bash, "{word}"' if word.endswith(".sh") else f'"{PYTHON}", "{word}"'


def _normal(path: str) -> str:
    """A path without empty, `.` and `..` parts as far as they go; `.` for the root itself."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts) or "."


def _parents(path: str) -> Iterator[str]:
    """The folders that a relative path lies in, the nearest first."""
    while path := path.rpartition("/")[0]:
        yield path
