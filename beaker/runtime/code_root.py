"""Where a child process takes the customer's code from.

A candidate, the baseline and the user's own files are checkouts of one repository. A child works on one of them; what
its interpreter knows about the user's own checkout (`sys.path` entries, editable installs) is moved over to it by
`beaker.runtime.remapping`.
"""

import os
from pathlib import Path

from returns.result import Failure, Result, Success

from beaker.core.config_entry import Kind
from beaker.core.problems import Problem
from beaker.core.strict_json import JsonObject
from beaker.core.values import value


@value
class CodeRoot:
    """One checkout and the Integration in it.

    `repository` is the root of this checkout, `entrypoint` reads `module:attribute` and names what `kind` says (an
    Integration, or the factory of a Spec, which is run as one), `source_dir` counts from the
    repository root and `package_import_root` from `source_dir` (`None`: `source_dir` itself). `original` is the root
    of the user's own checkout where it is another one; whatever the interpreter finds inside it is taken from
    `repository` instead.
    """

    repository: Path
    entrypoint: str
    source_dir: str = "."
    package_import_root: str | None = None
    original: Path | None = None
    kind: Kind = "integration"


def import_root(code: CodeRoot) -> Result[Path, Problem]:
    """The directory that goes first on `sys.path`; it must exist inside `source_dir`, and that inside the repository.

    Symbolic links are followed before the comparison.
    """
    repository = Path(os.path.realpath(code.repository))
    source = _inside(repository, code.source_dir, "source_dir")
    match source:
        case Success(directory) if code.package_import_root is not None:
            return _inside(directory, code.package_import_root, "package_import_root")
        case _:
            return source


def _inside(parent: Path, relative: str, name: str) -> Result[Path, Problem]:
    found = Path(os.path.realpath(parent / relative))
    if not found.is_relative_to(parent):
        return Failure(Problem("BK300", f"{name} {relative!r} leads out of {parent}"))
    if not found.is_dir():
        hint = "Paths count from the commit that runs: is the directory committed?"
        return Failure(Problem("BK301", f"{name} {relative!r} is not a directory in {parent}", hint=hint))
    return Success(found)


def code_root_to_json(code: CodeRoot) -> JsonObject:
    """The JSON form a child is told."""
    return {
        "repository": str(code.repository),
        "entrypoint": code.entrypoint,
        "source_dir": code.source_dir,
        "package_import_root": code.package_import_root,
        "original": None if code.original is None else str(code.original),
        "kind": code.kind,
    }


def code_root_from_json(data: JsonObject) -> CodeRoot:
    """What `code_root_to_json` wrote."""
    original = data["original"]
    return CodeRoot(
        repository=Path(str(data["repository"])),
        entrypoint=str(data["entrypoint"]),
        source_dir=str(data["source_dir"]),
        package_import_root=None if data["package_import_root"] is None else str(data["package_import_root"]),
        original=None if original is None else Path(str(original)),
        kind="spec" if data.get("kind") == "spec" else "integration",
    )
