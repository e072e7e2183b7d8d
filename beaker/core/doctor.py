"""What `beaker doctor` says of a machine and a project: every check by itself, judged from what was looked up.

A fault keeps something from working, a warning may be right all the same, what was not looked at is skipped.
"""

import re
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from returns.pipeline import is_successful
from returns.result import Result, Success

from beaker.core.interpreters import SOURCES, ChosenPython
from beaker.core.problems import Problem, Problems
from beaker.core.sandbox import SandboxMeans, described_means
from beaker.core.values import value

CheckState: TypeAlias = Literal["ok", "warning", "fault", "skipped"]

OLDEST_GIT = (2, 28)
"""The first version that has every option that is used."""

SUPPORTED_PYTHON = ((3, 11), (3, 13))
"""The first and the last version of Python that Beaker is tested with."""

LITTLE_SPACE, NO_SPACE = 2 * 1024**3, 256 * 1024**2
"""Free bytes below which runs may fill a disk, and below which none should begin."""

_NUMBERS = re.compile(r"(\d+)\.(\d+)")


@value
class Check:
    """One check: its subject, how it came out, what was found, and what to do about it."""

    name: str
    state: CheckState
    message: str
    hint: str = ""


def check_git(version: str | None, *, repository: bool, committed: bool) -> Check:
    """Git itself (`git --version`, `None` when there is none), and whether the project is in a repository of it."""
    if version is None:
        return Check("git", "fault", "Git was not found on PATH", "install it: https://git-scm.com/downloads")
    found = _NUMBERS.search(version)
    numbers = (int(found[1]), int(found[2])) if found is not None else None
    named = version.strip().removeprefix("git version ") or "an unknown version"
    if numbers is None or numbers < OLDEST_GIT:
        oldest = ".".join(map(str, OLDEST_GIT))
        return Check("git", "warning", f"Git {named}; {oldest} or later is needed", "install a newer one")
    if not repository:
        hint = "runs take their code from commits: git init, and a first commit"
        return Check("git", "warning", f"Git {named}; this folder is in no repository", hint)
    if not committed:
        return Check("git", "warning", f"Git {named}; nothing has been committed yet", "commit your files")
    return Check("git", "ok", f"Git {named}")


def check_python(
    version: tuple[int, int, int],
    executable: str,
    *,
    chosen: Result[ChosenPython, Problem],
    refusal: Problem | None,
    requirement: Problem | None,
) -> Check:
    """The interpreter that runs Beaker, and the one that is `chosen` for the project's code. `refusal` is what can be
    said against that one without starting it, `requirement` what the project's metadata says against the version."""
    spelled = ".".join(map(str, version))
    first, last = SUPPORTED_PYTHON
    refused = refusal if is_successful(chosen) else chosen.failure()
    if refused is not None:
        return Check("python", "fault", f"the project's code cannot be run: {refused}", refused.hint)
    if requirement is not None:
        return Check("python", "warning", f"Python {spelled} ({executable}): {requirement}", requirement.hint)
    if not first <= version[:2] <= last:
        span = f"{'.'.join(map(str, first))} to {'.'.join(map(str, last))}"
        return Check("python", "warning", f"Python {spelled} ({executable}); Beaker is tested with {span}")
    python = chosen.unwrap()
    if not python.is_own:
        other = f"{python.program}, {SOURCES[python.source]}, runs the project's code"
        return Check("python", "ok", f"Python {spelled} ({executable}); {other}")
    return Check("python", "ok", f"Python {spelled} ({executable})")


def check_configuration(file: str | None, problems: Problems, warnings: Problems) -> Check:
    """The configuration, judged whole; `file` is `None` when there is none."""
    if file is None:
        return Check("configuration", "warning", "there is no configuration here", "`beaker init` makes one")
    found = problems or warnings
    if not found:
        return Check("configuration", "ok", f"{file} is valid")
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    hint = found[0].hint if not more else "`beaker config check` shows all of them"
    return Check("configuration", "fault" if problems else "warning", f"{found[0]}{more}", hint)


def check_credentials(source: str | None, refusal: Problem | None, *, shared: str | None) -> Check:
    """The credential: `source` in words, or why there is none. `shared` is the file of logins when others may read
    it."""
    if refusal is not None:
        return Check("credentials", "fault", str(refusal), refusal.hint)
    if shared is not None:
        hint = f"chmod 600 {shared}; then log in again, for they may have been read"
        return Check("credentials", "warning", f"others on this machine may read {shared}", hint)
    return Check("credentials", "ok", source or "none is needed on this machine")


def check_service(url: str, refusal: Problem | None, *, asked: bool) -> Check:
    """Whether the place answers, and takes the credential; `asked` is false when there was none to ask with."""
    if not asked:
        return Check("service", "skipped", f"{url} was not asked, for want of a credential")
    if refusal is not None:
        return Check("service", "fault", str(refusal), refusal.hint)
    return Check("service", "ok", f"{url} answers")


def check_disk(folder: str, free: int | None, refusal: Problem | None) -> Check:
    """The disk that has the state of local runs: whether it can be written, and the free bytes (`None`: unknown)."""
    if refusal is not None:
        return Check("disk", "fault", str(refusal), refusal.hint)
    if free is None:
        return Check("disk", "skipped", f"how much space {folder} has is not known")
    space = f"{free / 1024**3:.1f} GiB are free for {folder}"
    if free < NO_SPACE:
        return Check("disk", "fault", space, "free some space, or move the state of runs with BEAKER_LOCAL_DIR")
    if free < LITTLE_SPACE:
        return Check("disk", "warning", f"only {space}", "free some space before a long run")
    return Check("disk", "ok", space)


def check_guides(folder: str, outdated: Iterable[str]) -> Check:
    """The guides for coding agents that are installed in `folder`; `outdated` names those of another version."""
    names = ", ".join(outdated)
    if names:
        hint = "`beaker skills install` brings the guides of a folder up to date"
        return Check("guides", "warning", f"{folder} has guides of another version: {names}", hint)
    return Check("guides", "ok", f"those in {folder} are of this version")


@value(kw_only=True)
class Abilities:
    """What a system lets a run do with the processes of the project's code: end a whole group of them, adopt what its
    children leave behind (`None` where that is not known to work), and hold locks in the folder of its state."""

    ends_groups: bool
    adopts_orphans: bool | None
    locks: bool


def check_sandbox(platform: str, abilities: Abilities | None) -> Check:
    """Whether the code of a run can be kept together and ended; `platform` is that of `sys.platform`."""
    if platform == "win32" or abilities is None:
        hint = "run Beaker inside WSL; everything else works here"
        return Check("sandbox", "fault", "local runs do not work on Windows", hint)
    if not abilities.ends_groups:
        hint = "let processes start sessions of their own here (setsid, killpg)"
        return Check("sandbox", "fault", "a group of processes cannot be ended here", hint)
    if not abilities.locks:
        hint = "move the state of runs to a local disk with BEAKER_LOCAL_DIR"
        return Check("sandbox", "fault", "files cannot be locked where the state of runs is", hint)
    if not abilities.adopts_orphans:
        message = "processes are ended in groups; one that leaves its group is not found"
        return Check("sandbox", "warning" if platform == "linux" else "ok", message)
    return Check("sandbox", "ok", "processes of a run are ended with all that they start")


def check_isolation(found: Result[SandboxMeans, Problem], *, wanted: bool) -> Check:
    """Whether processes of a run can be confined (`isolation: sandbox`), which the configuration may want."""
    match found:
        case Success(means):
            return Check("isolation", "ok", f"a sandbox can be had: {described_means(means)}")
        case _:
            problem = found.failure()
            return Check("isolation", "fault" if wanted else "skipped", problem.message, problem.hint)


def healthy(checks: Iterable[Check]) -> bool:
    """Whether no check found a fault."""
    return all(check.state != "fault" for check in checks)


def checks_json(checks: Iterable[Check]) -> dict[str, Any]:
    """The checks as they are answered: `{"healthy", "checks": [{"name", "state", "message", "hint"}]}`."""
    listed = tuple(checks)
    items = [
        {"name": check.name, "state": check.state, "message": check.message, "hint": check.hint} for check in listed
    ]
    return {"healthy": healthy(listed), "checks": items}
