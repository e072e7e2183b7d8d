"""Moving `open_candidate` from a setup class beside it, where an Integration takes it from."""

import ast
import textwrap
from collections.abc import Callable, Iterator, Sequence

from beaker.core.source_edits import SourceEdit, SourceText, edited

_NAME = "open_candidate"
WHAT = "open_candidate becomes a function that the Integration is given"


def moved_opener(
    tree: ast.Module,
    setup: ast.ClassDef,
    text: SourceText,
    made: Sequence[SourceEdit],
    is_integration: Callable[[ast.expr], bool],
) -> list[SourceEdit] | str:
    """The edits that take `open_candidate` out of the class `setup` of the module `tree` and pass it to the
    Integration; none when there is none, and a sentence when they have to be made by hand.

    Edits that are `made` within it are made to what is moved. `is_integration` tells whether an expression is the class
    `Integration`.
    """
    methods = [node for node in setup.body if _is_opener(node)]
    if not methods:
        return []
    method = methods[0]
    assert isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
    hindrance = next(_hindrances(tree, setup, method, len(methods)), None)
    makers = _makers(tree, setup.name, is_integration)
    if hindrance is None and len(makers) != 1:
        hindrance = (
            f"{len(makers)} Integrations of this module use {setup.name}"
            if makers
            else (f"no Integration of this module names {setup.name} as its run_setup")
        )
    if hindrance is None and any(keyword.arg in (_NAME, None) for keyword in makers[0].keywords):
        hindrance = "the Integration is given one already, or more than its arguments show"
    if hindrance is not None:
        return f"{_NAME} stays in {setup.name}: {hindrance}"
    start = _first_line(text, method)
    after = _behind(text, text.end(method))
    function = textwrap.dedent(_without_self(text, method, made, start, after))
    if function[:1].isspace():
        return f"{_NAME} stays in {setup.name}: a line of it stands further out than its first"
    newline = "\r\n" if b"\r\n" in text.data else "\n"
    while not (line := _line_before(text, start)).strip():
        start -= len(line)  # blank lines in front of it go with it
    place = _behind(text, text.end(setup))
    moved = f"{2 * newline}{function.rstrip()}{newline}"
    if place == after:  # it is the last of its class: what replaces it stands at the margin
        edits = [SourceEdit(start, after, moved, method.lineno, WHAT)]
    else:
        edits = [
            SourceEdit(start, after, "", method.lineno, WHAT),
            SourceEdit(place, place, moved, method.lineno, WHAT),
        ]
    return [*edits, _passed(text, makers[0], newline)]


def _first_line(text: SourceText, method: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Where the text of the method begins: its decorators and the comments directly above belong to it."""
    start = text.offset(min((method.lineno, *(one.lineno for one in method.decorator_list))), 0)
    while (line := _line_before(text, start)).lstrip().startswith(b"#"):
        start -= len(line)
    return start


def _line_before(text: SourceText, start: int) -> bytes:
    """The line that ends at the offset `start`, its end included."""
    return text.data[text.data.rfind(b"\n", 0, start - 1) + 1 : start]


def _behind(text: SourceText, offset: int) -> int:
    """Where the line behind the one of `offset` begins."""
    found = text.data.find(b"\n", offset)
    return len(text.data) if found < 0 else found + 1


def _is_opener(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == _NAME


def _hindrances(
    tree: ast.Module, setup: ast.ClassDef, method: ast.FunctionDef | ast.AsyncFunctionDef, count: int
) -> Iterator[str]:
    """Why the method cannot be moved as it is."""
    if count > 1:
        yield "it is defined more than once"
    if setup not in tree.body:
        yield "the class does not stand at the margin of the module"
    if len(setup.body) == 1:
        yield "the class has nothing else"
    arguments = [*method.args.posonlyargs, *method.args.args]
    if len(arguments) != 1:
        yield "it takes other arguments than self and its two keywords"
    own = "".join(one.arg for one in arguments)
    parts = [part for statement in method.body for part in ast.walk(statement)]
    if any(isinstance(part, ast.Name) and part.id in (own, "super", setup.name, "__class__") for part in parts):
        yield f"it uses {own} or its class"
    of_class = {name for statement in setup.body for name in _bound(statement)} - {_NAME}
    if any(isinstance(part, ast.Name) and part.id in of_class for part in parts):
        yield "it uses names of its class"
    if any(isinstance(one, ast.Name) and one.id in ("staticmethod", "classmethod") for one in method.decorator_list):
        yield "it is no ordinary method"
    docstring = method.body[0].value if isinstance(method.body[0], ast.Expr) else None
    if any(
        isinstance(part, ast.Constant | ast.JoinedStr) and part is not docstring and part.end_lineno != part.lineno
        for part in parts
    ):
        yield "a text in it goes over several lines"
    if any(_NAME in _bound(statement) for statement in tree.body):
        yield "the module has something of that name"


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module or a class binds there."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    return {
        node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } | {
        alias.asname or alias.name
        for node in ast.walk(statement)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


def _makers(tree: ast.Module, setup: str, is_integration: Callable[[ast.expr], bool]) -> list[ast.Call]:
    """The calls that make an Integration with this class as its setup."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and is_integration(node.func)
        and any(
            keyword.arg == "run_setup" and isinstance(keyword.value, ast.Name) and keyword.value.id == setup
            for keyword in node.keywords
        )
    ]


def _without_self(
    text: SourceText, method: ast.FunctionDef | ast.AsyncFunctionDef, made: Sequence[SourceEdit], start: int, end: int
) -> str:
    """The text of the method, with what was made of it, but without its first argument and the comma behind that."""
    own = [*method.args.posonlyargs, *method.args.args][0]
    head, tail = _as_made(text, made, start, text.start(own)), _as_made(text, made, text.end(own), end)
    rest = tail.lstrip()
    return head + (rest[1:].lstrip() if rest.startswith(",") else rest)


def _as_made(text: SourceText, made: Sequence[SourceEdit], start: int, end: int) -> str:
    """The text between two offsets with the edits within it."""
    within = [one for one in made if start <= one.start and one.end <= end]
    moved = [SourceEdit(one.start - start, one.end - start, one.new, one.line, one.what) for one in within]
    return edited(text.text(start, end), moved)


def _passed(text: SourceText, maker: ast.Call, newline: str) -> SourceEdit:
    """The argument more that the Integration gets, behind its last one and in its style."""
    last = maker.keywords[-1]
    at = text.end(last)
    line_start = text.offset(last.lineno, 0)
    indent = text.text(line_start, text.start(last))
    joint = f",{newline}{indent}" if not indent.strip() and last.lineno > maker.lineno else ", "
    return SourceEdit(at, at, f"{joint}{_NAME}={_NAME}", last.lineno, WHAT)
