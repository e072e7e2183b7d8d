"""Putting what customer code raised into words, whatever its exceptions do when they are looked at."""

import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from beaker.core.evaluations import CaseError
from beaker.core.problems import Problem, Problems
from beaker.core.sandbox_refusals import sandbox_hint
from beaker.core.values import value
from beaker.runtime.places import place_in
from beaker.runtime.shortening import preliminary

MAX_MESSAGE_CHARACTERS = 2_000
MAX_TRACEBACK_CHARACTERS = 20_000
"""What a host keeps of a message and a traceback, once it has taken secrets out."""

LATE = " took longer than its limit of "
"""What stands between a stage and its limit when it was late."""

_RUNTIME = f"{Path(__file__).parent}/"
_BEAKER = f"{Path(__file__).parents[1]}/"

_JUDGING = (f"{_BEAKER}core/", f"{_BEAKER}sdk/", "<attrs generated ")
"""Code of ours that judges the values which customer code makes."""

_LIBRARY = tuple(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib"))
_INSTALLED = ("/site-packages/", "/dist-packages/")

_CASE_HINTS = {
    "raised": "run_case raised it; what it needs must be in the input, the targets or the commit",
    "retryable": "run_case asked for another attempt; smoke makes one, so try again when the cause may be gone",
    "crashed": "the process ended: what it printed last may tell; code must not end it (os._exit)",
    "infrastructure": "nothing but this machine's lack of memory, or a person, kills a process like that; try again",
    "open_candidate": "open_candidate must come to its `yield` and leave it again with the seeds as documents",
    "invalid_result": "return CaseResult(output) with JSON: dict and list, no tuples, dates or models",
    "scorer": "score_case must return a CaseScore for whatever run_case returned; a wrong answer scores 0",
    "import": "import from the checkout only; compute paths from __file__",
    "installed_copy": "import what candidates edit from the checkout: see where each module was loaded from",
}


@value
class StageProblem(Problem):
    """A problem that customer code caused. `stage` says at which step, `traceback` is text, empty without one."""

    stage: str = ""
    traceback: str = ""


class StageFailed(Exception):
    """Ends a stage inside a child; the first problem is the cause, later ones happened while cleaning up.

    `error` is what a context manager around the stage is left with: the customer's own exception where there is one,
    which `raised` is, too; `raised` is `None` otherwise.
    """

    def __init__(self, problems: StageProblem | Iterable[StageProblem], error: BaseException | None = None) -> None:
        self.problems = (problems,) if isinstance(problems, StageProblem) else tuple(problems)
        self.raised = error
        self.error: BaseException = error or ValueError("; ".join(map(str, self.problems)))
        super().__init__(str(self.error))


class WorkerFailed(Exception):
    """A child could not do what it was asked.

    `kind` is `raised` (customer code raised or broke a rule), `timed_out`, `crashed` (the process ended) or `protocol`
    (it wrote something else than answers). `problems` holds the cause first, then what failed while cleaning up: at
    least one, or `ValueError`; `captured` what the process had printed. Of a crash, `status` is how the process ended
    (negative: the signal), `None` when that is not known, and `passing` says that it could not be started for want of
    something that comes back.
    """

    def __init__(
        self,
        kind: str,
        problems: Problem | Iterable[Problem],
        captured: str = "",
        *,
        status: int | None = None,
        passing: bool = False,
    ) -> None:
        self.kind = kind
        self.status = status
        self.passing = passing
        self.problems: Problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        if not self.problems:
            raise ValueError("a failure needs a reason")
        self.captured = captured
        super().__init__("; ".join(map(str, self.problems)))

    @property
    def problem(self) -> Problem:
        """The cause."""
        return self.problems[0]


def stage_problem(code: str, stage: str, error: BaseException, *, doing: str = "", hint: str = "") -> StageProblem:
    """`error` as a problem of `stage`: `doing: KindOfError: its text`, with its traceback."""
    message = said(error)
    return StageProblem(
        code, f"{doing}: {message}" if doing else message, hint=hint, stage=stage, traceback=traced(error)
    )


def case_problem(stage: str, error: CaseError, checkout: Path) -> StageProblem:
    """Why the sample could not be run or scored (`stage`), at its place in the checkout."""
    late = next((name for name in ("open_candidate", "run_case", "score_case") if _is_late(name, error)), None)
    kind = "scorer" if stage == "score_case" else error.kind
    usual = _CASE_HINTS.get(kind, _CASE_HINTS["crashed"])
    hint = sandbox_hint(error.message) or usual if late is None else late_hint(late)
    return StageProblem("BK349", error.message, place_in(error.traceback, checkout), hint, stage, error.traceback)


def late_hint(stage: str) -> str:
    """What to do about a stage that took longer than its limit, named as the setting is."""
    # Checking the rows has the time of loading cases.
    name = "load_cases" if stage == "check_rows" else stage
    return f"raise harness_optimization.timeouts.{name} (seconds), or see what it waits for"


def _is_late(stage: str, error: CaseError) -> bool:
    return error.message.startswith(f"{stage}{LATE}")


def said(error: BaseException) -> str:
    """The class and the text of an exception, on whatever terms it gives them; cut as `preliminary` does."""
    if isinstance(error, SystemExit):
        return preliminary(f"the code called sys.exit({_safely(repr, error.code)})", MAX_MESSAGE_CHARACTERS)
    text = _safely(str, error)
    kind = type(error).__name__
    return preliminary(f"{kind}: {text}" if text else kind, MAX_MESSAGE_CHARACTERS)


def traced(error: BaseException) -> str:
    """The traceback with its chain, each from the customer's first frame to their last; cut as `preliminary` does."""
    try:
        shown = traceback.TracebackException.from_exception(error, compact=True)
        for one in _chain(shown):
            _leave_out_callers(one.stack)
        text = "".join(shown.format())
    except Exception as broken:
        text = f"<the traceback cannot be shown: {type(broken).__name__}>"
    return preliminary(text, MAX_TRACEBACK_CHARACTERS)


def _chain(shown: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    """An exception, those it came from, and those it groups."""
    waiting = [shown]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += [other for other in (one.__cause__, one.__context__, *(one.exceptions or ())) if other is not None]


def _leave_out_callers(stack: traceback.StackSummary) -> None:
    theirs = next((at for at, frame in enumerate(stack) if not _calls_theirs(frame.filename)), None)
    if theirs is not None:
        del stack[:theirs]
        while len(stack) > 1 and stack[-1].filename.startswith(_JUDGING):
            del stack[-1]  # what Beaker thinks of a value it was given: their own line is the place
    elif stack and not stack[-1].filename.startswith(_RUNTIME):
        # Beaker's judgement of a value, or an import of nothing: the message says all there is to say.
        stack.clear()


def _calls_theirs(file: str) -> bool:
    """Whether frames of `file` may stand before the customer's: Beaker, and what it calls them through."""
    if file.startswith((_BEAKER, "<frozen ")):
        return True
    return file.startswith(_LIBRARY) and not any(part in file for part in _INSTALLED)


def _safely(show: Callable[[object], str], item: object) -> str:
    try:
        return show(item)
    except BaseException as error:
        return f"<its text cannot be shown: {type(error).__name__}>"
