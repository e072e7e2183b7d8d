"""Access to GitHub: the machine is its table, waits survive trouble and jumps, and every wait ends with a last look."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.api import ApiProblem
from beaker.core.github_access import (
    TRANSITIONS,
    AccessCommand,
    AccessMove,
    AccessPhase,
    AskConnection,
    Connection,
    GithubAccess,
    ListRepositories,
    OpenPage,
    RequestPage,
    begin,
    find_repository,
    parse_repository,
    read_connection,
    step,
)
from beaker.core.problems import Problem
from beaker.core.waiting import Answered, CallFailed, Wait, Waited, WaitingEvent

YES = {"connected": True, "installations": [{"account_login": "acme"}]}
NO: dict[str, Any] = {"connected": False, "installations": []}
PAGE = {"install_url": "https://github.example/install"}
EMPTY: dict[str, Any] = {"repositories": []}
LISTED = {"repositories": ["acme/website", 7, "Acme/Invoices"]}
BUSY = ApiProblem("BK808", "later", status=503)
GONE = ApiProblem("BK803", "no answer")
ASK, LIST, REQUEST, WAIT = AskConnection(), ListRepositories(), RequestPage(), Wait(2.0)


def after(access: GithubAccess, *events: Any) -> tuple[GithubAccess, tuple[AccessCommand, ...]]:
    """The access after these, and the commands of the last: an object is an answer, a problem a failed call, `None` the
    end of a wait. The clock stands still, so that only pauses count."""
    commands: tuple[AccessCommand, ...] = ()
    for event in events:
        access, commands = step(access, happened(event, 100.0)).unwrap()
    return access, commands


def happened(event: Any, at: float) -> WaitingEvent:
    if event is None:
        return Waited(at)
    return CallFailed(event, at) if isinstance(event, Problem) else Answered(event, at)


def start(repository: str | None = "acme/invoices", timeout: float = 600.0) -> GithubAccess:
    access, commands = begin(repository, timeout=timeout)
    assert commands == (ASK,)
    return access


def test_step__connected_and_readable__opens_nothing() -> None:
    """Two looks, and the repository as the service spells it."""
    access, commands = after(start(), YES)
    assert commands == (LIST,)
    ready, commands = after(access, LISTED)
    assert (ready.phase, ready.found, ready.problem, commands) == ("ready", "Acme/Invoices", None, ())


def test_step__no_repository_wanted__a_connection_is_enough() -> None:
    """Nothing is listed then."""
    ready, commands = after(start(None), YES)
    assert (ready.phase, ready.connected, ready.found, commands) == ("ready", True, None, ())


def test_step__unconnected__opens_the_page_once_and_waits() -> None:
    """The page is asked for and opened once; every two seconds there is a look, until it is connected."""
    access, commands = after(start(None), NO)
    assert commands == (REQUEST,)
    access, commands = after(access, PAGE)
    assert commands == (OpenPage("https://github.example/install", "connect"), WAIT)
    access, commands = after(access, None)
    assert commands == (ASK,)
    access, commands = after(access, NO)
    assert commands == (WAIT,)
    assert after(access, None, YES)[0].phase == "ready"


def test_step__unreadable__opens_the_page_once_more_for_the_repository() -> None:
    """What was opened to connect does not count for the repository; then only the list is looked at."""
    access, commands = after(start(), NO, PAGE, None, YES, EMPTY)
    assert commands == (REQUEST,)
    access, commands = after(access, PAGE)
    assert commands == (OpenPage("https://github.example/install", "repository"), WAIT)
    access, commands = after(access, None)
    assert commands == (LIST,)
    access, commands = after(access, EMPTY)
    assert commands == (WAIT,)
    assert after(access, None, LISTED)[0].found == "Acme/Invoices"


@pytest.mark.parametrize("trouble", [BUSY, GONE, ApiProblem("BK805", "slow", status=429)])
def test_step__trouble_while_waiting__passes_by(trouble: Problem) -> None:
    """Trouble in any call of the wait is waited out, and the call made again."""
    for before, again in (
        ([NO, PAGE, None], ASK),
        ([NO], ASK),
        ([YES], LIST),
        ([YES, EMPTY], LIST),
        ([YES, EMPTY, PAGE, None], LIST),
    ):
        access, commands = after(start(), *before, trouble)
        assert (access.phase, commands) == ("waiting", (WAIT,))
        assert after(access, None)[1] == (again,)
    _, commands = after(start(), NO, trouble, None, NO)
    assert commands == (REQUEST,), "a page that was not opened yet is asked for again"


@pytest.mark.parametrize("trouble", [BUSY, GONE])
def test_step__first_look_without_an_answer__ends(trouble: Problem) -> None:
    """Nobody waits ten minutes for a service that is not there."""
    failed, commands = after(start(), trouble)
    assert (failed.phase, failed.problem, commands) == ("failed", trouble, ())


@pytest.mark.parametrize("status", [400, 401, 404, 501])
def test_step__refusal__ends_with_its_problem(status: int) -> None:
    """What is no trouble of the moment is an end, wherever it comes."""
    problem = ApiProblem("BK805", "no", status=status)
    for before in ([], [NO], [YES], [NO, PAGE, None]):
        failed, commands = after(start(), *before, problem)
        assert (failed.phase, failed.problem, commands) == ("failed", problem, ())


def test_step__forbidden_to_connect__says_who_may() -> None:
    """403 there is a matter of rights; anywhere else it is a refusal like any other."""
    problem = ApiProblem("BK805", "admins only", status=403)
    forbidden, _ = after(start(), NO, problem)
    assert (forbidden.phase, forbidden.problem and forbidden.problem.code) == ("forbidden", "BK822")
    assert "admins only" in str(forbidden.problem)
    assert after(start(), YES, problem)[0].phase == "failed"
    assert after(start(), NO, Problem("BK809", "no"))[0].phase == "failed"


def test_step__time_is_up__after_a_last_look() -> None:
    """A wait always ends with a look, which may still find what was waited for."""
    access, commands = after(start(timeout=3.0), NO, PAGE, None, NO)
    assert commands == (Wait(1.0),)
    access, _ = after(access, None)
    assert after(access, YES, LISTED)[0].phase == "ready"
    late, commands = after(access, NO)
    assert (late.phase, commands) == ("timed_out", ())
    assert str(late.problem) == "GitHub was not connected within 3 seconds"
    unlisted, _ = after(access, YES, EMPTY)
    assert str(unlisted.problem) == "GitHub has not let us read acme/invoices within 3 seconds"
    troubled, _ = after(access, BUSY)
    assert str(troubled.problem) == "GitHub was not connected within 3 seconds; at last: later"


def test_step__closed_lid__does_not_end_the_wait() -> None:
    """A clock that is hours ahead after a wait, or behind, still leaves time for somebody to act."""
    access, _ = after(start(timeout=300.0), NO, PAGE)
    for at in (100_000.0, -100_000.0, 200_000.0):
        access, commands = step(access, Waited(at)).unwrap()
        assert commands == (ASK,)
        access, commands = step(access, Answered(NO, at)).unwrap()
        assert commands == (WAIT,)
    assert not access.patience.over


@pytest.mark.parametrize(
    "answer",
    [{}, {"install_url": 7}, {"install_url": ""}, {"install_url": "file:///x"}, {"install_url": "https://h h"}],
)
def test_step__page_that_is_none__is_not_opened(answer: dict[str, Any]) -> None:
    """Only addresses of web pages reach a browser."""
    failed, commands = after(start(), NO, answer)
    assert (failed.phase, failed.problem and failed.problem.code, commands) == ("failed", "BK824", ())


@pytest.mark.parametrize(
    "answer, expected",
    [
        (YES, Connection(True, ({"account_login": "acme"},))),
        (NO, Connection(False)),
        ({"connected": True, "installation_id": "77"}, Connection(True, ({"installation_id": "77"},))),
        ({"connected": False, "installation_id": None}, Connection(False)),
        ({"connected": True}, None),
        ({"connected": 1, "installations": []}, None),
        ({"connected": None, "installation_id": "77"}, None),
        ({"installations": []}, None),
        ({"connected": True, "installations": {}}, None),
        ({"connected": True, "installations": ["acme"]}, None),
    ],
)
def test_read_connection__answer__as_listed(answer: dict[str, Any], expected: Connection | None) -> None:
    """Both shapes that services have used; anything else is malformed."""
    read = read_connection(answer)
    assert read.failure().code == "BK824" if expected is None else read.unwrap() == expected
    if expected is None:
        assert after(start(), answer)[0].phase == "failed"


def test_find_repository__list__is_searched_in_any_case() -> None:
    """The service's spelling, nothing when it is not listed, a refusal when there is no list."""
    assert find_repository(LISTED, "ACME/invoices").unwrap() == "Acme/Invoices"
    assert find_repository(LISTED, "acme/other").unwrap() is None
    for answer in ({}, {"repositories": None}, {"repositories": "acme/invoices"}):
        assert find_repository(answer, "acme/invoices").failure().code == "BK824"
        assert after(start(), YES, answer)[0].phase == "failed"


@pytest.mark.parametrize(
    "text, name",
    [
        ("acme/invoices", "acme/invoices"), (" acme/in.vo-ices ", "acme/in.vo-ices"), ("acme", None), ("", None),
        ("/x", None), ("a/", None), ("a/b/c", None), ("a b/c", None), ("https://github.com/a/b", None),
    ],
)  # fmt: skip
def test_parse_repository__text__as_listed(text: str, name: str | None) -> None:
    """Two names and a slash."""
    parsed = parse_repository(text)
    if name is None:
        assert (parsed.failure().code, parsed.failure().where) == ("BK154", "--repo")
    else:
        assert parsed.unwrap() == name
    assert not is_successful(parse_repository("a/\x1b"))


ANSWERS: Any = st.sampled_from([YES, NO, PAGE, EMPTY, LISTED, {}, {"connected": 7}, {"repositories": 7}])
EVENTS = st.one_of(
    st.builds(Answered, ANSWERS, st.floats(-1e9, 1e9)),
    st.builds(
        CallFailed,
        st.sampled_from([BUSY, GONE, ApiProblem("BK805", "no", status=403), Problem("BK809", "no")]),
        st.floats(-1e9, 1e9),
    ),
    st.builds(Waited, st.floats(-1e9, 1e9)),
)


@given(st.none() | st.just("acme/invoices"), st.floats(0, 1000), st.lists(EVENTS, max_size=30))
def test_step__any_events__walk_the_table_and_never_leave_an_end(
    repository: str | None, timeout: float, events: list[WaitingEvent]
) -> None:
    """Whatever happens in whatever order: a step the table knows, or a refusal that changes nothing."""
    access, _ = begin(repository, timeout=timeout)
    opened: list[str] = []
    for event in events:
        moved = step(access, event)
        if not is_successful(moved):
            assert moved.failure().code == "BK829"
            assert access.ended or (access.phase == "waiting") != isinstance(event, Waited)
            continue
        following, commands = moved.unwrap()
        assert following.phase in TRANSITIONS[access.phase].values()
        assert following.ended == (not commands)
        assert (following.problem is not None) == (following.ended and following.phase != "ready")
        assert (following.found is not None) == (following.phase == "ready" and repository is not None)
        opened += [command.purpose for command in commands if isinstance(command, OpenPage)]
        access = following
    assert len(opened) == len(set(opened)), "a page is opened once for each purpose"
    if access.ended:
        assert all(
            not is_successful(step(access, event)) for event in (Answered(YES, 1.0), CallFailed(BUSY, 1.0), Waited(1.0))
        )


def test_transitions__types_and_table__agree() -> None:
    """The table covers the types; every phase can be reached, every move leads somewhere."""
    assert set(TRANSITIONS) == set(get_args(AccessPhase))
    moves = {move for row in TRANSITIONS.values() for move in row}
    assert moves == set(get_args(AccessMove))
    assert {phase for row in TRANSITIONS.values() for phase in row.values()} == set(get_args(AccessPhase))
