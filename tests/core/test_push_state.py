"""Whether what a run would execute is committed and pushed, and the branch that is proposed for it."""

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.onboarding import Finding
from beaker.core.problems import Problem
from beaker.core.push_state import GitFacts, committed, pushed, pushed_as_it_stands, relevant_changes, suggest_branch

SUGGESTED = "beaker/20260304-0506-invoices"
PUSH = f"commit, and push it as {SUGGESTED}: git switch -c {SUGGESTED} && git push -u origin {SUGGESTED}"
FAULT = Problem("BK713", "does not answer", "github.com")


def facts(**given: Any) -> GitFacts:
    """A branch whose commit is in the one remote, unless said otherwise."""
    return GitFacts(**{"branch": "work", "head": "aaa", "remotes": {"origin": "aaa"}, **given})


@pytest.mark.parametrize(
    ("given", "state", "reason", "action", "retry"),
    [
        ({}, "complete", None, None, False),
        ({"branch": "main"}, "complete", f"main is pushed; main is a branch of everybody's: better work on {SUGGESTED}",
         None, False),
        ({"remotes": {"fork": "bbb", "origin": "aaa"}}, "complete", None, None, False),
        ({"remotes": {"fork": FAULT, "origin": "aaa"}}, "complete", None, None, False),
        ({"problem": FAULT}, "unknown", "github.com: does not answer", None, True),
        ({"branch": None}, "todo", "no branch is checked out", PUSH, False),
        ({"head": None}, "unknown", "nothing has been committed yet", PUSH, True),
        ({"changes": ("a", "b")}, "todo", "not committed: a, b", PUSH, False),
        ({"changes": tuple("abcdefg")}, "todo", "not committed: a, b, c, d, e and 2 more", PUSH, False),
        ({"changes": tuple("abcde")}, "todo", "not committed: a, b, c, d, e", PUSH, False),
        ({"remotes": {}}, "todo", "no remote of this checkout is acme/inv", "add acme/inv as a remote, and push",
         False),
        ({"remotes": {"origin": None}}, "todo", "work is not in acme/inv", PUSH, False),
        ({"remotes": {"origin": "bbb"}}, "todo", "work is another one in acme/inv", PUSH, False),
        ({"remotes": {"origin": None, "fork": "bbb"}}, "todo", "work is another one in acme/inv", PUSH, False),
        ({"remotes": {"origin": FAULT}}, "unknown",
         "whether work is pushed could not be told: github.com: does not answer", None, True),
        ({"branch": "develop", "remotes": {"origin": None}}, "todo",
         f"develop is not in acme/inv; develop is a branch of everybody's: better work on {SUGGESTED}", PUSH, False),
        ({"branch": "main", "changes": ("a",)}, "todo",
         f"not committed: a; main is a branch of everybody's: better work on {SUGGESTED}", PUSH, False),
        ({"branch": SUGGESTED, "changes": ("a",)}, "todo", "not committed: a",
         f"commit, and push this branch: git push -u origin {SUGGESTED}", False),
    ],
)  # fmt: skip
def test_pushed__table__as_listed(given: dict[str, Any], state: Any, reason: Any, action: Any, retry: bool) -> None:
    """In the order of the rules: no branch, no commit, changes, no remote, the head of any remote."""
    found = pushed(facts(**given), repository="acme/inv", suggested=SUGGESTED)
    assert found == Finding(state, reason, action, retry=retry)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, Finding("complete", "a run on this machine takes what is committed")),
        ({"branch": None}, Finding("complete", "a run on this machine takes what is committed")),
        ({"remotes": {}}, Finding("complete", "a run on this machine takes what is committed")),
        ({"head": None}, Finding("todo", "nothing has been committed yet", "commit the integration")),
        ({"changes": ("a",)}, Finding("todo", "not committed: a", "commit these changes")),
        ({"problem": FAULT}, Finding("todo", "github.com: does not answer")),
        ({"problem": Problem("BK711", "no repository", "", "git init")}, Finding("todo", "no repository", "git init")),
    ],
)
def test_committed__table__as_listed(given: dict[str, Any], wanted: Finding) -> None:
    """On this machine branches and remotes do not matter."""
    assert committed(facts(**given)) == wanted


@pytest.mark.parametrize(
    ("source_dir", "wanted"),
    [
        (".", ("a.py", "b.yaml", "src/a.py", "src2/x.py")),
        ("src", ("b.yaml", "src/a.py")),
        ("src2", ("b.yaml", "src2/x.py")),
        ("none", ("b.yaml",)),
    ],
)
def test_relevant_changes__source_dir__and_named_files(source_dir: str, wanted: tuple[str, ...]) -> None:
    """What lies elsewhere does not travel with a run; each path is named once, in order."""
    changed = ["src2/x.py", "src/a.py", "a.py", "b.yaml", "b.yaml"]
    assert relevant_changes(changed, source_dir=source_dir, files=["b.yaml", "c"]) == wanted


@pytest.mark.parametrize(
    ("agent", "current", "wanted"),
    [
        ("Invoices", None, "beaker/20260304-0506-invoices"),
        (" In  voices! ", "main", "beaker/20260304-0506-in-voices"),
        ("--", None, "beaker/20260304-0506-integration"),
        ("a" * 32, None, f"beaker/20260304-0506-{'a' * 32}"),
        ("a" * 33, None, f"beaker/20260304-0506-{'a' * 32}-852785c8"),
        ("a" * 31 + " b", None, f"beaker/20260304-0506-{'a' * 31}-c1c16dce"),
        ("invoices", "beaker/20260304-0407-invoices", "beaker/20260304-0407-invoices"),
        ("invoices", "beaker/20260304-0506-invoices", "beaker/20260304-0506-invoices"),
        ("invoices", "beaker/20260304-0406-invoices", "beaker/20260304-0506-invoices"),
        ("invoices", "beaker/20260304-0507-invoices", "beaker/20260304-0506-invoices"),
        ("invoices", "beaker/20260304-0500-others", "beaker/20260304-0506-invoices"),
        ("invoices", "beaker/20261399-0500-invoices", "beaker/20260304-0506-invoices"),
        ("invoices", "x/beaker/20260304-0500-invoices", "beaker/20260304-0506-invoices"),
    ],
)
def test_suggest_branch__table__as_listed(agent: str, current: str | None, wanted: str) -> None:
    """A branch of this agent that is younger than an hour is taken again."""
    assert suggest_branch(agent, datetime(2026, 3, 4, 5, 6, 0), current) == wanted


@given(st.text(), st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)))
def test_suggest_branch__any_agent__is_a_branch_that_is_taken_again(agent: str, now: datetime) -> None:
    """What is proposed can be named in Git, and is proposed again in the same minute."""
    branch = suggest_branch(agent, now, None)
    assert branch.isascii()
    assert not set(branch) & set(" ~^:?*[\\")
    assert len(branch) <= 64
    assert suggest_branch(agent, now, branch) == branch


@pytest.mark.parametrize(
    ("facts", "answer"),
    [
        (GitFacts(problem=Problem("BK710", "no git"), branch="b", head="c", remotes={"o": "c"}), None),
        (GitFacts(head="c", remotes={"o": "c"}), None),
        (GitFacts(branch="b", remotes={"o": "c"}), None),
        (GitFacts(branch="b", head="c", changes=("x",), remotes={"o": "c"}), False),
        (GitFacts(branch="b", head="c", remotes={"o": "d", "p": "c"}), True),
        (GitFacts(branch="b", head="c", remotes={"o": "d", "p": None}), False),
        (GitFacts(branch="b", head="c", remotes={"o": None, "p": Problem("BK713", "slow")}), None),
        (GitFacts(branch="b", head="c"), None),
    ],
)
def test_pushed_as_it_stands__facts__say_yes_no_or_nothing(facts: GitFacts, answer: bool | None) -> None:
    """Yes where a remote has the very commit, no where each has another one or something is uncommitted."""
    assert pushed_as_it_stands(facts) is answer
