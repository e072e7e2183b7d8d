"""Asking a judge for a verdict in `score_case`: what comes back is a verdict, or an error is raised.

An error that leaves `score_case` is an error of the scorer: the case counts as not scored, never as failed by the
candidate.
"""

from collections.abc import Awaitable, Callable, Sequence

from returns.pipeline import is_successful

from beaker.core.verdicts import PASS_OR_FAIL, Verdict, read_verdict

__all__ = ["JudgeError", "Verdict", "ask_judge", "verdict_of"]


class JudgeError(Exception):
    """The judge gave no verdict."""


def verdict_of(answer: object, *, choices: Sequence[str] = PASS_OR_FAIL) -> Verdict:
    """The verdict in what a judge answered, as text; its `choice` is one of `choices`, spelled as there.

    Read are the word alone, a JSON object with `verdict` and perhaps `reason`, and prose with a line `Verdict: WORD`.
    `JudgeError` when it gives none, several or another; `ValueError` for choices that are not two words at least.
    """
    read = read_verdict(answer, choices)
    if not is_successful(read):
        problem = read.failure()
        raise JudgeError(f"{problem.message}; {problem.hint}")
    return read.unwrap()


async def ask_judge(
    ask: Callable[[], Awaitable[object]], *, choices: Sequence[str] = PASS_OR_FAIL, attempts: int = 2
) -> Verdict:
    """Await `ask()`, which calls the judge and gives its text, until that is a verdict: at most `attempts` times.

    `JudgeError` of the last answer when none was. What `ask` raises is raised at once: whether a call to a provider is
    worth repeating, its client knows. `ValueError` for less than one attempt.
    """
    if attempts < 1:
        raise ValueError(f"attempts must be at least 1, not {attempts}")
    for _ in range(attempts - 1):
        try:
            return verdict_of(await ask(), choices=choices)
        except JudgeError:
            continue
    return verdict_of(await ask(), choices=choices)
