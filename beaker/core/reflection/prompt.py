"""The prompt: files, what was tried, how the cases went, and the form of the answer, within a model's context."""

from collections.abc import Mapping, Sequence
from typing import Any

from beaker.core.reflection.answer import FILLER
from beaker.core.reflection.budget import Window, cut, tokens
from beaker.core.reflection.failures import render_cases
from beaker.core.reflection.files import Shown, WorkingFile, choose_files, render_files
from beaker.core.strict_json import JsonObject, dumps
from beaker.core.values import value

FILES_SHARE, HISTORY_SHARE = 0.6, 0.15
"""Of the room that the instructions leave: what files, and what earlier attempts, may take; cases get the rest."""

_SYSTEM = """\
You improve a system by editing the files it works with: prompts, rules, notes or code. You see its files, and how it \
did on some cases. Find the weakness behind the failures and mend it in general: other cases of the same kind, which \
you do not see, decide whether your edit is kept. Never copy the answers of single cases into a file.\
"""

_ANSWER = """\
# Your answer

Say in one or two sentences what goes wrong and what you change. Then give exactly one edit: one file, written out in \
full between the tags below, with nothing after it. The path is that of a file above that is not read-only, or of a \
new file. (A file that should not be there is deleted with <delete path="..."/> in place of the edit.)

<edit path="{path}">
{filler}
</edit>
"""

AGAIN = """\
That answer held no edit that could be read ({why}). Answer once more with the edit alone: <edit path="{path}">, the \
complete new content of that file, </edit>.\
"""
"""What is asked when an answer held no edit; `why`, and the `path` that the first question showed, complete it."""


@value
class Prompt:
    """What is sent first. `shown` are the files that were given in full, `cases` counts the cases that are in it,
    `example` is the path in the form of the answer.
    """

    system: str
    user: str
    shown: tuple[WorkingFile, ...]
    cases: int
    example: str

    @property
    def tokens(self) -> int:
        """About how many tokens it has."""
        return tokens(self.system) + tokens(self.user)


def build_prompt(
    files: Sequence[WorkingFile],
    *,
    places: Sequence[str],
    summary: JsonObject,
    cases: Sequence[JsonObject],
    window: Window,
    seed: int,
) -> Prompt:
    """The prompt for one edit, in at most about `window.prompt` tokens.

    `files` are the text files of the working copy, `places` where new ones may be made; `summary` and `cases` are the
    evidence as a command finds it in `summary.json` and `cases/*.json`. The same arguments give the same prompt.
    """
    example = next((file.path for file in files if file.editable), f"{(*places, 'documents/group')[0]}/name.txt")
    closing = _ANSWER.format(path=example, filler=FILLER)
    room = max(window.prompt - tokens(_SYSTEM) - tokens(closing), 0)
    evidence = dumps([cases])
    limit = int(room * FILES_SHARE)
    shown: Shown = choose_files(files, evidence=evidence, limit=limit, window=window, seed=seed)
    sections = [cut(render_files(shown, places=places), max(limit, 1) + tokens(" ".join(shown.named)))]
    sections.append(_history(summary, limit=int(room * HISTORY_SHARE)))
    left = room - sum(map(tokens, sections)) - tokens(head := _standing(summary))
    told, count = render_cases(cases, limit=max(left, 0))
    sections += [head, told, closing]
    return Prompt(_SYSTEM, "\n".join(filter(None, sections)), shown.full, count, example)


def _standing(summary: JsonObject) -> str:
    objective = summary.get("objective")
    lines = ["# How it does\n"]
    if isinstance(objective, float | int):
        lines.append(f"Mean objective over the cases that select: {objective:.4g} (1 is perfect).")
    means = summary.get("field_means")
    for name, found in means.items() if isinstance(means, Mapping) else ():
        if isinstance(found, Mapping):
            lines.append(f"{name}: {_score(found.get('mean'))} over {found.get('n')} of the cases known here")
    return cut("\n".join(lines), 200) + "\n"


def _history(summary: JsonObject, *, limit: int) -> str:
    """Earlier attempts, the latest first, as many as fit."""
    tried = summary.get("history")
    lines = ["# What was tried before, the latest first\n"]
    left = limit - tokens(lines[0])
    for trial in reversed(tried if isinstance(tried, list | tuple) else ()):
        line = _trial(trial) if isinstance(trial, Mapping) else ""
        left -= tokens(line) + 1
        if left < 0:
            break
        lines.append(line)
    return "\n".join(lines) + "\n" if len(lines) > 1 else ""


def _trial(trial: Mapping[str, Any]) -> str:
    changed = ", ".join(map(str, trial.get("changed") or ())) or "nothing"
    why = trial.get("reason") or trial.get("message") or ""
    return cut(f"- changed {changed}: {trial.get('outcome')}{f' ({why})' if why else ''}", 80)


def _score(found: Any) -> str:
    return f"{found:.3g}" if isinstance(found, float | int) else "unknown"
