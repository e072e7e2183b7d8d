"""The decorator: what it notes on a factory, which it neither calls nor changes, and what it refuses."""

import functools
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from beaker.sdk.spec04 import DatasetSchema, SpecRegistration, get_registration, iter_registered_specs, spec

SCHEMA = DatasetSchema({"type": "object"})
NORMAL = {"format": "jsonl", "schema_version": "v1", "json_schema": {"type": "object"}}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def factory(context: Any) -> Any:
    """Never called."""
    raise AssertionError("the factory was called")


def noted(**arguments: Any) -> SpecRegistration:
    """What the decorator notes with these arguments."""
    assert spec(**arguments)(factory) is factory
    found = get_registration(factory)
    assert found is not None
    return found


def test_spec__without_arguments__notes_the_entry_point_and_the_whole_repository() -> None:
    """Module and qualified name; no metadata."""
    assert noted() == SpecRegistration(f"{__name__}:factory", {}, "all")
    assert SpecRegistration("m:f") == SpecRegistration("m:f", metadata={}, repository=None)


def test_spec__class_and_method__have_their_qualified_names() -> None:
    """What a module reaches by dots can be decorated; a subclass is not the class, a wrapped function is the same."""
    made = get_registration(Factories)
    assert made is not None
    assert made.entrypoint == f"{__name__}:Factories"
    assert get_registration(Below) is None
    method = get_registration(Factories.build)
    assert method is not None
    assert method.entrypoint == f"{__name__}:Factories.build"

    @functools.wraps(Factories.build)
    def wrapper(context: Any) -> Any:
        return None

    assert get_registration(wrapper) is method
    assert all(get_registration(other) is None for other in (len, 3, None, lambda context: None))


def test_spec__metadata__is_copied_with_schema_and_resources() -> None:
    """The caller's dict is not kept; the schema is stored in its normal form."""
    metadata: dict[str, Any] = {"team": "x"}
    made = noted(metadata=metadata, dataset_schema=SCHEMA, resource_names=("kb", "wiki"))
    metadata["team"] = "y"
    assert made.metadata == {
        "team": "x",
        "dataset_schema": NORMAL,
        "optimization_surface": {"resources": ["kb", "wiki"]},
    }
    for same in (SCHEMA, NORMAL, {"jsonSchema": {"type": "object"}}):
        assert noted(metadata={"dataset_schema": same}, dataset_schema=SCHEMA).metadata["dataset_schema"] == NORMAL
    surface = {"resources": ("kb",), "more": 1}
    for arguments in ({}, {"resource_names": ["kb"]}):
        made = noted(metadata={"optimization_surface": surface}, **arguments)
        assert made.metadata["optimization_surface"] == {"resources": ["kb"], "more": 1}


@pytest.mark.parametrize(
    "given, kept",
    [
        ("all", "all"),
        (None, None),
        (["src"], ("src",)),
        ((" /src/app/ ", "lib\\x\\", "~a"), ("src/app", "lib/x", "~a")),
    ],
)
def test_spec__repository__is_everything_nothing_or_paths(given: Any, kept: Any) -> None:
    """Paths are trimmed of blanks and slashes and keep their order."""
    assert noted(repository=given).repository == kept


@pytest.mark.parametrize(
    "arguments, error, words",
    [
        ({"metadata": ["x"]}, TypeError, "metadata must be a mapping, not list"),
        ({"dataset_schema": NORMAL}, TypeError, "dataset_schema must be a DatasetSchema, not dict"),
        ({"dataset_schema": SCHEMA, "metadata": {"dataset_schema": {"json_schema": {}}}}, ValueError, "differs"),
        ({"dataset_schema": SCHEMA, "metadata": {"dataset_schema": 3}}, TypeError, "must be a mapping, not int"),
        ({"resource_names": "kb"}, TypeError, "a sequence of names, not str"),
        ({"resource_names": {"kb"}}, TypeError, "not set"),
        ({"resource_names": []}, ValueError, "at least one resource name"),
        ({"resource_names": ["kb", "kb"]}, ValueError, "differ from each other"),
        ({"resource_names": ["kb "]}, ValueError, "no blanks"),
        ({"resource_names": ["prompts"]}, ValueError, "reserved"),
        ({"resource_names": [1]}, TypeError, "must be a string, not int"),
        ({"metadata": {"optimization_surface": ["kb"]}}, TypeError, "optimization_surface.* mapping, not list"),
        ({"metadata": {"optimization_surface": {}}}, TypeError, "not NoneType"),
        ({"metadata": {"optimization_surface": {"resources": []}}}, ValueError, "at least one"),
        (
            {"metadata": {"optimization_surface": {"resources": ["kb"]}}, "resource_names": ["wiki"]},
            ValueError,
            "resource_names differ",
        ),
        ({"repository": "src"}, TypeError, "repository must be 'all', None or a sequence of paths, not 'src'"),
        ({"repository": {"src"}}, TypeError, "repository must be"),
        ({"repository": 3}, TypeError, "repository must be"),
        ({"repository": []}, ValueError, "at least one path"),
        ({"repository": ["src", "src/"]}, ValueError, "differ from each other"),
        ({"repository": [3]}, TypeError, "a path of repository must be a string, not int"),
        *(
            ({"repository": [path]}, ValueError, "no empty, '.', '..' or hidden part")
            for path in ("", " ", "/", ".", "..", "a/../b", "a//b", ".github", "a/.hidden/b")
        ),
    ],
)
def test_spec__wrong_arguments__are_refused(arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    """Before there is a factory to decorate."""
    with pytest.raises(error, match=words):
        spec(**arguments)


def test_spec__what_is_no_factory__is_refused() -> None:
    """Something that cannot be called, has no name, is inside a function, or cannot be marked."""

    def inside(context: Any) -> None: ...

    for thing, words in (
        (3, "decorates a factory"),
        ("text", "decorates a factory"),
        (functools.partial(factory), "has a name"),
        (inside, "is defined inside another function"),
        (len, "cannot be marked as a factory"),
    ):
        with pytest.raises(TypeError, match=words):
            spec()(thing)  # type: ignore[type-var]  # wrong on purpose


def test_iter_registered_specs__of_this_process_or_of_a_module() -> None:
    """In the order of decoration, each entry point once, all or those of one module."""
    noted(repository=None)
    mine = [f"{__name__}:Factories.build", f"{__name__}:Factories", f"{__name__}:factory"]
    for asked in (__name__, sys.modules[__name__]):
        found = list(iter_registered_specs(asked))
        assert sorted(one.entrypoint for one in found) == sorted(mine)
        assert {one.repository for one in found if one.entrypoint == mine[-1]} == {None}
    assert set(mine) <= {one.entrypoint for one in iter_registered_specs()}
    assert list(iter_registered_specs("no.such")) == []


with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)

    @spec()
    class Factories:
        """Factories as a class and as its method."""

        @staticmethod
        @spec()
        def build(context: Any) -> Any:
            """Never called."""


class Below(Factories):
    """Inherits nothing that the decorator noted."""
