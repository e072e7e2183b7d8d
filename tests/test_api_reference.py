"""The API reference leaves out no public name, and what it is made from leaves out no parameter."""

import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest

import beaker
import beaker.testing
import beaker.tracing

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
MODULES = (beaker, beaker.testing, beaker.tracing)
WRITTEN = re.compile(r"^\.\. (?:auto\w+|py:data):: (?P<module>beaker(?:\.[a-z]+)?)\.(?P<name>\w+)$", re.MULTILINE)
OBJECTS = [
    pytest.param(found, id=f"{module.__name__}.{name}")
    for module in MODULES
    for name in module.__all__
    if inspect.isclass(found := getattr(module, name)) or inspect.isfunction(found)
]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_page__has_every_public_name_once(module: ModuleType) -> None:
    """A name that is added is described, one that goes is taken out."""
    page = PAGE.read_text(encoding="utf-8")
    assert sorted(m["name"] for m in WRITTEN.finditer(page) if m["module"] == module.__name__) == sorted(module.__all__)


@pytest.mark.parametrize("found", OBJECTS)
def test_docstring__names_every_parameter(found: Any) -> None:
    """Whoever reads the docstring has seen every field of a value, and every parameter of a function, in words."""
    text = inspect.getdoc(found) or ""
    assert text
    missing = [name for name in parameters(found) if not re.search(rf"`{name}\b", text)]
    assert not missing


@pytest.mark.parametrize("found", OBJECTS)
def test_docstring__of_every_public_member__is_there(found: Any) -> None:
    """Methods and properties are described where they are defined."""
    members = vars(found).items() if inspect.isclass(found) else ()
    bare = [
        name
        for name, member in members
        if not name.startswith("_")
        and (inspect.isfunction(member) or isinstance(member, property))
        and not (getattr(member, "__doc__", None) or "").strip()
    ]
    assert not bare


def parameters(found: Any) -> list[str]:
    """What one gives to make or to call it, under public names."""
    if not inspect.isclass(found):
        return list(inspect.signature(found).parameters)
    return [one.name for one in attrs.fields(found) if one.init and one.name[0] != "_"] if attrs.has(found) else []
