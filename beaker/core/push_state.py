"""Whether what a run would execute is where the service looks for it: committed, and pushed to the agent's repository.

The facts come from Git; here they are judged.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TypeAlias

from beaker.core.onboarding import Finding
from beaker.core.problems import Problem
from beaker.core.values import value

SHOWN_PATHS = 5

SHARED_BRANCHES = frozenset({"main", "master", "trunk", "develop"})
"""Branches that others work on too; an integration is better tried on one of its own."""

LONGEST_SLUG = 32
REUSED_FOR = timedelta(hours=1)
"""How long a branch that was made for an integration is taken again."""

RemoteHead: TypeAlias = str | Problem | None
"""The commit that a branch has in a remote, `None` where the remote has no such branch, why it could not be told."""


@value(kw_only=True)
class GitFacts:
    """What Git says of the checkout. `problem` tells why it says nothing; `branch` is `None` when none is checked out,
    `head` when nothing is committed. `changes` are the paths that a run would lack, `remotes` the heads of the
    checked-out branch in those remotes that are the agent's repository."""

    problem: Problem | None = None
    branch: str | None = None
    head: str | None = None
    changes: tuple[str, ...] = ()
    remotes: Mapping[str, RemoteHead] = {}


def relevant_changes(changed: Iterable[str], *, source_dir: str, files: Iterable[str]) -> tuple[str, ...]:
    """Those of the changed paths that a run would lack: below `source_dir`, or one of `files`. All count from the root
    of the repository."""
    named, below = set(files), "" if source_dir == "." else f"{source_dir}/"
    return tuple(sorted(path for path in set(changed) if path in named or path.startswith(below)))


def committed(facts: GitFacts) -> Finding:
    """Whether a run on this machine would execute what is there: it takes what is committed."""
    if facts.problem is not None:
        return Finding("todo", str(facts.problem), facts.problem.hint or None)
    if facts.head is None:
        return Finding("todo", "nothing has been committed yet", "commit the integration")
    if facts.changes:
        return Finding("todo", f"not committed: {_listed(facts.changes)}", "commit these changes")
    return Finding("complete", "a run on this machine takes what is committed")


def pushed(facts: GitFacts, *, repository: str, suggested: str) -> Finding:
    """Whether the agent's `repository` has what is checked out, on whatever branch; `suggested` is one to push to."""
    push = f"commit, and push it as {suggested}: git switch -c {suggested} && git push -u origin {suggested}"
    if facts.branch == suggested:
        push = f"commit, and push this branch: git push -u origin {suggested}"
    if facts.problem is not None:
        return Finding("unknown", str(facts.problem), retry=True)
    if facts.branch is None:
        return Finding("todo", "no branch is checked out", push)
    if facts.head is None:
        return Finding("unknown", "nothing has been committed yet", push, retry=True)
    advice = f"; {facts.branch} is a branch of everybody's: better work on {suggested}"
    shared = advice if facts.branch in SHARED_BRANCHES else ""
    if facts.changes:
        return Finding("todo", f"not committed: {_listed(facts.changes)}{shared}", push)
    if not facts.remotes:
        return Finding("todo", f"no remote of this checkout is {repository}", f"add {repository} as a remote, and push")
    if facts.head in facts.remotes.values():
        return Finding("complete", f"{facts.branch} is pushed{shared}" if shared else None)
    faults = [found for found in facts.remotes.values() if isinstance(found, Problem)]
    if faults:
        return Finding("unknown", f"whether {facts.branch} is pushed could not be told: {faults[0]}", retry=True)
    missing = all(found is None for found in facts.remotes.values())
    what = f"{facts.branch} is not in {repository}" if missing else f"{facts.branch} is another one in {repository}"
    return Finding("todo", f"{what}{shared}", push)


def pushed_as_it_stands(facts: GitFacts) -> bool | None:
    """Whether a remote of the repository has the checked-out branch with the commit that is checked out, and nothing
    else is there; `None` when it cannot be told."""
    if facts.problem is not None or facts.branch is None or facts.head is None:
        return None
    if facts.changes:
        return False
    if facts.head in facts.remotes.values():
        return True
    told = facts.remotes and not any(isinstance(found, Problem) for found in facts.remotes.values())
    return False if told else None


def suggest_branch(agent: str, now: datetime, current: str | None) -> str:
    """`beaker/<YYYYMMDD-HHMM>-<slug>` for an agent by its name, `now` being local time; the branch `current` again when
    it is such a one for this agent that is younger than an hour."""
    slug = _slug(agent)
    found = re.fullmatch(r"beaker/(\d{8}-\d{4})-(.+)", current or "")
    if current is not None and found is not None and found[2] == slug:
        made = _moment(found[1])
        if made is not None and timedelta(0) <= now.replace(tzinfo=None) - made < REUSED_FOR:
            return current
    return f"beaker/{now:%Y%m%d-%H%M}-{slug}"


def _slug(agent: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", agent.lower()).strip("-") or "integration"
    if len(slug) <= LONGEST_SLUG:
        return slug
    return f"{slug[:LONGEST_SLUG].rstrip('-')}-{sha256(slug.encode()).hexdigest()[:8]}"


def _moment(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y%m%d-%H%M")
    except ValueError:
        return None


def _listed(paths: tuple[str, ...]) -> str:
    more = len(paths) - SHOWN_PATHS
    return ", ".join(paths[:SHOWN_PATHS]) + (f" and {more} more" if more > 0 else "")
