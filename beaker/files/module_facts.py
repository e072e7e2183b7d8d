"""What the text of a Python module says of models: what it imports, calls and records. Nothing is imported or run."""

import ast
from collections.abc import Iterator

from beaker.core.frameworks import ADAPTERS, MODEL_CALL, TOOL_ADAPTERS, ModuleFacts

_ADAPTER_CALLS = frozenset({"instrument", "capabilities", "config", "handler", "registered"})


def module_facts(source: str, path: str, *, is_test: bool = False) -> ModuleFacts | None:
    """The facts of a module; `None` for what is no Python.

    An adapter counts where the result of its call is used: it gives what has to be handed on. The ones for tools alone
    work in place, so any call of theirs counts.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names = _imported(tree)
    traces = _traces(tree)
    discarded = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    calls: list[tuple[str, int]] = []
    recorded: list[tuple[str, int]] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = _dotted(node.func, names)
        if called is not None:
            calls.append((called, node.lineno))
        adapter = _adapter(called or "")
        if _is_model_call(node.func, traces):
            recorded.append((MODEL_CALL, node.lineno))
        elif adapter is not None and (id(node) not in discarded or adapter in TOOL_ADAPTERS):
            recorded.append((adapter, node.lineno))
    imports = sorted(_imports(tree), key=lambda one: one[1])
    return ModuleFacts(path, is_test, tuple(imports), _by_line(calls), _by_line(recorded))


def _by_line(found: list[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(found, key=lambda one: one[1]))


def _imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            yield node.module, node.lineno


def _imported(tree: ast.AST) -> dict[str, str]:
    """Names in the module, and the dotted names of what they mean."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                names[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            names.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return names


def _dotted(function: ast.expr, names: dict[str, str]) -> str | None:
    """What is called, dotted from the module it comes from; `.name` for a method of something else."""
    parts: list[str] = []
    node = function
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name) and node.id in names:
        return ".".join([names[node.id], *reversed(parts)])
    return f".{parts[0]}" if parts else None


def _adapter(called: str) -> str | None:
    """The adapter whose entry is called."""
    module, _, entry = called.rpartition(".")
    parent, _, adapter = module.rpartition(".")
    return adapter if parent == ADAPTERS and entry in _ADAPTER_CALLS else None


def _traces(tree: ast.AST) -> frozenset[str]:
    """What a module calls traces beside `trace`."""
    traces = {"trace"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_trace(node.value, frozenset(traces)):
            traces.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return frozenset(traces)


def _is_model_call(function: ast.expr, traces: frozenset[str]) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "model_call" and _is_trace(function.value, traces)


def _is_trace(node: ast.expr, traces: frozenset[str]) -> bool:
    match node:
        case ast.Name(id=name):
            return name in traces
        case ast.Attribute(attr=name):
            return name == "trace"
        case ast.Call(func=ast.Name(id="current_trace") | ast.Attribute(attr="current_trace")):
            return True
    return False
