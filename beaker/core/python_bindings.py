"""What binds a name in a module of Python, and which parameters a place in it sees."""

import ast
from collections.abc import Callable, Collection, Iterator

from beaker.core.python_source import PACKAGES


def bindings(tree: ast.AST, names: Collection[str]) -> Iterator[tuple[int, str]]:
    """Where one of these names is bound by anything but an import: the line, and the name."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store() | ast.Del())
                | ast.arg(arg=name)
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.ExceptHandler(name=name)
                | ast.MatchAs(name=name)
                | ast.MatchStar(name=name)
            ) if name is not None and name in names:
                yield node.lineno, name


def foreign_imports(tree: ast.AST, names: Collection[str]) -> Iterator[tuple[int, str]]:
    """Where one of these names is imported as anything but Beaker's of that name: the line, and the name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            ours = isinstance(node, ast.ImportFrom) and not node.level and node.module in PACKAGES
            for alias in node.names:
                bound = alias.asname or alias.name
                if bound in names and not (ours and alias.name == bound):
                    yield node.lineno, bound


def with_parameters(
    node: ast.AST, is_wanted: Callable[[ast.arg], bool], seen: frozenset[str] = frozenset()
) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """Every node below, with the names that stand for a wanted parameter there, of any function around it.

    A name that a function assigns to, or takes as another parameter, stands for none in it.
    """
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        taken = node.args
        parameters = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs]
        hidden = {one.arg for one in (*parameters, taken.vararg, taken.kwarg) if one is not None}
        wanted = {one.arg for one in parameters if is_wanted(one)}
        assigned = {
            inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
        }
        seen = (seen - hidden | wanted) - assigned
    for child in ast.iter_child_nodes(node):
        yield child, seen
        yield from with_parameters(child, is_wanted, seen)
