"""The decorator `spec`: marks a factory, without calling it, with what is known before a Spec is built."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, Literal, TypeVar

import attrs

from beaker.core.dataset_schema import DatasetSchema, schema_metadata
from beaker.core.resource_trees import resource_name
from beaker.core.values import value
from beaker.sdk.earlier_warnings import warn_caller
from beaker.sdk.generations import DEPRECATED

Repository = Literal["all"] | tuple[str, ...] | None
"""What of the repository candidates may change: everything, these paths, or nothing."""

FactoryT = TypeVar("FactoryT", bound=Callable[..., Any])

_STAMP = "__beaker_spec__"
_SURFACE = "optimization_surface"

_registered: dict[str, "SpecRegistration"] = {}


@value
class SpecRegistration:
    """What a decorated factory says of itself.

    `entrypoint` is `<module>:<qualified name>`. `metadata["dataset_schema"]` is the schema of the rows and
    `metadata["optimization_surface"]["resources"]` the names of the resources, where the decorator was told.
    """

    entrypoint: str
    metadata: dict[str, Any] = attrs.field(factory=dict)
    repository: Repository = None


def spec(
    *,
    metadata: Mapping[str, Any] | None = None,
    dataset_schema: DatasetSchema | None = None,
    resource_names: Sequence[str] | None = None,
    repository: Literal["all"] | Sequence[str] | None = "all",
) -> Callable[[FactoryT], FactoryT]:
    """Decorate a factory that is called with an `OptimizationContext` and returns a `Spec`. It is returned unchanged.

    `repository` says what of it candidates may change: `"all"`, paths, or `None` when resources and prompts are what
    changes. Raises `TypeError` for a wrong type, for what cannot be called, and for a function inside another one;
    `ValueError` for names, paths or schemas that cannot be used or contradict `metadata`.
    """
    warn_caller(DEPRECATED, once=True)
    told = _metadata(metadata, dataset_schema, resource_names)
    paths = _repository(repository)

    def decorate(factory: FactoryT) -> FactoryT:
        made = SpecRegistration(_entrypoint(factory), dict(told), paths)
        try:
            setattr(factory, _STAMP, made)
        except (AttributeError, TypeError):
            raise TypeError(f"{made.entrypoint} cannot be marked as a factory; decorate a function") from None
        _registered[made.entrypoint] = made
        return factory

    return decorate


def get_registration(factory: Any) -> SpecRegistration | None:
    """What the decorator noted on this factory; `None` for one that was not decorated."""
    found = getattr(factory, "__dict__", {}).get(_STAMP)
    return found if isinstance(found, SpecRegistration) else None


def iter_registered_specs(module: ModuleType | str | None = None) -> Iterator[SpecRegistration]:
    """The registrations of every factory that was decorated in this process, or of those in `module`, in order."""
    name = module.__name__ if isinstance(module, ModuleType) else module
    for registration in tuple(_registered.values()):
        if name is None or registration.entrypoint.partition(":")[0] == name:
            yield registration


def _metadata(
    metadata: Mapping[str, Any] | None, schema: DatasetSchema | None, resources: Sequence[str] | None
) -> dict[str, Any]:
    if metadata is not None and not isinstance(metadata, Mapping):
        raise TypeError(f"metadata must be a mapping, not {type(metadata).__name__}")
    told = dict(metadata or {})
    if schema is not None:
        if not isinstance(schema, DatasetSchema):
            raise TypeError(f"dataset_schema must be a DatasetSchema, not {type(schema).__name__}")
        normal = schema_metadata(schema.to_metadata())
        if (other := told.get("dataset_schema")) is not None and _normal_schema(other) != normal:
            raise ValueError("dataset_schema differs from the one in metadata")
        told["dataset_schema"] = normal
    if (surface := told.get(_SURFACE)) is not None:
        if not isinstance(surface, Mapping):
            raise TypeError(f"metadata[{_SURFACE!r}] must be a mapping, not {type(surface).__name__}")
        names = _resource_names(surface.get("resources"))
        if resources is not None and _resource_names(resources) != names:
            raise ValueError(f"resource_names differ from those in metadata[{_SURFACE!r}]")
        told[_SURFACE] = {**surface, "resources": names}
    elif resources is not None:
        told[_SURFACE] = {"resources": _resource_names(resources)}
    return told


def _normal_schema(given: Any) -> dict[str, Any]:
    if isinstance(given, DatasetSchema):
        given = given.to_metadata()
    if not isinstance(given, Mapping):
        raise TypeError(f"metadata['dataset_schema'] must be a mapping, not {type(given).__name__}")
    return schema_metadata(given)


def _resource_names(given: Any) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise TypeError(f"resource names must be a sequence of names, not {type(given).__name__}")
    names = [resource_name(one, "a resource's name") for one in given]
    if not names:
        raise ValueError("there must be at least one resource name")
    if len(set(names)) != len(names):
        raise ValueError("resource names must differ from each other")
    return names


def _repository(given: Any) -> Repository:
    if given is None:
        return None
    if isinstance(given, str) and given == "all":
        return "all"
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise TypeError(f"repository must be 'all', None or a sequence of paths, not {given!r}")
    paths = tuple(_repository_path(one) for one in given)
    if not paths:
        raise ValueError("repository must name at least one path")
    if len(set(paths)) != len(paths):
        raise ValueError("paths of repository must differ from each other")
    return paths


def _repository_path(given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError(f"a path of repository must be a string, not {type(given).__name__}")
    path = given.replace("\\", "/").strip().strip("/")
    if any(not part or part.startswith(".") for part in path.split("/")):
        raise ValueError(f"a path of repository must have no empty, '.', '..' or hidden part, not {given!r}")
    return path


def _entrypoint(factory: Any) -> str:
    name = getattr(factory, "__qualname__", None)
    if not callable(factory) or not isinstance(name, str):
        raise TypeError(f"spec() decorates a factory, which can be called and has a name, not {factory!r}")
    if "<locals>" in name:
        raise TypeError(f"{name} is defined inside another function, where nothing finds it; move it to the module")
    return f"{factory.__module__}:{name}"
