"""Logging in: the machine is its table, every answer leads somewhere, and no token is shown."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.api import ApiProblem
from beaker.core.credentials import StoredSession
from beaker.core.login import (
    TRANSITIONS,
    Answered,
    CallFailed,
    CheckSession,
    Login,
    LoginCommand,
    LoginEvent,
    LoginMove,
    LoginPhase,
    OpenBrowser,
    PollChallenge,
    SaveSession,
    StartChallenge,
    Wait,
    Waited,
    begin,
    read_challenge,
    step,
)

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "login.json").read_text("utf-8"))
API = "https://api.example"
OPENED = {
    "challenge_id": "ch",
    "poll_token": "pt-secret",
    "user_code": "AB-1",
    "approval_url": "https://app.example/cli",
}
PENDING = {"status": "pending"}
STORED = StoredSession("bkr_cli_old", API)
REFUSED = CallFailed(ApiProblem("BK805", "no", status=400), 100.5)
NO_ANSWER = CallFailed(ApiProblem("BK803", "no answer"), 100.5)


def after(login: Login, *events: LoginEvent) -> tuple[Login, tuple[LoginCommand, ...]]:
    """The login after these events, and the commands of the last one."""
    commands: tuple[LoginCommand, ...] = ()
    for event in events:
        login, commands = step(login, event).unwrap()
    return login, commands


def polling(timeout: float = 600.0) -> Login:
    return after(begin(API, host="box-7", timeout=timeout)[0], Answered(OPENED, 100.0))[0]


@pytest.mark.parametrize("answer, expected", VECTORS["challenges"])
def test_read_challenge__vector__as_listed(answer: dict[str, Any], expected: list[Any] | None) -> None:
    """Address, knowledge of the code and interval; a missing text or a page that is none is refused."""
    read = read_challenge(answer)
    if expected is None:
        assert read.failure().code == "BK821"
    else:
        challenge = read.unwrap()
        assert [challenge.browser_url, challenge.prefilled, challenge.interval] == expected
        assert challenge.approval_url == answer["approval_url"]


@pytest.mark.parametrize("answer, phase", VECTORS["polls"])
def test_step__poll__leads_where_listed(answer: dict[str, Any], phase: LoginPhase) -> None:
    """Each answer to a poll leads to the listed phase, with a session or a problem exactly at an end."""
    login, commands = after(polling(), Answered(answer, 101.0))
    assert login.phase == phase
    assert (login.session is not None) == (phase == "approved")
    assert (login.problem is not None) == (login.ended and phase != "approved")
    if login.problem is not None:
        assert login.problem.code == ("BK821" if phase == "failed" else "BK820")
    assert [type(command) for command in commands] == {"approved": [SaveSession], "waiting": [Wait]}.get(phase, [])


def test_begin__nothing_stored__asks_for_a_challenge_and_polls_at_once() -> None:
    """The page learns the machine's name; the browser opens before the first poll."""
    login, commands = begin(API, host="box-7")
    assert commands == (StartChallenge("Beaker CLI on box-7"),)
    login, commands = after(login, Answered(OPENED, 100.0))
    assert login.challenge is not None
    assert commands == (OpenBrowser(login.challenge), PollChallenge("ch", "pt-secret"))
    assert begin(API, host="")[1] == (StartChallenge("Beaker CLI"),)


def test_step__waiting__polls_again_until_approved() -> None:
    """Wait, poll, and keep the login that comes."""
    login, commands = after(polling(), Answered(PENDING, 101.0))
    assert commands == (Wait(2.0),)
    login, commands = after(login, Waited(103.0))
    assert commands == (PollChallenge("ch", "pt-secret"),)
    approved = {"status": "approved", "token": " bkr_cli_new\n", "expires_at": "2099-01-01T00:00:00Z"}
    login, commands = after(login, Answered(approved, 103.0))
    assert commands == (SaveSession(StoredSession("bkr_cli_new", API, "2099-01-01T00:00:00Z")),)


@pytest.mark.parametrize(
    "stored, tried",
    [
        (STORED, True),
        (StoredSession("bkr_cli_old", f" {API}// "), True),
        (StoredSession("bkr_cli_old", "https://other.example"), False),
        (StoredSession("  ", API), False),
        (None, False),
    ],
)
def test_begin__stored_login__is_tried_only_where_it_belongs(stored: StoredSession | None, tried: bool) -> None:
    """A token is shown to the API it came from and to no other."""
    login, (command,) = begin(API, host="h", stored=stored)
    assert (login.phase, isinstance(command, CheckSession)) == (("checking", True) if tried else ("starting", False))


def test_step__stored_login__is_reused_or_replaced() -> None:
    """A login that works is kept; whatever is wrong with it, a new one begins."""
    login, _ = begin(API, host="h", stored=STORED)
    reused, commands = after(login, Answered({}, 1.0))
    assert (reused.phase, reused.session, commands) == ("reused", STORED, ())
    fresh, commands = after(login, NO_ANSWER)
    assert (fresh.phase, fresh.session, commands) == ("starting", None, (StartChallenge("Beaker CLI on h"),))


@pytest.mark.parametrize("login", [begin(API, host="h")[0], polling()], ids=["starting", "polling"])
def test_step__call_that_was_refused__ends_the_login_with_its_problem(login: Login) -> None:
    """Without a challenge, or when a poll is refused, there is no login."""
    failed, commands = after(login, REFUSED)
    assert (failed.phase, failed.problem, commands) == ("failed", REFUSED.problem, ())


def test_step__challenge_that_is_none__ends_the_login() -> None:
    """An answer that lacks what a challenge needs is no beginning."""
    failed, commands = after(begin(API, host="h")[0], Answered({}, 1.0))
    assert (failed.phase, failed.problem and failed.problem.code, commands) == ("failed", "BK821", ())


@pytest.mark.parametrize("token", ["bkr_cli_a\nb", "bkr_cli_ü", "bkr_cli_\x07"], ids=["line end", "ü", "bell"])
def test_step__token_that_no_request_can_carry__ends_the_login(token: str) -> None:
    """It is not kept, and not shown: every command would fail with it."""
    failed, commands = after(polling(), Answered({"status": "approved", "token": token}, 101.0))
    assert (failed.phase, failed.problem and failed.problem.code, commands) == ("failed", "BK821", ())
    assert token not in str(failed.problem)


def test_step__no_challenge__is_not_waited_for() -> None:
    """Nobody has seen a code yet, so that no answer is an end."""
    assert after(begin(API, host="h")[0], NO_ANSWER)[0].phase == "failed"


def test_step__poll_in_trouble__polls_again_until_the_time_is_up() -> None:
    """What passes by does not end the login; when it lasts, the reason says what was met at last."""
    login, commands = after(polling(timeout=5.0), NO_ANSWER)
    assert (login.phase, commands) == ("waiting", (Wait(2.0),))
    approved = Answered({"status": "approved", "token": "t"}, 103.0)
    assert after(login, Waited(102.5), approved)[0].phase == "approved"
    late, _ = after(login, Waited(102.5), CallFailed(NO_ANSWER.problem, 105.0))
    assert late.phase == "timed_out"
    assert late.problem is not None
    assert late.problem.message == "nobody confirmed the code within 5 seconds; at last: no answer"


def test_step__trouble_that_says_when__is_believed() -> None:
    """A service that is too busy is left alone for as long as it says."""
    busy = CallFailed(ApiProblem("BK805", "slow down", status=429, retry_after="30"), 101.0)
    assert after(polling(), busy)[1] == (Wait(30.0),)


def test_step__late__is_asked_a_last_time_and_ends() -> None:
    """The last wait is cut to the time that is left; the poll after it decides, whatever the clock says."""
    login, commands = after(polling(timeout=5.0), Answered(PENDING, 104.5))
    assert commands == (Wait(0.5),)
    login, _ = after(login, Waited(105.0))
    late, commands = after(login, Answered(PENDING, 105.0))
    assert (late.phase, commands) == ("timed_out", ())
    assert late.problem is not None
    assert (late.problem.code, "5 seconds" in late.problem.message) == ("BK820", True)
    assert late.problem.hint == "run `beaker login` again, with a longer --timeout"
    assert after(login, Answered({"status": "approved", "token": "t"}, 109.0))[0].phase == "approved"


JSON = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text())
ANSWERS = st.one_of(
    st.dictionaries(st.sampled_from([*OPENED, "status", "token", "expires_at", "approval_url_complete"]), JSON),
    st.just(OPENED),
    st.sampled_from([*get_args(LoginPhase), "pending"]).map(lambda status: {"status": status, "token": "t"}),
)
EVENTS = st.one_of(
    st.builds(Answered, ANSWERS, st.floats(0, 1000)),
    st.sampled_from([NO_ANSWER, REFUSED]),
    st.builds(Waited, st.floats(0, 1000)),
)


@given(st.none() | st.just(STORED), st.floats(0, 100), st.lists(EVENTS, max_size=30))
def test_step__any_events__walk_the_table_and_never_leave_an_end(
    stored: StoredSession | None, timeout: float, events: list[LoginEvent]
) -> None:
    """Whatever happens in whatever order: a step the table knows, or a refusal that changes nothing."""
    login, _ = begin(API, host="h", stored=stored, timeout=timeout)
    for event in events:
        moved = step(login, event)
        if not is_successful(moved):
            assert moved.failure().code == "BK829"
            continue
        following, commands = moved.unwrap()
        assert following.phase in TRANSITIONS[login.phase].values()
        assert following.ended <= (not [one for one in commands if not isinstance(one, SaveSession)])
        assert following.ended or commands
        assert (following.session is not None) == (following.phase in ("checking", "reused", "approved"))
        login = following
    if login.ended:
        assert all(not is_successful(step(login, event)) for event in (Answered(OPENED, 1.0), NO_ANSWER, Waited(1.0)))


def test_transitions__types_and_table__agree() -> None:
    """The table covers the types; every phase but the beginnings can be reached, every move is made."""
    assert set(TRANSITIONS) == set(get_args(LoginPhase))
    moves = {move: phase for row in TRANSITIONS.values() for move, phase in row.items()}
    assert set(moves) == set(get_args(LoginMove))
    assert set(moves.values()) == set(get_args(LoginPhase)) - {"checking"}


def test_repr__login__shows_no_secret() -> None:
    """Neither token nor poll token is in the text of any value."""
    login = polling()
    shown = repr(
        [
            login,
            *after(login, Answered({"status": "approved", "token": "bkr_cli_new"}, 1.0)),
            begin(API, host="h", stored=STORED),
        ]
    )
    assert not any(secret in shown for secret in ("pt-secret", "bkr_cli_new", "bkr_cli_old"))
