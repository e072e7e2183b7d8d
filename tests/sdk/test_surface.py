"""What `import beaker` gives, and what it costs."""

import subprocess
import sys

import pytest

import beaker
import beaker.sdk
import beaker.tracing
import beaker.tracing.core

HEAVY = "cattrs httpx asyncio yaml pydantic returns sqlite3 subprocess"


def modules_after(code: str) -> set[str]:
    """The heavy modules that are loaded once `code` has run in a new interpreter."""
    script = f"{code}\nimport sys; print(*(name for name in {HEAVY!r}.split() if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import beaker; beaker.__version__; dir(beaker)",
        "from beaker import Case; Case('c', {'a': [1]}, metadata={'k': 1})",
        "from beaker import CaseScore, Check, CaseResult; CaseScore(1, {}, checks=[Check('n', 'pass')]); CaseResult(1)",
    ],
)
def test_import__light_names__load_nothing_heavy(code: str) -> None:
    """Importing the package and making cases and scores needs none of the heavy libraries."""
    assert modules_after(code) == set()


def test_import__whole_surface__needs_no_transport_and_no_event_loop() -> None:
    """Even every public name together opens no loop, no file format and no network library."""
    assert modules_after(f"from beaker import {', '.join(beaker.sdk.__all__)}") <= {"cattrs", "returns"}


def test_surface__every_name_exists_and_is_listed() -> None:
    """`__all__`, `dir` and attribute access agree, in `beaker` and in `beaker.sdk`."""
    for module in (beaker, beaker.sdk):
        assert module.__all__ == sorted(module.__all__)
        assert set(module.__all__) <= set(dir(module))
        for name in module.__all__:
            assert getattr(module, name) is not None
    assert set(beaker.__all__) == {*beaker.sdk.__all__, "__version__", "BeakerClient", "BeakerClientError"}
    assert (len(beaker.__all__), len(beaker.sdk.__all__)) == (42, 39)


def test_surface__star_import__gives_every_name() -> None:
    """`from beaker import *` resolves the lazy names."""
    namespace: dict[str, object] = {}
    exec("from beaker import *", namespace)
    assert set(beaker.__all__) <= set(namespace)


@pytest.mark.parametrize("module", [beaker, beaker.sdk])
def test_surface__unknown_name__says_module_and_name(module: object) -> None:
    """A name that does not exist is an attribute error that names both."""
    with pytest.raises(AttributeError, match=r"module 'beaker(\.sdk)?' has no attribute 'Nothing'"):
        module.Nothing  # type: ignore[attr-defined]  # noqa: B018  # the point of the test


def test_surface__names_are_the_same_objects_wherever_they_are_found() -> None:
    """The package, the authoring package and the home of a name give one object."""
    from beaker.core.cases import Case
    from beaker.sdk.trace import NoopTrace

    assert beaker.Case is beaker.sdk.Case is Case
    assert beaker.tracing.core.NoopTrace is NoopTrace
    assert not hasattr(beaker, "Trace")


def test_surface__unions_work_with_isinstance() -> None:
    """The union aliases are usable at run time."""
    assert isinstance(beaker.repository(), beaker.OptimizationTarget)
    assert isinstance(beaker.CreateDocumentChange(group="g", name="n", content=""), beaker.DocumentChange)
