"""What a candidate of the Spec generation may change: prompts by name, and resources, which are folders of text."""

import hashlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from beaker.core.resource_trees import PROMPTS, prompt_file_names, resource_name, tree_path
from beaker.core.strict_json import digest
from beaker.core.values import FrozenInstanceError, value
from beaker.sdk.spec04.snapshots import text_files

Texts = Mapping[str, str]


@value
class FileRecord:
    """One file of a candidate: its resource, or `prompts`, its path below that, its text and that text's SHA-256."""

    resource: str
    path: str
    content: str
    sha256: str


class DirectoryResource:
    """A folder of text files, held as path -> text. Immutable; equal to another with the same files."""

    __slots__ = ("files",)

    files: Texts

    def __init__(self, files: Texts) -> None:
        """`ValueError` without a file, and for a path that is not relative or stands twice; `TypeError` for no text."""
        object.__setattr__(self, "files", _read_tree(files, "DirectoryResource.files"))

    @classmethod
    def from_directory(
        cls,
        root: Path | str,
        *,
        include: str | list[str] | tuple[str, ...],
        max_files: int = 2000,
        max_file_bytes: int = 1_000_000,
        max_total_bytes: int = 20_000_000,
    ) -> "DirectoryResource":
        """What the patterns `include` match below `root` now, read as UTF-8.

        `ValueError` for a pattern that is absolute or leaves the folder, when nothing matches, for a symbolic link or
        another special file, for what is no UTF-8, and above a limit.
        """
        limits = (max_files, max_file_bytes, max_total_bytes)
        return cls(text_files(Path(root), include, *limits))

    def __setattr__(self, name: str, given: object) -> NoReturn:
        raise FrozenInstanceError

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError

    def __eq__(self, other: object) -> bool:
        return self.files == other.files if isinstance(other, DirectoryResource) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self.files.items()))

    def __repr__(self) -> str:
        return f"DirectoryResource({len(self.files)} files)"

    def __reduce__(self) -> tuple[Any, ...]:
        return DirectoryResource, (dict(self.files),)


class OptimizationTargets:
    """Prompts, name -> text, and resources, name -> {path: text}. Immutable; their order does not matter.

    Names of resources are single path components; `prompts` and `beaker-repository` are reserved. A resource has at
    least one file.
    """

    def __init__(
        self, prompts: Texts | None = None, *, resources: Mapping[str, DirectoryResource | Texts] | None = None
    ) -> None:
        """`TypeError` for what is no mapping or no text; `ValueError` for a name or path that cannot be one."""
        for label, given in (("prompts", prompts), ("resources", resources)):
            if given is not None and not isinstance(given, Mapping):
                raise TypeError(f"OptimizationTargets.{label} must be a mapping, not {type(given).__name__}")
        trees: dict[str, Texts] = {}
        for name, tree in (resources or {}).items():
            key = resource_name(name, "a resource's name")
            trees[key] = tree.files if isinstance(tree, DirectoryResource) else _read_tree(tree, f"resources[{key!r}]")
        texts = {_prompt_name(name): _text(text, f"prompts[{name!r}]") for name, text in (prompts or {}).items()}
        vars(self).update(prompts=MappingProxyType(texts), resources=MappingProxyType(trees))

    prompts: Texts
    """Name -> text, read-only."""

    resources: Mapping[str, Texts]
    """Name -> path -> text, read-only on both levels."""

    def to_dict(self) -> dict[str, str]:
        """The prompts alone, as a new dict."""
        return dict(self.prompts)

    @classmethod
    def from_dict(cls, prompts: Texts) -> "OptimizationTargets":
        """The prompts alone, name -> text."""
        return cls(prompts)

    @cached_property
    def file_records(self) -> tuple[FileRecord, ...]:
        """Every file, those of prompts included, ordered by resource and path."""
        names = prompt_file_names(self.prompts)
        trees = {PROMPTS: {names[name]: text for name, text in self.prompts.items()}, **self.resources}
        return tuple(
            FileRecord(resource, path, text, _sha256(text))
            for resource, tree in sorted(trees.items())
            for path, text in sorted(tree.items())
        )

    @cached_property
    def candidate_id(self) -> str:
        """A SHA-256 that is the same for the same names, paths and texts."""
        files = [[record.resource, record.path, record.sha256] for record in self.file_records]
        return digest({"prompts": sorted(self.prompts), "files": files})

    def __setattr__(self, name: str, given: object) -> NoReturn:
        raise FrozenInstanceError

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OptimizationTargets):
            return NotImplemented
        return self.prompts == other.prompts and self.resources == other.resources

    def __hash__(self) -> int:
        trees = ((name, frozenset(tree.items())) for name, tree in self.resources.items())
        return hash((frozenset(self.prompts.items()), frozenset(trees)))

    def __repr__(self) -> str:
        counts = {name: len(tree) for name, tree in sorted(self.resources.items())}
        return f"OptimizationTargets(prompts={sorted(self.prompts)}, files={counts})"

    def __reduce__(self) -> tuple[Any, ...]:
        trees = {name: DirectoryResource(tree) for name, tree in self.resources.items()}
        return _unpickled, (dict(self.prompts), trees)


def optimization_targets_from_prompts(prompts: Mapping[Any, Any]) -> OptimizationTargets:
    """Targets of prompts alone; names are stripped and texts made with `str()`. `ValueError` for anything empty."""
    texts: dict[str, str] = {}
    for given, content in prompts.items():
        name, text = str(given).strip(), str(content)
        if not name or not text.strip():
            raise ValueError(f"a prompt needs a name and a text; one of {given!r} is empty")
        if name in texts:
            raise ValueError(f"the prompt {name!r} stands twice after trimming blanks")
        texts[name] = text
    if not texts:
        raise ValueError("there must be at least one prompt")
    return OptimizationTargets(texts)


def _unpickled(prompts: Texts, resources: Mapping[str, DirectoryResource]) -> OptimizationTargets:
    return OptimizationTargets(prompts, resources=resources)


def _read_tree(given: object, label: str) -> Texts:
    if not isinstance(given, Mapping):
        raise TypeError(f"{label} must map paths to texts, not be {type(given).__name__}")
    tree: dict[str, str] = {}
    for name, content in given.items():
        path = tree_path(name, f"{label}: a path")
        if path in tree:
            raise ValueError(f"{label}: the path {path!r} stands twice")
        tree[path] = _text(content, f"{label}[{path!r}]")
    if not tree:
        raise ValueError(f"{label} must hold at least one file")
    return MappingProxyType(tree)


def _prompt_name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a prompt's name must be a string, not {type(name).__name__}")
    if not name.strip():
        raise ValueError("a prompt's name must not be empty")
    return name


def _text(content: object, label: str) -> str:
    if not isinstance(content, str):
        raise TypeError(f"{label} must be a string, not {type(content).__name__}")
    return content


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
