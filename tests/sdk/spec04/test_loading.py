"""Finding a factory by its entry point and building its Spec."""

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from beaker.sdk.spec04 import OptimizationContext, SpecContextRequiredError, load_factory, load_spec_from_target

MODULE = """
from types import SimpleNamespace

from beaker.sdk.spec04 import DatasetSchema, Spec, SpecContextRequiredError

seen = []
hook = SimpleNamespace(
    dataset_schema=DatasetSchema({}), parse_row=print, iter_cases=print, score_case=print, evidence_for=print
)


def build(context):
    seen.append(context)
    return Spec(hook, print, hook)


class Outer:
    class Inner:
        build = staticmethod(build)


def broken(context):
    return Spec(hook, None, hook)


def nothing(context):
    return None


def needs_run(context):
    if context.run_id is None:
        raise SpecContextRequiredError("only in a run")
    return build(context)


value = 3
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module with factories of several kinds."""
    (tmp_path / "some_specs.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "some_specs", raising=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield "some_specs"
    sys.modules.pop("some_specs", None)


@pytest.mark.parametrize("target", ["some_specs:build", " some_specs : build ", "some_specs:Outer.Inner.build"])
def test_load_spec__factory__is_called_once_with_the_context(target: str) -> None:
    """Blanks are trimmed, dots followed; without a context there is one with defaults."""
    spec = load_spec_from_target(target)
    context = OptimizationContext(run_id="r")
    assert load_spec_from_target(target, context).run_case is spec.run_case is print
    seen = sys.modules["some_specs"].seen
    assert seen[0] == OptimizationContext()
    assert seen[1] is context
    assert load_factory(target) is sys.modules["some_specs"].build
    assert len(seen) == 2


@pytest.mark.parametrize(
    "target, error, words",
    [
        ("some_specs", ValueError, "reads <module>:<attribute>, not 'some_specs'"),
        (":build", ValueError, "reads <module>"),
        ("some_specs:", ValueError, "reads <module>"),
        (" : ", ValueError, "reads <module>"),
        ("", ValueError, "reads <module>"),
        ("some_specs:Outer.Missing.build", AttributeError, "'some_specs:Outer.Missing.build': Outer has no attribute"),
        ("some_specs:missing", AttributeError, "some_specs has no attribute 'missing'"),
        ("some_specs:value.x", AttributeError, "a value of type int has no attribute 'x'"),
        ("some_specs:value", TypeError, "'some_specs:value' must be a factory, which can be called, not int"),
        ("some_specs:nothing", TypeError, "a factory must return a Spec, not NoneType"),
        ("some_specs:broken", TypeError, "run_case must be callable"),
        ("no_such_module:build", ModuleNotFoundError, "no_such_module"),
    ],
)
def test_load_spec__wrong_target__is_refused(target: str, error: type[Exception], words: str) -> None:
    """The form, a part that is missing, and what is found there are told apart."""
    with pytest.raises(error, match=words):
        load_spec_from_target(target)


def test_load_spec__factory_that_needs_a_run__says_so() -> None:
    """What a factory raises comes out as it is; inside a run it builds."""
    with pytest.raises(SpecContextRequiredError, match="only in a run"):
        load_spec_from_target("some_specs:needs_run")
    assert load_spec_from_target("some_specs:needs_run", OptimizationContext(run_id="r"))
