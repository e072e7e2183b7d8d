"""Reading a customer's module as text: its syntax tree, and which of Beaker's names it has under which name."""

import ast
from collections.abc import Iterator

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem

PACKAGES = ("beaker", "beaker.sdk", "beaker.sdk.integration", "beaker.sdk.spec04", "beaker.spec")
"""Modules that hand out the names an Integration or a Spec is written with."""


def parse_module(source: str, file: str) -> Result[ast.Module, Problem]:
    """The syntax tree of a module; BK160 with `file:line` when Python cannot read it.

    Python may warn of escapes in texts while it reads (`SyntaxWarning`).
    """
    try:
        return Success(ast.parse(source))
    except SyntaxError as error:
        where = file if error.lineno is None else f"{file}:{error.lineno}"
        return Failure(Problem("BK160", f"is no Python that this interpreter reads: {error.msg}", where))
    except (ValueError, RecursionError, MemoryError) as error:  # a NUL character, expressions nested too deeply
        return Failure(Problem("BK160", f"is no Python that this interpreter reads: {error or 'too deep'}", file))


def imported_names(tree: ast.Module) -> dict[str, str]:
    """Names of Beaker's that the module imports, wherever in it: the name here to the name there.

    `import beaker.spec as s` is one of them: the module can be called as what it is named after.
    """
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module in PACKAGES:
            found.update((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            found.update((one.asname, "spec") for one in node.names if one.name == "beaker.spec" and one.asname)
    return found


def package_names(tree: ast.Module) -> set[str]:
    """What the module calls Beaker itself, or a module of it that hands out names: `beaker`, `b`, `beaker.sdk`."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname is None and alias.name.partition(".")[0] == "beaker":
                    found.add("beaker")
                    found.update({alias.name} & {*PACKAGES})
                elif alias.asname is not None and alias.name in PACKAGES:
                    found.add(alias.asname)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module == "beaker":
            found.update(alias.asname or alias.name for alias in node.names if f"beaker.{alias.name}" in PACKAGES)
    return found


def beaker_name(node: ast.expr, imported: dict[str, str], packages: set[str]) -> str | None:
    """The name of Beaker's that an expression stands for, `None` when it is another's."""
    match node:
        case ast.Name(id=name):
            return imported.get(name)
        case ast.Attribute(value=owner, attr=name) if ast.unparse(owner) in packages:
            return name
        case _:
            return None


def taken_names(tree: ast.Module) -> set[str]:
    """The names of Beaker's that the module imports, or takes from Beaker where it uses them."""
    imported, packages = imported_names(tree), package_names(tree)
    used = (beaker_name(node, imported, packages) for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {*imported.values(), *filter(None, used)}


def spec_factories(tree: ast.Module) -> tuple[str, ...]:
    """The functions that `beaker.spec(...)` decorates, by qualified name in the order of the module: functions of the
    module and of its classes, which is where a Spec's target can point."""
    imported, packages = imported_names(tree), package_names(tree)

    def below(body: list[ast.stmt], prefix: str) -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.ClassDef):
                yield from below(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                called = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
                if any(beaker_name(one, imported, packages) == "spec" for one in called):
                    yield f"{prefix}{node.name}"

    return tuple(below(tree.body, ""))
