"""Finding what a scaffold left to do: the marker `TODO(beaker)` in the modules of hooks, in cases, their files and
documents, and hooks that hold nothing but `...` or `raise NotImplementedError`."""

import ast
import inspect
import os
import textwrap
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from beaker.core.cases import CapturedFile
from beaker.core.documents import TargetDocument
from beaker.sdk.integration import Integration
from beaker.sdk.loading import origin_of

MARKER = "TODO(beaker)"

_BLOCK = 1 << 20

EXAMPLE_CASE = "example-1"
"""The id of the case that the scaffold of a Spec made."""


def in_source(integration: Integration) -> Iterator[str]:
    """The hooks and classes whose source text holds the marker, or a body that only stands for one; then the lines
    around them that hold the marker. Source that cannot be read is passed over."""
    setup = integration.run_setup
    parts: Mapping[str, Any] = {
        "run_case": integration.run_case,
        "score_case": integration.score_case,
        f"the setup class {setup.__name__}": setup,
        **({} if integration.open_candidate is None else {"open_candidate": integration.open_candidate}),
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
        elif stub := _stub("".join(lines)):
            yield name if stub == getattr(part, "__name__", "") else f"{stub} of {name}"
    for file in files:
        yield from (
            f"line {line} of {os.path.basename(file)}" for line in _marked_lines(file) if (file, line) not in told
        )


def _stub(source: str) -> str:
    """The first function of a hook or class whose body only stands for one; empty when there is none.

    Nested protocols, overloads and abstract methods have such bodies by design.
    """
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:  # the lines of a lambda, say, are no whole statement
        return ""
    for top in tree.body:
        methods = top.body if isinstance(top, ast.ClassDef) else [top]
        for method in methods:
            if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            by_design = any(ast.unparse(one).endswith(("overload", "abstractmethod")) for one in method.decorator_list)
            if not by_design and _only_stands(method.body):
                return method.name
    return ""


def _only_stands(body: list[ast.stmt]) -> bool:
    """Whether a body is `...` or raises NotImplementedError first thing, a docstring aside; nothing else is judged."""
    if (
        isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    ):
        body = body[1:]
    if not body:
        return False
    first = body[0]
    if isinstance(first, ast.Raise) and first.exc is not None:
        raised = first.exc.func if isinstance(first.exc, ast.Call) else first.exc
        return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
    return len(body) == 1 and isinstance(first, ast.Expr) and getattr(first.value, "value", None) is Ellipsis


def _marked_lines(file: str) -> list[int]:
    """The lines of a module that hold the marker, but for those of its docstring, which may explain the marker."""
    try:
        with tokenize.open(file) as source:
            text = source.read()
        if MARKER not in text:
            return []
        docstring = ast.parse(text).body[:1]
    except (OSError, SyntaxError, ValueError):
        return []
    explained: range = range(0)
    for first in docstring:
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            explained = range(first.lineno, (first.end_lineno or first.lineno) + 1)
    lines = enumerate(text.splitlines(), start=1)
    return [number for number, line in lines if MARKER in line and number not in explained]


def in_files(view: Path, files: Iterable[CapturedFile]) -> bool:
    """Whether one of a case's captured files, below `view`, holds the marker."""
    return any(_holds(view / file.name) for file in files)


def _holds(path: Path) -> bool:
    marker, tail = MARKER.encode(), b""
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                if marker in tail + block:
                    return True
                tail = block[-len(marker) :]
    except OSError:
        return False
    return False


def in_documents(documents: Iterable[TargetDocument]) -> Iterator[str]:
    """The seed documents whose content holds the marker."""
    for document in documents:
        if MARKER in document.content:
            yield f"the seed document {document.group}/{document.name}"
