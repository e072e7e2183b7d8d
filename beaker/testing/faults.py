"""What a test sees when an Integration fails: the customer's own exception, or the rule that was broken."""

from collections.abc import Iterable

from beaker.core.problems import Problem, Refused
from beaker.runtime.failures import StageProblem


class IntegrationFault(Refused):
    """The Integration broke a rule of its life cycle without raising anything itself.

    `problems` are the faults that a run, or `beaker run smoke`, would report; the text has all of them with their
    codes, places and hints.
    """

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        super().__init__(problems)
        self.args = ("\n".join(told(one) for one in self.problems),)


def told(problem: Problem) -> str:
    """A problem as text of several lines: code and message, the hint, the traceback when it has one."""
    lines = [f"{problem.code} {problem}"]
    if problem.hint:
        lines.append(f"  {problem.hint}")
    if isinstance(problem, StageProblem) and problem.traceback:
        lines += (f"  | {line}" for line in problem.traceback.splitlines())
    return "\n".join(lines)


def failure(problems: Iterable[Problem], raised: BaseException | None) -> BaseException:
    """What to raise for `problems`.

    `raised` is the exception of the customer's that they began with. It stays what it is, so that a test can expect it,
    and is told where it comes from in a note.
    """
    listed = tuple(problems)
    if raised is None:
        return IntegrationFault(listed)
    for at, problem in enumerate(listed):
        # The first one is the exception itself: its text and traceback are shown anyway.
        raised.add_note(told(problem) if at else _origin(problem))
    return raised


def _origin(problem: Problem) -> str:
    return told(Problem(problem.code, problem.message, problem.where, problem.hint))
