"""Finding what a scaffold left to do: the marker `TODO(beaker)` in hooks, classes, comments, cases and documents."""

import inspect
import io
import os
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from beaker.core.documents import TargetDocument
from beaker.sdk.integration import Integration
from beaker.sdk.loading import origin_of

MARKER = "TODO(beaker)"

EXAMPLE_CASE = "example-1"
"""The id of the case that the scaffold of a Spec made."""


def in_source(integration: Integration) -> Iterator[str]:
    """The hooks and classes whose source text holds the marker, then the lines of comments around them that do; source
    that cannot be read is passed over."""
    setup = integration.run_setup
    parts: Mapping[str, Any] = {
        "run_case": integration.run_case,
        "score_case": integration.score_case,
        f"the setup class {setup.__name__}": setup,
        f"the row class {getattr(setup.row_model, '__name__', setup.row_model)}": setup.row_model,
    }
    if (origin := origin_of(integration)) is not None:
        parts = origin.parts
    told: set[tuple[str, int]] = set()
    files: dict[str, None] = {}
    for name, part in parts.items():
        try:
            part = inspect.unwrap(part)
            lines, first = inspect.getsourcelines(part)
            file = str(inspect.getsourcefile(part))
        except Exception:
            continue
        files[file] = None
        if any(MARKER in line for line in lines):
            told |= {(file, first + number) for number in range(len(lines))}
            yield name
    for file in files:
        yield from (f"line {line} of {os.path.basename(file)}" for line in _comments(file) if (file, line) not in told)


def _comments(file: str) -> list[int]:
    """The lines of a file in which a comment holds the marker."""
    try:
        with open(file, "rb") as source:
            text = source.read()
        if MARKER.encode() not in text:
            return []
        found = tokenize.tokenize(io.BytesIO(text).readline)
        return [one.start[0] for one in found if one.type == tokenize.COMMENT and MARKER in one.string]
    except (OSError, SyntaxError, tokenize.TokenError):
        return []


def in_documents(documents: Iterable[TargetDocument]) -> Iterator[str]:
    """The seed documents whose content holds the marker."""
    for document in documents:
        if MARKER in document.content:
            yield f"the seed document {document.group}/{document.name}"
