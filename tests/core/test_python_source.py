"""A customer's module as text: Beaker's names in it, and the factories that it decorates."""

from textwrap import dedent

import pytest
from returns.pipeline import is_successful

from beaker.core.python_source import beaker_name, imported_names, package_names, parse_module, spec_factories


def factories(text: str) -> tuple[str, ...]:
    return spec_factories(parse_module(dedent(text), "m.py").unwrap())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from beaker import spec\n@spec()\ndef build(context): ...", ("build",)),
        ("from beaker import spec as s\n@s(repository=None)\nasync def build(context): ...", ("build",)),
        ("import beaker\n@beaker.spec()\ndef build(context): ...", ("build",)),
        ("import beaker as b\n@b.spec()\ndef build(context): ...", ("build",)),
        ("import beaker.sdk\n@beaker.sdk.spec()\ndef build(context): ...", ("build",)),
        ("import beaker.sdk\n@beaker.spec()\ndef build(context): ...", ("build",)),
        ("import beaker.spec as s\n@s()\ndef build(context): ...", ("build",)),
        ("from beaker import sdk\n@sdk.spec()\ndef build(context): ...", ("build",)),
        ("from beaker.spec import spec\n@spec()\ndef build(context): ...", ("build",)),
        ("from beaker import spec\nmark = 1\n@mark\n@spec\ndef build(context): ...", ("build",)),
        (
            """\
            from beaker import spec
            class Specs:
                class Inner:
                    @staticmethod
                    @spec()
                    def tone(context): ...
                @spec()
                def facts(context): ...
            @spec()
            def build(context):
                @spec()
                def hidden(context): ...
            """,
            ("Specs.Inner.tone", "Specs.facts", "build"),
        ),
        ("from other import spec\n@spec()\ndef build(context): ...", ()),
        ("from .beaker import spec\n@spec()\ndef build(context): ...", ()),
        ("import other\n@other.spec()\ndef build(context): ...", ()),
        ("import beakers\n@beakers.spec()\ndef build(context): ...", ()),
        ("import beaker.client as c\n@c.spec()\ndef build(context): ...", ()),
        ("from beaker import Case\n@Case()\ndef build(context): ...", ()),
        ("import beaker\n@beaker.case()\ndef build(context): ...", ()),
        ("from beaker import spec\ndef build(context): ...", ()),
        ("", ()),
    ],
)
def test_spec_factories__decorated_functions__are_found_by_qualified_name(text: str, found: tuple[str, ...]) -> None:
    """Whatever the module calls the decorator; functions inside functions are out of a target's reach."""
    assert factories(text) == found


@pytest.mark.parametrize(
    ("text", "where"),
    [("x = (\n", "m.py:1"), ("x = 1\ny = = 2\n", "m.py:2"), ("x = '\0'", "m.py"), ("'\ud800'", "m.py")],
)
def test_parse_module__no_python__is_refused_with_its_line(text: str, where: str) -> None:
    """What cannot be parsed is a problem of the file, whatever Python raises over it."""
    found = parse_module(text, "m.py")
    assert not is_successful(found)
    problem = found.failure()
    assert (problem.code, problem.where.startswith(where)) == ("BK160", True)


def test_names__of_a_module__are_those_it_can_use() -> None:
    """Imports anywhere in the module count, under the name that they have there."""
    tree = parse_module(
        "import os, beaker.client, beaker.sdk as kit\n"
        "from beaker import Case as C, sdk, spec, nothing\n"
        "def f():\n    from beaker.sdk.integration import RunSetup\n",
        "m.py",
    ).unwrap()
    imported, packages = imported_names(tree), package_names(tree)
    assert imported == {
        "C": "Case", "sdk": "sdk", "spec": "spec", "nothing": "nothing", "RunSetup": "RunSetup",
    }  # fmt: skip
    assert packages == {"beaker", "kit", "sdk", "spec"}
    told = {
        text: beaker_name(parse_module(text, "m.py").unwrap().body[0].value, imported, packages)  # type: ignore[attr-defined]
        for text in ("C", "D", "kit.Case", "beaker.Case", "os.Case", "f().Case", "1")
    }
    assert told == {
        "C": "Case", "D": None, "kit.Case": "Case", "beaker.Case": "Case", "os.Case": None, "f().Case": None, "1": None,
    }  # fmt: skip
