"""What an optimization may change: repository paths and document groups, their declaration, and comparing the two."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.fields import labelled
from beaker.core.problems import Problem
from beaker.core.strict_json import canonical
from beaker.core.text import name, relative_path, shown
from beaker.core.values import value

REPOSITORY_GROUP = "beaker-repository"
"""Names the editable checkout, so no document group may be called so."""


def _paths(paths: Any, label: str) -> tuple[str, ...] | None:
    if paths is None:
        return None
    if isinstance(paths, str):
        raise TypeError(f"{label} must be several paths, not one string; write ({shown(paths)},)")
    kept = tuple(relative_path(path, f"{label}[{index}]") for index, path in enumerate(_several(paths, label)))
    if not kept:
        raise ValueError(f"{label} must name at least one path; leave it out for the whole repository")
    _refuse_twice(kept, kept, label, "path")
    return kept


def _groups(groups: Any, label: str) -> tuple[str, ...]:
    if isinstance(groups, str):
        raise TypeError(f"{label} must be several group names, not one string; write ({shown(groups)},)")
    kept = tuple(name(group, f"{label}[{index}]") for index, group in enumerate(_several(groups, label)))
    if not kept:
        raise ValueError(f"{label} must name at least one group")
    _refuse_twice(kept, [group.casefold() for group in kept], label, "group")
    return kept


def _several(items: Any, label: str) -> Iterable[Any]:
    if not isinstance(items, Iterable):
        raise TypeError(f"{label} must be a tuple or list, not {type(items).__name__}")
    return items


def _refuse_twice(shown: Sequence[str], keys: Sequence[str], label: str, what: str) -> None:
    seen: dict[str, str] = {}
    for item, key in zip(shown, keys, strict=True):
        if key in seen:
            same = f"{item!r} twice" if seen[key] == item else f"both {seen[key]!r} and {item!r}, the same {what}"
            raise ValueError(f"{label} names {same}")
        seen[key] = item


@value
class RepositoryTargets:
    """Tracked files of the repository. `paths` count from the Integration's `source_dir`; `None` is the whole tree.

    Raises `TypeError` for a bare string, `ValueError` for no path, one that is not a normalised relative path, or one
    that stands twice.
    """

    paths: tuple[str, ...] | None = attrs.field(converter=labelled(_paths, "RepositoryTargets.paths"))
    kind: Literal["repository"] = attrs.field(default="repository", init=False)

    if TYPE_CHECKING:

        def __init__(self, paths: Iterable[str] | None) -> None: ...


@value
class DocumentTargets:
    """Documents in named `groups`, which `prepare_run` seeds.

    Raises `TypeError` for a bare string, `ValueError` for no group, a name that is no single ASCII path component, or
    two names equal but for case.
    """

    groups: tuple[str, ...] = attrs.field(converter=labelled(_groups, "DocumentTargets.groups"))
    kind: Literal["documents"] = attrs.field(default="documents", init=False)

    if TYPE_CHECKING:

        def __init__(self, groups: Iterable[str]) -> None: ...


OptimizationTarget: TypeAlias = RepositoryTargets | DocumentTargets
"""What may change; works in `isinstance`."""


@value
class TargetMismatch(Problem):
    """The declared targets are not the ones the module has; both in canonical declaration form."""

    declared: Any = None
    imported: Any = None


def repository(paths: Iterable[str] | Literal["all"] = "all") -> RepositoryTargets:
    """Repository `paths` as a target; `"all"` is the whole repository.

    Raises `TypeError` for any other bare string, and as `RepositoryTargets`.
    """
    if isinstance(paths, str):
        return RepositoryTargets(None if paths == "all" else paths)
    if paths is None:
        raise TypeError("repository() takes several paths or 'all', not None")
    return RepositoryTargets(paths)


def documents(*, groups: Iterable[str]) -> DocumentTargets:
    """Document `groups` as a target. Raises as `DocumentTargets`."""
    return DocumentTargets(groups)


def normalize_targets(targets: object) -> tuple[OptimizationTarget, ...]:
    """`Integration.targets` as a tuple: a lone target or a sequence of them.

    Raises `TypeError` for anything else and for none at all; `ValueError` for two repository targets, a group named
    twice ignoring case, or the reserved group `beaker-repository`.
    """
    if isinstance(targets, OptimizationTarget):
        members: tuple[Any, ...] = (targets,)
    elif isinstance(targets, Sequence) and not isinstance(targets, str):
        members = tuple(targets)
    else:
        raise TypeError(f"targets must be a target or a tuple of targets, not {type(targets).__name__}")
    if not members:
        raise TypeError("targets must hold at least one target")
    for index, member in enumerate(members):
        if not isinstance(member, OptimizationTarget):
            raise TypeError(f"targets[{index}] must be repository(...) or documents(...), not {type(member).__name__}")
    if sum(isinstance(member, RepositoryTargets) for member in members) > 1:
        raise ValueError("targets may hold one repository target only; give it all the paths")
    groups = target_groups(members)
    _refuse_twice(groups, [group.casefold() for group in groups], "targets", "group")
    if REPOSITORY_GROUP in groups:
        raise ValueError(f"the document group {REPOSITORY_GROUP!r} is reserved for the editable checkout")
    return members


def target_groups(targets: Iterable[OptimizationTarget]) -> tuple[str, ...]:
    """The groups of every document target, in declared order."""
    return tuple(group for target in targets if isinstance(target, DocumentTargets) for group in target.groups)


def declaration_json(targets: Sequence[OptimizationTarget]) -> Any:
    """The canonical declaration: one target is its object, several are a list in declared order, names sorted."""
    made = [_declared(target) for target in targets]
    return made[0] if len(made) == 1 else made


def parse_declaration(data: object, where: str = "targets") -> Result[tuple[OptimizationTarget, ...], Problem]:
    """Read a `targets` entry: an object or a list of objects as `declaration_json` writes them.

    `paths` absent or null is the whole repository. Unknown keys, other kinds and everything `normalize_targets` refuses
    are a `Problem` with the place of the fault below `where`.
    """
    if isinstance(data, list):
        items: list[tuple[str, object]] = [(f"{where}[{index}]", item) for index, item in enumerate(data)]
    else:
        items = [(where, data)]
    targets = []
    for place, item in items:
        try:
            targets.append(_parsed(item))
        except (TypeError, ValueError) as error:
            return Failure(Problem("BK310", str(error), place, _DECLARATION_HINT))
    try:
        return Success(normalize_targets(targets))
    except (TypeError, ValueError) as error:
        return Failure(Problem("BK310", str(error), where, _DECLARATION_HINT))


_DECLARATION_HINT = "write {kind: repository, paths: [...]} or {kind: documents, groups: [...]}, or a list of these"


def compare_targets(declared: object, imported: Sequence[OptimizationTarget]) -> Result[None, TargetMismatch]:
    """Hold the declared targets against those of the imported Integration; the failure shows both.

    Blanks, backslashes, the order inside `paths` or `groups` and a one-item list make no difference; the order of
    several targets and the case of names do.
    """
    found = declaration_json(imported)
    parsed = parse_declaration(declared)
    if not is_successful(parsed):
        fault = parsed.failure()
        return Failure(
            TargetMismatch(
                "BK311",
                f"the declared targets are not valid: {fault.message}",
                fault.where,
                fault.hint,
                declared,
                found,
            )
        )
    wanted = declaration_json(parsed.unwrap())
    # Compared as text: 1 == True must not make two declarations agree.
    if canonical(wanted) == canonical(found):
        return Success(None)
    return Failure(
        TargetMismatch(
            "BK311",
            f"the declared targets {_shown(wanted)} are not those of the Integration, {_shown(found)}",
            hint="make `targets` in the configuration equal to Integration.targets, or leave it out",
            declared=wanted,
            imported=found,
        )
    )


def _declared(target: OptimizationTarget) -> dict[str, Any]:
    if isinstance(target, RepositoryTargets):
        return {"kind": target.kind, "paths": None if target.paths is None else sorted(target.paths)}
    return {"kind": target.kind, "groups": sorted(target.groups)}


def _parsed(item: object) -> OptimizationTarget:
    if not isinstance(item, Mapping):
        raise TypeError(f"a target must be an object, not {type(item).__name__}")
    match item.get("kind"):
        case "repository":
            _only(item, {"kind", "paths"})
            return RepositoryTargets(None if item.get("paths") is None else _strings(item, "paths"))
        case "documents":
            _only(item, {"kind", "groups"})
            return DocumentTargets(_strings(item, "groups"))
        case kind:
            raise ValueError(f"a target's kind must be 'repository' or 'documents', not {kind!r}")


def _only(item: Mapping[str, object], known: set[str]) -> None:
    if unknown := sorted(map(str, item.keys() - known)):
        raise ValueError(f"a {item['kind']} target has no key {', '.join(map(repr, unknown))}")


def _strings(item: Mapping[str, object], key: str) -> list[str]:
    listed = item.get(key)
    if not isinstance(listed, list) or not all(isinstance(entry, str) for entry in listed):
        raise ValueError(f"{key} must be a list of strings")
    return listed


def _shown(declaration: object) -> str:
    return canonical(declaration).decode()
