"""What `beaker doctor` says of what was looked up."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from beaker.core.doctor import (
    LITTLE_SPACE,
    NO_SPACE,
    Abilities,
    Check,
    check_configuration,
    check_credentials,
    check_disk,
    check_git,
    check_guides,
    check_isolation,
    check_python,
    check_sandbox,
    check_service,
    checks_json,
    healthy,
)
from beaker.core.interpreters import ChosenPython
from beaker.core.problems import Problem
from beaker.core.sandbox import SandboxMeans

P = Problem("BK999", "does not work", "it", "mend it")
Q = Problem("BK998", "is odd", "", "look")
ALL = Abilities(ends_groups=True, adopts_orphans=True, locks=True)
HERE = "/usr/bin/python"
OWN = Success(ChosenPython(program=HERE, source="beaker", is_own=True))
THEIRS = Success(ChosenPython(program="/p/.venv/bin/python", source=".venv", is_own=False))

TABLE: list[tuple[Check, Check]] = [
    (check_git(None, repository=True, committed=True),
     Check("git", "fault", "Git was not found on PATH", "install it: https://git-scm.com/downloads")),
    (check_git("git version 2.39.5\n", repository=True, committed=True), Check("git", "ok", "Git 2.39.5")),
    (check_git("git version 2.28", repository=True, committed=True), Check("git", "ok", "Git 2.28")),
    (check_git("git version 2.27.9 (Apple Git-1)", repository=True, committed=True),
     Check("git", "warning", "Git 2.27.9 (Apple Git-1); 2.28 or later is needed", "install a newer one")),
    (check_git("git version 1.99", repository=True, committed=True),
     Check("git", "warning", "Git 1.99; 2.28 or later is needed", "install a newer one")),
    (check_git("git version 3.0", repository=True, committed=True), Check("git", "ok", "Git 3.0")),
    (check_git(" ", repository=True, committed=True),
     Check("git", "warning", "Git an unknown version; 2.28 or later is needed", "install a newer one")),
    (check_git("git version 2.39.5", repository=False, committed=False),
     Check("git", "warning", "Git 2.39.5; this folder is in no repository",
           "runs take their code from commits: git init, and a first commit")),
    (check_git("git version 2.39.5", repository=True, committed=False),
     Check("git", "warning", "Git 2.39.5; nothing has been committed yet", "commit your files")),
    (check_python((3, 11, 0), HERE, chosen=OWN, refusal=None, requirement=None),
     Check("python", "ok", "Python 3.11.0 (/usr/bin/python)")),
    (check_python((3, 13, 9), HERE, chosen=OWN, refusal=None, requirement=None),
     Check("python", "ok", "Python 3.13.9 (/usr/bin/python)")),
    (check_python((3, 14, 0), HERE, chosen=OWN, refusal=None, requirement=None),
     Check("python", "warning", "Python 3.14.0 (/usr/bin/python); Beaker is tested with 3.11 to 3.13")),
    (check_python((3, 10, 9), HERE, chosen=OWN, refusal=None, requirement=None),
     Check("python", "warning", "Python 3.10.9 (/usr/bin/python); Beaker is tested with 3.11 to 3.13")),
    (check_python((3, 12, 1), HERE, chosen=OWN, refusal=None, requirement=P),
     Check("python", "warning", "Python 3.12.1 (/usr/bin/python): it: does not work", "mend it")),
    (check_python((3, 12, 1), HERE, chosen=THEIRS, refusal=None, requirement=None),
     Check("python", "ok", "Python 3.12.1 (/usr/bin/python); /p/.venv/bin/python, the project's .venv, runs the "
           "project's code")),
    (check_python((3, 12, 1), HERE, chosen=THEIRS, refusal=Q, requirement=P),
     Check("python", "fault", "the project's code cannot be run: is odd", "look")),
    (check_python((3, 12, 1), HERE, chosen=Failure(P), refusal=None, requirement=Q),
     Check("python", "fault", "the project's code cannot be run: it: does not work", "mend it")),
    (check_configuration(None, (), ()),
     Check("configuration", "warning", "there is no configuration here", "`beaker init` makes one")),
    (check_configuration("b.yaml", (), ()), Check("configuration", "ok", "b.yaml is valid")),
    (check_configuration("b.yaml", (P,), (Q, Q)), Check("configuration", "fault", "it: does not work", "mend it")),
    (check_configuration("b.yaml", (), (Q,)), Check("configuration", "warning", "is odd", "look")),
    (check_configuration("b.yaml", (P, Q, Q), ()),
     Check("configuration", "fault", "it: does not work, and 2 more", "`beaker config check` shows all of them")),
    (check_configuration("b.yaml", (), (Q, P)),
     Check("configuration", "warning", "is odd, and 1 more", "`beaker config check` shows all of them")),
    (check_credentials(None, None, shared=None), Check("credentials", "ok", "none is needed on this machine")),
    (check_credentials("a login", None, shared=None), Check("credentials", "ok", "a login")),
    (check_credentials(None, P, shared="/c"), Check("credentials", "fault", "it: does not work", "mend it")),
    (check_credentials("a login", None, shared="/c"),
     Check("credentials", "warning", "others on this machine may read /c",
           "chmod 600 /c; then log in again, for they may have been read")),
    (check_service("https://a", None, asked=True), Check("service", "ok", "https://a answers")),
    (check_service("https://a", P, asked=True), Check("service", "fault", "it: does not work", "mend it")),
    (check_service("https://a", P, asked=False),
     Check("service", "skipped", "https://a was not asked, for want of a credential")),
    (check_disk("/s", 0, P), Check("disk", "fault", "it: does not work", "mend it")),
    (check_disk("/s", None, None), Check("disk", "skipped", "how much space /s has is not known")),
    (check_disk("/s", LITTLE_SPACE, None), Check("disk", "ok", "2.0 GiB are free for /s")),
    (check_disk("/s", LITTLE_SPACE - 1, None),
     Check("disk", "warning", "only 2.0 GiB are free for /s", "free some space before a long run")),
    (check_disk("/s", NO_SPACE, None),
     Check("disk", "warning", "only 0.2 GiB are free for /s", "free some space before a long run")),
    (check_disk("/s", NO_SPACE - 1, None),
     Check("disk", "fault", "0.2 GiB are free for /s",
           "free some space, or move the state of runs with BEAKER_LOCAL_DIR")),
    (check_sandbox("linux", ALL), Check("sandbox", "ok", "processes of a run are ended with all that they start")),
    (check_sandbox("win32", ALL), Check("sandbox", "fault", "local runs do not work on Windows",
                                        "run Beaker inside WSL; everything else works here")),
    (check_sandbox("linux", None), Check("sandbox", "fault", "local runs do not work on Windows",
                                         "run Beaker inside WSL; everything else works here")),
    (check_sandbox("linux", Abilities(ends_groups=False, adopts_orphans=True, locks=False)),
     Check("sandbox", "fault", "a group of processes cannot be ended here",
           "let processes start sessions of their own here (setsid, killpg)")),
    (check_sandbox("linux", Abilities(ends_groups=True, adopts_orphans=False, locks=False)),
     Check("sandbox", "fault", "files cannot be locked where the state of runs is",
           "move the state of runs to a local disk with BEAKER_LOCAL_DIR")),
    (check_sandbox("linux", Abilities(ends_groups=True, adopts_orphans=False, locks=True)),
     Check("sandbox", "warning", "processes are ended in groups; one that leaves its group is not found")),
    (check_sandbox("darwin", Abilities(ends_groups=True, adopts_orphans=None, locks=True)),
     Check("sandbox", "ok", "processes are ended in groups; one that leaves its group is not found")),
]  # fmt: skip


@pytest.mark.parametrize(("found", "wanted"), TABLE, ids=range(len(TABLE)))
def test_check__table__as_listed(found: Check, wanted: Check) -> None:
    """Each check says what was found, and what to do about it."""
    assert found == wanted


def test_check_guides__of_another_version__are_named() -> None:
    """An agent with old guides types commands that are no more."""
    assert check_guides(".claude/skills", iter(())) == Check(
        "guides", "ok", "those in .claude/skills are of this version"
    )
    assert check_guides(".claude/skills", iter(("beaker-ci", "beaker-run"))) == Check(
        "guides",
        "warning",
        ".claude/skills has guides of another version: beaker-ci, beaker-run",
        "`beaker skills install` brings the guides of a folder up to date",
    )


STATES = st.sampled_from(["ok", "warning", "fault", "skipped"])
CHECKS = st.lists(st.builds(Check, st.text(max_size=3), STATES, st.text()))


@given(CHECKS)
def test_healthy__any_checks__is_the_want_of_faults(checks: list[Check]) -> None:
    """Warnings and what was skipped keep nothing from working; the answer lists every check."""
    answer: Any = checks_json(iter(checks))
    assert healthy(checks) == answer["healthy"] == ("fault" not in [check.state for check in checks])
    assert [list(item.items()) for item in answer["checks"]] == [
        [("name", one.name), ("state", one.state), ("message", one.message), ("hint", one.hint)] for one in checks
    ]


def test_limits__are_as_documented() -> None:
    """Two GiB for a long run, a quarter of one to begin at all; Git and Python as they are tested with."""
    assert (LITTLE_SPACE, NO_SPACE) == (2_147_483_648, 268_435_456)


def test_check_isolation__is_a_fault_only_where_it_is_wanted() -> None:
    """Nobody needs a sandbox who does not ask for one."""
    means = SandboxMeans(machine="x86_64", landlock=7, namespaces=True)
    told = "a sandbox can be had: Landlock 7, a filter of calls, mounts that are read-only"
    assert check_isolation(Success(means), wanted=True) == Check("isolation", "ok", told)
    lacking = Failure(Problem("BK557", "it takes Linux", hint="use one"))
    assert check_isolation(lacking, wanted=True) == Check("isolation", "fault", "it takes Linux", "use one")
    assert check_isolation(lacking, wanted=False) == Check("isolation", "skipped", "it takes Linux", "use one")
