"""What a judge, a model that was asked for a verdict, said: one of the words it may choose, or that it said none.

A text that says no verdict is never one. A judge that was cut off, refused, or contradicted itself has not judged, and
counting that as a failed case would blame the candidate for it.
"""

import re
from collections.abc import Sequence
from typing import Any

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.strict_json import parse
from beaker.core.values import value

PASS_OR_FAIL = ("pass", "fail")
_SHOWN = 120
_FENCED = re.compile(r"```[a-z]*\s*\n(.*)\n\s*```", re.DOTALL | re.IGNORECASE)
_NAMED = re.compile(r"[*_#>\s]*verdict[*_]*\s*[:=]\s*(.*)", re.IGNORECASE)
_AROUND = " \t\r*_`\"'.!"


@value
class Verdict:
    """What the judge chose, spelled as in the choices, and why; `reason` is empty where it gave none."""

    choice: str
    reason: str = ""


def read_verdict(answer: object, choices: Sequence[str] = PASS_OR_FAIL) -> Result[Verdict, Problem]:
    """The one verdict that `answer` gives, of `choices`, whose case does not matter.

    Read are: the word alone; a JSON object, fenced or not, with `verdict` and perhaps `reason`; and prose with lines
    `Verdict: WORD`, all of the same word. What stands around a word as decoration (`**PASS**.`) is left out.

    BK556 for anything else: no text, no verdict, two different ones, a word that was not to choose. `ValueError` for
    fewer than two choices, an empty one, or two that differ in case alone.
    """
    known = _known(choices)
    if not isinstance(answer, str) or not answer.strip():
        return _none("the judge gave no text", known)
    text = answer.strip()
    fenced = _FENCED.fullmatch(text)
    inner = fenced[1].strip() if fenced else text
    if inner.startswith("{"):
        return _of_json(inner, known)
    if (alone := _word(inner)) in known:
        return Success(Verdict(known[alone]))
    lines = inner.splitlines()
    named = [(number, _word(found[1])) for number, line in enumerate(lines) if (found := _NAMED.fullmatch(line))]
    said = {word for _, word in named}
    if not said:
        return _none(f"the judge gave no verdict: {_cut(text)}", known)
    if len(said) > 1:
        return _none(f"the judge gave different verdicts: {', '.join(map(_cut, sorted(said)))}", known)
    (word,) = said
    if word not in known:
        return _none(f"the judge chose what is no choice: {_cut(word)}", known)
    places = {number for number, _ in named}
    reason = "\n".join(line for number, line in enumerate(lines) if number not in places)
    return Success(Verdict(known[word], reason.strip()))


def _of_json(text: str, known: dict[str, str]) -> Result[Verdict, Problem]:
    read = parse(text, "the judge's answer")
    if not is_successful(read):
        return _none(f"the judge's JSON cannot be read: {read.failure().message}", known)
    found: dict[str, Any] = read.unwrap()
    word, reason = found.get("verdict"), found.get("reason")
    if not isinstance(word, str) or _word(word) not in known:
        return _none(f"the judge chose what is no choice: {_cut(word)}", known)
    return Success(Verdict(known[_word(word)], reason.strip() if isinstance(reason, str) else ""))


def _known(choices: Sequence[str]) -> dict[str, str]:
    if isinstance(choices, str):
        raise ValueError("choices must be several words, not one text")
    known = {_word(choice): choice for choice in choices}
    if len(known) < 2 or len(known) != len(choices) or "" in known:
        raise ValueError(f"choices must be at least two words that differ in more than case: {list(choices)!r}")
    return known


def _word(text: str) -> str:
    return text.strip().strip(_AROUND).casefold()


def _cut(what: object) -> str:
    shown = repr(what)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


def _none(message: str, known: dict[str, str]) -> Result[Verdict, Problem]:
    return Failure(Problem("BK556", message, hint=f"a verdict is one of {', '.join(known.values())}"))
