"""Which fields of a row its case's id is made of, where the code of `load_cases` shows that.

It does where every row gives exactly one case, and the id of that is made of nothing but fields of the row.
"""

import ast
from collections.abc import Mapping

from beaker.core.values import value


@value
class RowField:
    """A field of a row: `row["name"]`, or `row.name` where it `is_attribute`."""

    name: str
    is_attribute: bool


def id_fields(source: str) -> tuple[RowField, ...]:
    """The fields that make the id, each once, in the order of the code; empty where the code does not show it.

    `source` is the text of the function `load_cases`, indented as it stands in its class.
    """
    try:
        (hook,) = ast.parse(f"if True:\n{source}" if source[:1].isspace() else source).body
    except (SyntaxError, ValueError):
        return ()
    if isinstance(hook, ast.If):
        hook = hook.body[0]
    if not isinstance(hook, ast.AsyncFunctionDef) or hook.decorator_list or len(hook.args.args) != 2:
        return ()
    row = hook.args.args[1].arg
    given: dict[str, ast.expr] = {}
    yielded: list[ast.Call] = []
    for statement in hook.body:
        match statement:
            case ast.Expr(ast.Constant()):
                continue
            case ast.Expr(ast.Yield(ast.Call(func=ast.Name("Case") | ast.Attribute(attr="Case")) as call)):
                yielded.append(call)
            case ast.Assign([ast.Name(name)], made) | ast.AnnAssign(ast.Name(name), _, ast.expr() as made):
                if name == row or name in given or _yields(made):
                    return ()
                given[name] = made
            case _:
                return ()
    ids = [keyword.value for call in yielded for keyword in call.keywords if keyword.arg == "id"]
    if len(yielded) != 1 or len(ids) != 1 or _yields(yielded[0]):
        return ()
    found: dict[RowField, None] = {}
    return tuple(found) if _made_of_fields(ids[0], row, given, found) else ()


def _yields(made: ast.expr) -> bool:
    return any(isinstance(node, ast.Yield | ast.YieldFrom | ast.NamedExpr) for node in ast.walk(made))


def _made_of_fields(made: ast.expr, row: str, given: Mapping[str, ast.expr], found: dict[RowField, None]) -> bool:
    """Whether an expression has the same value for rows whose fields are equal; the fields are noted in `found`."""
    parts: list[ast.expr]
    match made:
        case ast.Attribute(ast.Name(name), field) if name == row:
            found[RowField(field, True)] = None
            return True
        case ast.Subscript(ast.Name(name), ast.Constant(str(field))) if name == row:
            found[RowField(field, False)] = None
            return True
        case ast.Name(name) if name in given:
            return _made_of_fields(given[name], row, {one: given[one] for one in given if one != name}, found)
        case ast.Constant():
            return True
        case ast.JoinedStr(parts):
            pass
        case ast.FormattedValue(part, _, None):
            parts = [part]
        case ast.BinOp(left, ast.Add(), right):
            parts = [left, right]
        case ast.Call(ast.Name("str"), [part], []):
            parts = [part]
        case _:
            return False
    return all(_made_of_fields(part, row, given, found) for part in parts)
