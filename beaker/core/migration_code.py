"""What to change in a module that was written for 0.5 to 0.6.4, so that it says the same in the words of 0.6.5.

| before | after | left to the author when |
|---|---|---|
| `RepositoryRunSetup[Row]`, `DocumentRunSetup[Row, C]` as a base | `RunSetup[Row]` | the class calls its base's hooks |
| `yield RepositoryRunSetupResult(...)` in `prepare_run` | `yield {"repository": ...}` | it yields something else |
| `ChangeSet` | `DocumentChangeSet` | |
| `runtime.candidate_runtime` | `runtime.candidate` | it is asked of anything but a parameter `runtime` |
| `open_candidate` of the setup class | a function, passed to `Integration` | it uses `self`, say |

Edits touch only the characters of what they change. A name that is used in any other way (in a text, bound anew,
looked up by a name of its own) is not touched at all, but told: a module is never half renamed.
"""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from returns.pipeline import is_successful
from returns.result import Result

from beaker.core.migration_hooks import moved_opener
from beaker.core.problems import Problem, Problems
from beaker.core.python_bindings import bindings, foreign_imports, with_parameters
from beaker.core.python_source import PACKAGES, beaker_name, imported_names, package_names, parse_module, taken_names
from beaker.core.source_edits import SourceEdit, SourceText, edited, source_text
from beaker.core.values import value

BY_HAND = "BK161"
"""The code of a change that is left to the author."""

RENAMED: Mapping[str, str] = {
    "RepositoryRunSetup": "RunSetup",
    "DocumentRunSetup": "RunSetup",
    "ChangeSet": "DocumentChangeSet",
}
"""Names of earlier generations, and what each is called now."""
_BASES = ("RepositoryRunSetup", "DocumentRunSetup")
_RESULTS: Mapping[str, str] = {"RepositoryRunSetupResult": "repository", "DocumentRunSetupResult": "documents"}
_HOOKS = ("prepare_run", "open_candidate")
_WORDS = re.compile(r"\w+")
_COMMA = re.compile(rb"\s*,?")
_ALONE = re.compile(r"[ \t]*\w+[ \t]*,?[ \t]*(#[^\r\n]*)?\r?\n")
"""A line of an import that holds one name."""


@value
class Migrated:
    """A module and what it becomes. `changes` are `(line, words)` of the old text; `by_hand` is left to the author."""

    source: str
    changes: tuple[tuple[int, str], ...] = ()
    by_hand: Problems = ()


def migrate_module(
    source: str, file: str, *, spec_names: Collection[str] = (), handed_on: Collection[str] = ()
) -> Result[Migrated, Problem]:
    """The module with every change made that can be made safely; BK160 when Python cannot read it.

    `file` names it in problems. `spec_names` are the names that only the Spec generation has: a module that takes one
    of them is of that generation, where `candidate_runtime` is still the word. Names `handed_on` are those that other
    modules of the project take from one of their own (`names_handed_on`): they stay.
    """
    return parse_module(source, file).map(lambda tree: _Module(tree, source, file, spec_names, handed_on).migrated())


def names_handed_on(source: str, file: str) -> Result[frozenset[str], Problem]:
    """The earlier names that a module takes from other modules than Beaker's; BK160 when Python cannot read it."""
    return parse_module(source, file).map(lambda tree: frozenset(_taken_elsewhere(tree)))


def _taken_elsewhere(tree: ast.Module) -> Iterator[str]:
    packages = package_names(tree)
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=module, level=level, names=names) if level or module not in PACKAGES:
                yield from (alias.name for alias in names if alias.name in RENAMED)
            case ast.Attribute(value=owner, attr=name) if name in RENAMED and ast.unparse(owner) not in packages:
                yield name


class _Module:
    """One module while it is looked at."""

    def __init__(
        self, tree: ast.Module, source: str, file: str, spec_names: Collection[str], handed_on: Collection[str]
    ) -> None:
        self.tree, self.source, self.file = tree, source, file
        self.text: SourceText = source_text(source)
        self.imported, self.packages = imported_names(tree), package_names(tree)
        self.is_spec = not taken_names(tree).isdisjoint(spec_names)
        self.handed_on = handed_on
        self.edits: list[SourceEdit] = []
        self.changes: set[tuple[int, str]] = set()
        self.by_hand: list[Problem] = []

    def migrated(self) -> Migrated:
        """What becomes of it: each group of edits on its own, and only if the module can still be read with it."""
        if not self.imported and not self.packages:
            return Migrated(self.source)
        wanted = [name for name in RENAMED if self._can_be_renamed(name)]
        for group in filter(None, (self._renamings(wanted), self._results(), self._runtimes())):
            self._keep(group, self.edits + group)
        self._move_openers()
        by_hand = tuple(sorted(self.by_hand, key=lambda problem: int(problem.where.rpartition(":")[2])))
        return Migrated(edited(self.source, self.edits), tuple(sorted(self.changes)), by_hand)

    def _move_openers(self) -> None:
        moved = False
        for setup in self._setups():
            opener = moved_opener(self.tree, setup, self.text, self.edits, self._is_integration)
            if opener and moved:
                opener = f"open_candidate stays in {setup.name}: the module gets one already"
            moved = moved or bool(opener)
            if isinstance(opener, str):
                self._leave(setup.lineno, opener)
            elif opener:
                # What is edited within what moves has moved with it.
                kept = [edit for edit in self.edits if not any(one.start <= edit.start < one.end for one in opener)]
                self._keep(opener, kept + opener)

    def _keep(self, group: list[SourceEdit], edits: list[SourceEdit]) -> None:
        """Make `edits` from now on, unless the module could not be read then; `group` are those that are new."""
        if is_successful(parse_module(edited(self.source, edits), self.file)):
            self.edits = edits
            self.changes |= {(edit.line, edit.what) for edit in group}
        else:
            self._leave(group[0].line, f"{group[0].what}: the text around it cannot be edited safely")

    def _leave(self, line: int, message: str) -> None:
        self.by_hand.append(Problem(BY_HAND, message, f"{self.file}:{line}", "change it by hand: docs/generations.md"))

    def _is(self, node: ast.expr, *names: str) -> bool:
        return beaker_name(node, self.imported, self.packages) in names

    def _is_integration(self, node: ast.expr) -> bool:
        return self._is(node, "Integration")

    def _setups(self) -> Iterator[ast.ClassDef]:
        """Classes that derive from a setup of any generation."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef) and any(
                self._is(_unsubscripted(base), "RunSetup", *_BASES) for base in node.bases
            ):
                yield node

    def _uses(self, old: str) -> list[ast.expr]:
        return [
            node for node in ast.walk(self.tree) if isinstance(node, ast.Name | ast.Attribute) and self._is(node, old)
        ]

    def _can_be_renamed(self, old: str) -> bool:
        """Whether the module has `old`, and can do without it; what hinders that is left to the author."""
        uses = self._uses(old)
        if not uses and old not in self.imported.values():
            return False
        if old in self.handed_on:
            line = next(node.lineno for node in ast.walk(self.tree) if isinstance(node, ast.Import | ast.ImportFrom))
            self._leave(line, f"{old} is not renamed: a module takes it from another one of the project")
            return False
        local = {name for name, there in self.imported.items() if there == old}
        new = {RENAMED[old]} if old in local else set()
        hindrances = (
            *((line, f"the module binds the name {name} itself") for line, name in bindings(self.tree, local | new)),
            *((line, f"the module imports another {name}") for line, name in foreign_imports(self.tree, new)),
            *self._in_texts(old),
            *self._held(old, uses),
        )
        for line, why in hindrances:
            self._leave(line, f"{old} is not renamed: {why}")
            return False
        return True

    def _renamings(self, names: Sequence[str]) -> list[SourceEdit]:
        """Every place where one of these names stands."""
        edits = [edit for node in ast.walk(self.tree) for edit in self._imports(node, names)]
        for old in names:
            edits += [
                self._use(node, old) for node in self._uses(old) if not isinstance(node, ast.Name) or node.id == old
            ]
        if "DocumentRunSetup" in names:
            edits += self._subscripts()
        return edits

    def _in_texts(self, old: str) -> Iterator[tuple[int, str]]:
        """Where a text says the name: an annotation in quotes, `__all__`, a name to look up. Docstrings may."""
        quiet = {id(node.value) for node in ast.walk(self.tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(self.tree):
            match node:
                case ast.Constant(value=str(said)) if id(node) not in quiet and old in _WORDS.findall(said):
                    yield node.lineno, "a text says it too"

    def _held(self, old: str, uses: Iterable[ast.expr]) -> Iterator[tuple[int, str]]:
        """Where a base cannot go: its class calls what the base does, or it is used for something else."""
        if old not in _BASES:
            return
        known = {id(part) for node in self._setups() for base in node.bases for part in ast.walk(base)}
        yield from (
            (node.lineno, "it is used for something else than as a base") for node in uses if id(node) not in known
        )
        for setup in self._setups():
            if any(self._is(_unsubscripted(base), old) for base in setup.bases):
                for node in ast.walk(setup):
                    match node:
                        case ast.Attribute(attr=hook, value=ast.Call(func=ast.Name(id="super"))) if hook in _HOOKS:
                            yield node.lineno, f"its {hook} is called, and gives another result than that of RunSetup"

    def _use(self, node: ast.expr, old: str) -> SourceEdit:
        end = self.text.end(node)
        return SourceEdit(end - len(old), end, RENAMED[old], node.lineno, _what(old))

    def _subscripts(self) -> Iterator[SourceEdit]:
        """The type parameter that a base has no longer: of `DocumentRunSetup[Row, Candidate]` the second."""
        for setup in self._setups():
            for base in setup.bases:
                match base:
                    case ast.Subscript(value=named, slice=ast.Tuple(elts=[row, candidate])):
                        if self._is(named, "DocumentRunSetup"):
                            start, end = self.text.end(row), self.text.end(candidate)
                            end += len(_COMMA.match(self.text.data, end)[0])  # type: ignore[index]  # it always matches
                            yield SourceEdit(start, end, "", base.lineno, _what("DocumentRunSetup"))

    def _imports(self, node: ast.AST, names: Sequence[str]) -> Iterator[SourceEdit]:
        """The edits of one import: a name becomes another, and goes where the other stands already."""
        if not isinstance(node, ast.ImportFrom) or node.level or node.module not in PACKAGES:
            return
        kept: set[str] = {alias.name for alias in node.names if alias.asname is None} - {*names}
        goes: list[int] = []
        for index, alias in enumerate(node.names):
            if alias.name in names:
                new = RENAMED[alias.name]
                if alias.asname is None and new in kept:
                    goes.append(index)
                    continue
                kept |= {new} if alias.asname is None else set()
                start = self.text.start(alias)
                yield SourceEdit(start, start + len(alias.name), new, alias.lineno, _what(alias.name))
        for index in goes:
            start, end = self._span(node, index, goes)
            if "#" in self.text.text(start, end).partition(node.names[index].name)[0]:
                self._leave(
                    node.names[index].lineno, f"{node.names[index].name} stays imported: a comment would go with it"
                )
            else:
                yield SourceEdit(start, end, "", node.names[index].lineno, _what(node.names[index].name))

    def _span(self, node: ast.ImportFrom, index: int, goes: Collection[int]) -> tuple[int, int]:
        """What has to go with a name of an import: its whole line where it stands alone, else the comma beside it."""
        alias = node.names[index]
        line = self.text.line(alias)
        if _ALONE.fullmatch(self.text.text(*line)) and not self.text.data[: line[0]].rstrip().endswith(b"\\"):
            return line
        if any(later not in goes for later in range(index + 1, len(node.names))):
            return self.text.start(alias), self.text.start(node.names[index + 1])
        return self.text.end(node.names[index - 1]), self.text.end(alias)

    def _results(self) -> list[SourceEdit]:
        """A bare result that `prepare_run` yields, put into the mapping with its kind."""
        edits: list[SourceEdit] = []
        for hook in ast.walk(self.tree):
            if isinstance(hook, ast.AsyncFunctionDef | ast.FunctionDef) and hook.name == "prepare_run":
                made = self._made(hook)
                for node in _own_nodes(hook):
                    if isinstance(node, ast.Yield) and node.value is not None:
                        kind = self._kind(node.value, made)
                        if kind is not None:
                            what = f'the result of prepare_run is yielded as {{"{kind}": ...}}'
                            start, end = self.text.start(node.value), self.text.end(node.value)
                            edits.append(SourceEdit(start, start, f'{{"{kind}": ', node.lineno, what))
                            edits.append(SourceEdit(end, end, "}", node.lineno, what))
        return edits

    def _kind(self, node: ast.expr, made: Mapping[str, str]) -> str | None:
        if isinstance(node, ast.Name):
            return made.get(node.id)
        found = beaker_name(node.func, self.imported, self.packages) if isinstance(node, ast.Call) else None
        return _RESULTS.get(found or "")

    def _made(self, hook: ast.AsyncFunctionDef | ast.FunctionDef) -> dict[str, str]:
        """Variables of a function that hold a bare result, and nothing else ever: its kind."""
        kinds: dict[str, str] = {}
        for node in ast.walk(hook):
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=given)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.Call() as given)
                ):
                    kinds[name] = self._kind(given, {}) or ""
        bound = [node.id for node in ast.walk(hook) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        return {name: kind for name, kind in kinds.items() if kind and bound.count(name) == 1}

    def _runtimes(self) -> list[SourceEdit]:
        """`runtime.candidate_runtime`, and the argument of that name where a test makes a runtime."""
        if self.is_spec:
            return []
        old, new = "candidate_runtime", "candidate"
        what = f"{old} becomes {new}"
        edits: list[SourceEdit] = []
        for node, runtimes in with_parameters(self.tree, self._is_runtime):
            match node:
                case ast.Attribute(attr=attribute, value=ast.Name(id=name)) if attribute == old and name in runtimes:
                    end = self.text.end(node)
                    edits.append(SourceEdit(end - len(old), end, new, node.lineno, what))
                case ast.Attribute(attr=attribute) if attribute == old:
                    self._leave(node.lineno, f"{old} is not renamed: this may be no runtime of Beaker's")
                case ast.Call(func=made, keywords=keywords) if self._is(_unsubscripted(made), "RolloutRuntime"):
                    for keyword in keywords:
                        if keyword.arg == old:
                            start = self.text.start(keyword)
                            edits.append(SourceEdit(start, start + len(old), new, keyword.lineno, what))
        return edits

    def _is_runtime(self, parameter: ast.arg) -> bool:
        """Whether a parameter takes a runtime: by its annotation, or by the name that hooks have to give it."""
        said = parameter.annotation
        words = _WORDS.findall("Any" if said is None else ast.unparse(said))
        named = parameter.arg == "runtime" and not {"Any", "object"}.isdisjoint(words)
        return (
            named
            or "RolloutRuntime" in words
            or (said is not None and self._is(_unsubscripted(said), "RolloutRuntime"))
        )


def _what(old: str) -> str:
    return f"{old} becomes {RENAMED[old]}"


def _unsubscripted(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Subscript) else node


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function itself, not in functions and classes inside it."""
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from _own_nodes(child)
