"""The files that a model is shown: which of them in full, which by name alone."""

from collections.abc import Iterable, Sequence

from beaker.core.keyed import shuffled
from beaker.core.reflection.budget import Window, tokens
from beaker.core.values import value

REWRITABLE = 0.8
"""The share of an answer that a file may fill for a model to be asked to write it anew."""

NAMED = 40
"""Files that are named at most where not all can be shown."""


@value
class WorkingFile:
    """A text file of the working copy. `path` counts from its root, as in `documents/book/rules.txt`."""

    path: str
    text: str
    editable: bool = True


@value
class Shown:
    """`full` are shown with their text, the most telling first; `named` by name: what does not fit, or is too long to
    be written anew."""

    full: tuple[WorkingFile, ...]
    named: tuple[str, ...]


def choose_files(files: Sequence[WorkingFile], *, evidence: str, limit: int, window: Window, seed: int) -> Shown:
    """The files to show in at most `limit` tokens together.

    First those whose name the evidence mentions (a traceback does), most often first; the others in an order drawn with
    `seed`, so that where there is room for few, different proposals see different ones. Files that may not be edited
    come last.
    """
    by_path = {file.path: file for file in files}
    drawn = {path: place for place, path in enumerate(shuffled(by_path, seed, "reflection files"))}
    mentions = {path: evidence.count(path.rpartition("/")[2]) for path in by_path}
    ordered = sorted(files, key=lambda file: (not file.editable, -mentions[file.path], drawn[file.path]))
    full: list[WorkingFile] = []
    left = limit
    for file in ordered:
        size = tokens(file.text)
        if size > left or (file.editable and size > window.answer * REWRITABLE):
            continue
        left -= size + tokens(file.path) + _AROUND
        full.append(file)
    taken = {file.path for file in full}
    return Shown(tuple(full), tuple(sorted(by_path.keys() - taken)))


_AROUND = 12
"""Tokens around the text of a file."""


def render_files(shown: Shown, *, places: Iterable[str]) -> str:
    """The section about files; `places` are where new ones may be made."""
    parts = ["# Files\n"]
    for file in shown.full:
        note = "" if file.editable else ' read-only="true"'
        end = "" if file.text.endswith("\n") or not file.text else "\n"
        parts.append(f'<file path="{file.path}"{note}>\n{file.text}{end}</file>\n')
    if shown.named:
        more = f" and {len(shown.named) - NAMED} more" if len(shown.named) > NAMED else ""
        parts.append(f"Not shown, and not to be edited now: {', '.join(shown.named[:NAMED])}{more}\n")
    parts.append(f"A new file may be made in: {', '.join(places) or 'no place'}\n")
    return "\n".join(parts)
