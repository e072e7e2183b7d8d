"""Options that have no use where a command works are refused, each with its reason."""

import pytest

from beaker.core.needless import (
    NO_AGENTS_HERE,
    NO_BRANCHES_HERE,
    SERVER_REASONS,
    GivenOptions,
    needless,
    needless_to_a_launch,
    needless_to_a_person,
    needless_to_a_server,
)
from beaker.core.problems import Problem

NONE = GivenOptions(api_key=False, insecure_http=False, no_resume=False)
ALL = GivenOptions(api_key=True, insecure_http=True, no_resume=True)


def said(problem: Problem | None) -> str | None:
    """The message of a BK904."""
    if problem is None:
        return None
    assert problem.code == "BK904"
    return problem.message


@pytest.mark.parametrize("local", [True, False])
def test_needless__nothing_given__is_fine(local: bool) -> None:
    """Nothing is refused that was not given."""
    assert needless(NONE, local=local) is None
    assert needless_to_a_person(NONE, command="logout") is None
    assert needless_to_a_launch(local=local, app_base_url=False, python=False) is None


def test_needless__on_this_machine__nobody_is_asked_and_nothing_sent() -> None:
    """A key comes before plain http; restarts are of this machine's runs."""
    assert said(needless(ALL, local=True)) == "--api-key has no use on this machine: there is nobody to log in to"
    plain = GivenOptions(api_key=False, insecure_http=True, no_resume=True)
    assert said(needless(plain, local=True)) == "--insecure-http has no use on this machine: nothing is sent"
    assert needless(GivenOptions(api_key=False, insecure_http=False, no_resume=True), local=True) is None


def test_needless__elsewhere__no_worker_is_restarted() -> None:
    """Keys and plain http have their use there."""
    assert said(needless(ALL, local=False)) == "--no-resume is about runs on this machine; it needs --local"
    assert needless(GivenOptions(api_key=True, insecure_http=True, no_resume=False), local=False) is None


def test_needless__to_a_person__a_key_names_an_organization() -> None:
    """The command is named, and how to log in."""
    problem = needless_to_a_person(ALL, command="auth status")
    assert said(problem) == (
        "--api-key has no use here: `beaker auth status` is about somebody's login, a key names an organization"
    )
    assert problem is not None
    assert problem.hint == "leave it out; `beaker login` logs you in"


def test_needless__to_a_launch__page_and_interpreter_belong_to_one_place() -> None:
    """Elsewhere there is a page, here an interpreter."""
    page = "--app-base-url has no use on this machine: there is no page to point at"
    python = "--python has no use elsewhere: the place makes an environment of its own"
    assert said(needless_to_a_launch(local=True, app_base_url=True, python=True)) == page
    assert said(needless_to_a_launch(local=False, app_base_url=True, python=True)) == python
    assert needless_to_a_launch(local=True, app_base_url=False, python=True) is None
    assert needless_to_a_launch(local=False, app_base_url=True, python=False) is None


def test_needless__on_this_machine__says_what_to_do_instead() -> None:
    """There are no agents to make, and no branches to ask a service for."""
    assert (NO_AGENTS_HERE.code, NO_BRANCHES_HERE.code) == ("BK904", "BK904")
    assert "--agent" in NO_AGENTS_HERE.hint
    assert "git branch" in NO_BRANCHES_HERE.hint


def test_needless__to_a_server__the_place_is_itself() -> None:
    """The first option that is given is refused, each with a reason of its own."""
    for option, reason in SERVER_REASONS.items():
        assert said(needless_to_a_server([option])) == reason
    assert said(needless_to_a_server(["--local", "--api-key"])) == SERVER_REASONS["--local"]
    assert needless_to_a_server(["--insecure-http"]) is None
