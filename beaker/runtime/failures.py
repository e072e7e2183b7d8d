"""Putting what customer code raised into words, whatever its exceptions do when they are looked at."""

import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType

from beaker.core.problems import Problem, Problems
from beaker.core.values import value

MAX_MESSAGE_CHARACTERS = 2_000
MAX_TRACEBACK_CHARACTERS = 20_000

_OWN_CODE = str(Path(__file__).parent)


@value
class StageProblem(Problem):
    """A problem that customer code caused. `stage` says at which step, `traceback` is text, empty without one."""

    stage: str = ""
    traceback: str = ""


class StageFailed(Exception):
    """Ends a stage inside a child; the first problem is the cause, later ones happened while cleaning up.

    `error` is what a context manager around the stage is left with: the customer's own exception where there is one.
    """

    def __init__(self, problems: StageProblem | Iterable[StageProblem], error: BaseException | None = None) -> None:
        self.problems = (problems,) if isinstance(problems, StageProblem) else tuple(problems)
        self.error: BaseException = error or ValueError("; ".join(map(str, self.problems)))
        super().__init__(str(self.error))


class WorkerFailed(Exception):
    """A child could not do what it was asked.

    `kind` is `raised` (customer code raised or broke a rule), `timed_out`, `crashed` (the process ended) or `protocol`
    (it wrote something else than answers). `problems` holds the cause first, then what failed while cleaning up;
    `captured` what the process had printed.
    """

    def __init__(self, kind: str, problems: Problem | Iterable[Problem], captured: str = "") -> None:
        self.kind = kind
        self.problems: Problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
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


def said(error: BaseException) -> str:
    """The class and the text of an exception, on whatever terms it gives them; at most 2,000 characters."""
    if isinstance(error, SystemExit):
        return bounded(f"the code called sys.exit({_safely(repr, error.code)})", MAX_MESSAGE_CHARACTERS)
    text = _safely(str, error)
    kind = type(error).__name__
    return bounded(f"{kind}: {text}" if text else kind, MAX_MESSAGE_CHARACTERS)


def traced(error: BaseException) -> str:
    """The traceback with its chain, without the frames that called the customer's code; at most 20,000 characters."""
    start = error.__traceback__
    while start is not None and _is_ours(start):
        start = start.tb_next
    try:
        formatted = traceback.TracebackException(type(error), error, start or error.__traceback__, compact=True)
        text = "".join(formatted.format())
    except Exception as broken:
        text = f"<the traceback cannot be shown: {type(broken).__name__}>"
    return bounded(text, MAX_TRACEBACK_CHARACTERS)


def bounded(text: str, limit: int) -> str:
    """`text` with its middle left out when it is longer than `limit`; lone surrogates become escapes."""
    if len(text) > limit:
        text = f"{text[: limit // 2]}\n[... {len(text) - limit} characters left out ...]\n{text[-(limit // 2) :]}"
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _is_ours(frame: TracebackType) -> bool:
    name = frame.tb_frame.f_code.co_filename
    return name.startswith((_OWN_CODE, "<frozen importlib"))


def _safely(show: Callable[[object], str], item: object) -> str:
    try:
        return show(item)
    except BaseException as error:
        return f"<its text cannot be shown: {type(error).__name__}>"
