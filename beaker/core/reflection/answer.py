"""Reading a model's answer: one edit, in the form it was asked for or in one of those that models fall into."""

import json
import re
from collections.abc import Iterator, Sequence

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.values import value

CODE = "BK560"
"""The code of an answer without an edit that can be read."""

FILLER = "the complete new content of the file"
"""What stands in the form that a model is asked to fill."""


@value
class Edit:
    """One edit of a working copy: `path` counts from its root, `content` is `None` to delete the file."""

    path: str
    content: str | None


def read_answer(
    answer: str, *, known: Sequence[str], places: Sequence[str], shown: Sequence[str], cut_off: bool
) -> Result[Edit, Problem]:
    """The edit that `answer` holds; BK560 says why there is none.

    `known` are the paths of the working copy, `places` where new files may be made, `shown` the paths that the model
    was given in full. `cut_off` tells that the answer ended because its room was used up: a file that has no end is no
    edit then.

    Read are, in this order: the tags that the prompt asks for (unclosed, or with their content in a fence); a JSON
    object with `path` and `content`, or `path` and `delete`; the only fenced block, when its path stands before it, or
    the model was shown one file.
    """
    told = _without_thoughts(answer)
    for found in (_from_tags(told, cut_off), _from_json(told), _from_fence(told, known, shown, cut_off)):
        if isinstance(found, Problem):
            return Failure(found)
        if found is not None and (found.content or "").strip().strip(".").lower() == FILLER:
            return Failure(Problem(CODE, "it repeats the form instead of filling it"))
        if found is not None:
            named = found.path
            if found.content is not None and not named.strip(". ") and len(shown) == 1:
                named = shown[0]  # the form was filled but for its path
            path = _resolved(named, known, places)
            if path is None:
                return Failure(Problem(CODE, f"the path {found.path[:100]!r} is no place in the working copy"))
            return Success(Edit(path, found.content))
    why = "it is empty" if not told.strip() else "it was cut off before one" if cut_off else "there is none in it"
    return Failure(Problem(CODE, why))


def settled(content: str, before: str | None) -> str:
    """`content` with the line ends of the file it replaces: a model sees neither carriage returns nor a missing end.

    `before` is what the file held, `None` when it is new.
    """
    made = content.replace("\r\n", "\n")
    if before and not before.endswith("\n"):
        made = made.rstrip("\n")
    elif made and not made.endswith("\n"):
        made += "\n"
    return made.replace("\n", "\r\n") if before and "\r\n" in before else made


def _without_thoughts(answer: str) -> str:
    """What follows the thoughts of a model that thinks aloud."""
    return answer.rpartition("</think>")[2] if "</think>" in answer else answer


_OPEN = re.compile(r"<\s*(edit|file|write|create)\b([^<>]*?)(/?)>", re.IGNORECASE)
_DELETE = re.compile(r"<\s*(?:delete|remove)\b([^<>]*?)/?>", re.IGNORECASE)
_PATH = re.compile(r"""(?:path|name|file)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'/][^\s"']*))""", re.IGNORECASE)


def _from_tags(told: str, cut_off: bool) -> Edit | Problem | None:
    opened = next((found for found in _OPEN.finditer(told) if _path(found[2]) and not found[3]), None)
    deleted = next((found for found in _DELETE.finditer(told) if _path(found[1])), None)
    if deleted is not None and (opened is None or deleted.start() < opened.start()):
        return Edit(_path(deleted[1]), None)
    if opened is None:
        return None
    rest = told[opened.end() :]
    following = next((found.start() for found in _OPEN.finditer(rest) if _path(found[2])), len(rest))
    close = rf"<\s*/\s*{opened[1]}\s*>"
    # A file may itself speak of such tags: the last one closes, before a second edit if there is one after a close.
    closes = [*re.finditer(close, rest, re.IGNORECASE)]
    within = [found for found in closes if found.start() < following] or closes
    if within:
        content = rest[: within[-1].start()]
    elif cut_off:
        return Problem(CODE, "it was cut off within the file")
    else:
        content = rest
    return Edit(_path(opened[2]), _content(content))


def _path(attributes: str) -> str:
    found = _PATH.search(attributes)
    return "" if found is None else (found[1] or found[2] or found[3] or "").strip()


def _content(between: str) -> str:
    """What stands between the tags, without the line ends beside them and without a fence around all of it."""
    text = between.removeprefix("\r\n").removeprefix("\n")
    fenced = _FENCED.fullmatch(text.strip())
    if fenced is not None and "\n```" not in fenced[2]:
        return fenced[2]
    return text


_FENCED = re.compile(r"```([^\n`]*)\n(.*?)\n?```", re.DOTALL)

_ATTEMPTS = 20
"""Braces at which JSON is looked for."""


def _from_json(told: str) -> Edit | None:
    for data in _objects(told):
        path = data.get("path") or data.get("file") or data.get("filename")
        if not isinstance(path, str) or not path.strip():
            continue
        if data.get("delete") is True or data.get("action") == "delete":
            return Edit(path, None)
        for key in ("content", "text", "new_content"):
            content = data.get(key)
            if isinstance(content, str):
                return Edit(path, content)
    return None


def _objects(told: str) -> Iterator[dict[str, object]]:
    decoder = json.JSONDecoder(strict=False)  # models leave line ends in their texts as they are
    for start in [found.start() for found in re.finditer(r"\{", told)][:_ATTEMPTS]:
        try:
            data, _ = decoder.raw_decode(told, start)
        except (ValueError, RecursionError):
            continue
        yield data


def _from_fence(told: str, known: Sequence[str], shown: Sequence[str], cut_off: bool) -> Edit | None:
    blocks = [*_FENCED.finditer(told)]
    if len(blocks) != 1 or cut_off:
        return None
    (block,) = blocks
    before = f"{told[: block.start()]} {block[1]}"
    named = {
        found.end(): path
        for path in known
        for found in re.finditer(rf"(?<![\w/.-]){re.escape(path)}(?![\w/-])", before)
    }
    path = named[max(named)] if named else shown[0] if len(shown) == 1 else None
    return None if path is None else Edit(path, block[2])


def _resolved(given: str, known: Sequence[str], places: Sequence[str]) -> str | None:
    """The path that is meant: as it is written, with the beginning that a model left out, or by its unique name."""
    path = given.strip().strip("`").replace("\\", "/").removeprefix("./").lstrip("/")
    if any(part in ("", ".", "..") for part in path.split("/")) or not path.isprintable():
        return None
    if path in known or path.startswith(("documents/", "repository/")):
        return path
    for place in places:
        root, _, below = place.partition("/")
        if below and (path == below or path.startswith(f"{below}/")):
            return f"{root}/{path}"
    ends = [one for one in known if one.endswith(f"/{path}")]
    return ends[0] if len(ends) == 1 else None
