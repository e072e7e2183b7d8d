"""Checking an Integration: what passes, what is refused, in which order, and all of it at once."""

import copy
import dataclasses
import functools
import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from beaker import (
    Case,
    CaseResult,
    CaseScore,
    Integration,
    RunSetup,
    documents,
    load_integration,
    repository,
    validate_integration,
)
from beaker.sdk.validation import InvalidIntegration, InvalidIntegrationType, InvalidIntegrationValue


@dataclasses.dataclass
class Row:
    id: str


class Setup(RunSetup[Row]):
    row_model = Row

    async def load_cases(self, row: Row, *, runtime: Any) -> AsyncIterator[Case]:
        yield Case(row.id, None)


async def run_case(*, case_input: Any, runtime: Any) -> CaseResult:
    return CaseResult(case_input)


async def score_case(*, case: Case, result: CaseResult, case_files_dir: Path) -> CaseScore:
    return CaseScore(1.0, {})


@asynccontextmanager
async def open_candidate(*, targets_dir: Path | None, scratch_dir: Path) -> AsyncIterator[int]:
    yield 1


GOOD: dict[str, Any] = {
    "targets": repository(),
    "run_setup": Setup,
    "run_case": run_case,
    "score_case": score_case,
    "open_candidate": open_candidate,
}


def setup(**members: Any) -> type[RunSetup[Any]]:
    """A setup class like `Setup` with other members; `None` takes the inherited one away."""
    return type("Made", (Setup,), members)


def faults(**changes: Any) -> list[str]:
    with pytest.raises(InvalidIntegration) as caught:
        Integration(**(GOOD | changes))
    assert {problem.code for problem in caught.value.problems} == {"BK320"}
    return [problem.message for problem in caught.value.problems]


def test_integration__good__is_a_frozen_hashable_value() -> None:
    """A good declaration stores its targets as a tuple and behaves as a value."""
    made = Integration(**GOOD)
    assert made.targets == (repository(),)
    assert made == Integration(**GOOD) == copy.copy(made) == pickle.loads(pickle.dumps(made))
    assert len({made, Integration(**GOOD)}) == 1
    assert made != Integration(**(GOOD | {"open_candidate": None}))
    with pytest.raises(InvalidIntegrationType):
        dataclasses.replace(made, run_case=None)  # type: ignore[arg-type]  # validation runs again
    with pytest.raises(TypeError):
        Integration(repository(), Setup, run_case, score_case)  # type: ignore[misc]  # keyword-only


def test_integration__subclass__is_validated_too() -> None:
    """A subclass works, and is checked in the same way."""

    class Mine(Integration):
        pass

    assert isinstance(Mine(**GOOD), Integration)
    with pytest.raises(InvalidIntegrationType):
        Mine(**(GOOD | {"score_case": None}))


def test_validate__any_object_with_the_attributes__gives_the_row_adapter() -> None:
    """Validation is duck-typed, calls nothing, and answers how rows are read."""

    class Untouchable(Setup):
        def __init__(self) -> None:
            raise AssertionError("instantiated")

    adapter = validate_integration(SimpleNamespace(**(GOOD | {"run_setup": Untouchable})))  # type: ignore[arg-type]  # duck
    assert adapter.validate_python({"id": "a"}) == Row("a")
    with pytest.raises(AttributeError):
        validate_integration(SimpleNamespace(targets=repository()))  # type: ignore[arg-type]  # the point of the test


def test_validate__many_faults__come_together_the_first_as_headline() -> None:
    """Every fault is in the one error, in the order of the checks; the class is that of the first."""

    class Bad(RunSetup[Row]):
        def __init__(self, required: int) -> None: ...

        async def prepare_run(self, *, runtime: Any) -> Any: ...

    found = faults(
        targets=(), run_setup=Bad, run_case=lambda x: x, score_case=3, open_candidate=lambda *, scratch_dir: None
    )
    expected = (
        "targets must hold at least one target",
        "Bad must define load_cases",
        "Bad() must be callable without arguments",
        "Bad.prepare_run must return an asynchronous context manager",
        "run_case must be an `async def` function",
        "run_case must be callable as run_case(case_input=..., runtime=...)",
        "score_case must be a function",
        "open_candidate must be callable as open_candidate(targets_dir=..., scratch_dir=...)",
        "Bad.row_model must be set",
    )
    assert len(found) == len(expected)
    for message, start in zip(found, expected, strict=True):
        assert message.startswith(start)
    with pytest.raises(InvalidIntegrationValue) as caught:
        Integration(**(GOOD | {"targets": [repository(), repository()], "score_case": None}))
    first, more, *rest = str(caught.value).splitlines()
    assert first == "targets may hold one repository target only; give it all the paths"
    assert (more, len(rest)) == ("1 more:", 1)


def _sync_load(self: Any, row: Any, *, runtime: Any) -> Any:
    yield 1


async def _coroutine_load(self: Any, row: Any, *, runtime: Any) -> Any:
    return []


def _wrapped_load(self: Any, row: Any, *, runtime: Any) -> Any:
    return Setup.load_cases(self, row, runtime=runtime)


@pytest.mark.parametrize(
    "load_cases,words",
    [
        (_sync_load, "must be an asynchronous generator; write `async def`"),
        (_coroutine_load, "it returns once instead of yielding"),
        (staticmethod(Setup.load_cases), "must be an ordinary method"),
        (classmethod(Setup.load_cases), "must be an ordinary method"),
        (lambda self, row: None, "callable as load_cases(self, row, *, runtime)"),
        (lambda self, *, row, runtime: None, "callable as load_cases"),
        (lambda self, row, runtime, more: None, "callable as load_cases"),
        (3, "callable as load_cases"),
    ],
)
def test_load_cases__cannot_yield_cases__is_refused_at_import(load_cases: Any, words: str) -> None:
    """What would fail when rows are loaded fails where the module is imported."""
    (fault,) = faults(run_setup=setup(load_cases=load_cases))
    assert fault.startswith("Made.load_cases ")
    assert words in fault


@pytest.mark.parametrize(
    "load_cases",
    [
        _wrapped_load,
        functools.wraps(_coroutine_load)(_wrapped_load),
        lambda self, anything, /, *, runtime, more=1, **rest: None,
        lambda self, *rows, **named: None,
    ],
)
def test_load_cases__shapes_that_can_work__pass(load_cases: Any) -> None:
    """The name of the row is free, extras with defaults and wrappers are fine."""
    Integration(**(GOOD | {"run_setup": setup(load_cases=load_cases)}))


async def _coroutine_context(self: Any = None, **named: Any) -> Any: ...


async def _bare_generator(self: Any = None, **named: Any) -> Any:
    yield 1


@contextmanager
def _sync_context(self: Any = None, **named: Any) -> Any:
    yield 1


def _generator(self: Any = None, **named: Any) -> Any:
    yield 1


@functools.wraps(open_candidate)
async def _async_wrapper(**named: Any) -> Any: ...


@pytest.mark.parametrize(
    "hook,words",
    [
        (_coroutine_context, "not a coroutine"),
        (_bare_generator, "must be decorated with contextlib.asynccontextmanager"),
        (_sync_context, "write `async def`"),
        (_generator, "write `async def`"),
    ],
)
def test_context_hooks__cannot_be_entered__are_refused_at_import(hook: Any, words: str) -> None:
    """Neither `prepare_run` nor `open_candidate` may be what no `async with` can enter."""
    (fault,) = faults(run_setup=setup(prepare_run=hook))
    assert fault.startswith("Made.prepare_run must")
    assert words in fault
    (fault,) = faults(open_candidate=hook)
    assert fault.startswith("open_candidate must")
    assert words in fault


def test_open_candidate__judged_by_what_calling_it_gives() -> None:
    """An asynchronous wrapper gives a coroutine whatever it wraps; a plain one around a coroutine function may pass."""
    (fault,) = faults(open_candidate=_async_wrapper)
    assert "not a coroutine" in fault
    passing = functools.wraps(_coroutine_context)(lambda *, targets_dir, scratch_dir: open_candidate)
    assert Integration(**(GOOD | {"open_candidate": passing})).open_candidate is passing
    assert Integration(**(GOOD | {"open_candidate": None})).open_candidate is None


def test_prepare_run__document_targets__must_be_overridden() -> None:
    """Documents need seeds, which the inherited default does not yield."""
    targets = (repository(), documents(groups=("kb",)))
    (fault,) = faults(targets=targets)
    assert "must be overridden" in fault

    @asynccontextmanager
    async def prepare_run(self: Any, *, runtime: Any) -> AsyncIterator[Any]:
        yield {}

    assert Integration(**(GOOD | {"targets": targets, "run_setup": setup(prepare_run=prepare_run)}))
    (fault,) = faults(run_setup=setup(prepare_run=lambda self: None))
    assert "callable as prepare_run(self, *, runtime)" in fault


@pytest.mark.parametrize("name", ["run_case", "score_case"])
def test_async_hooks__wrong_form__is_chained_to_what_binding_said(name: str) -> None:
    """The error states the call that is made, and its cause says why that does not work."""

    async def wrong() -> None: ...

    with pytest.raises(InvalidIntegrationType, match=f"{name} must be callable as") as caught:
        Integration(**(GOOD | {name: wrong}))
    assert isinstance(caught.value.__cause__, TypeError)


def test_setup__not_a_class__leaves_the_other_checks() -> None:
    """A wrong setup does not hide the faults of the hooks."""
    found = faults(run_setup=lambda: Setup(), run_case=None)
    assert [message.partition(" must")[0] for message in found] == ["run_setup", "run_case"]


@dataclasses.dataclass
class SetupOfFields(Setup):
    size: int = 3


def test_setup__dataclass_with_defaults__passes() -> None:
    """Only construction without arguments is asked for."""
    assert Integration(**(GOOD | {"run_setup": SetupOfFields}))


@pytest.mark.parametrize("model", [int, str, list[int], int | None, Row("a"), "Row", property(lambda self: Row)])
def test_row_model__no_object__is_refused(model: Any) -> None:
    """A row is a JSON object, so its model must be one."""
    (fault,) = faults(run_setup=setup(row_model=model))
    assert fault.startswith("Made.row_model")


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


MODULE = """
from tests_of_validation import GOOD  # found through sys.modules
from beaker import Integration
integration = Integration(**GOOD)
good = GOOD

class Unchecked(Integration):
    def __attrs_post_init__(self):
        pass

unchecked = Unchecked(**(GOOD | {"run_case": None}))

def factory():
    return integration

def __getattr__(name):
    if name == "lazy":
        return integration
    raise AttributeError(name)
"""


@pytest.fixture
def entry(modules: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    import sys

    monkeypatch.setitem(sys.modules, "tests_of_validation", sys.modules[__name__])
    (modules / "entry_for_loading.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "entry_for_loading", raising=False)
    return "entry_for_loading"


def test_load__direct_attribute__is_the_same_object_each_time(entry: str) -> None:
    """Loading follows Python's module cache, and a module's own `__getattr__` counts."""
    loaded = load_integration(f"{entry}:integration")
    assert loaded is load_integration(f"{entry}:integration") is load_integration(f"{entry}:lazy")


def test_load__what_construction_let_through__is_validated(entry: str) -> None:
    """Loading validates again, so a subclass cannot talk its way out of the checks."""
    with pytest.raises(InvalidIntegrationType, match="run_case must be"):
        load_integration(f"{entry}:unchecked")


@pytest.mark.parametrize("entrypoint", ["", ":", "m:", ":a", "m", "m:a:b", "m:a.b"])
def test_load__other_forms__are_refused(entrypoint: str) -> None:
    """An entry point is one module and one direct attribute."""
    with pytest.raises(ValueError, match=r"entry point|attribute"):
        load_integration(entrypoint)


def test_load__attribute_missing_or_another_thing__is_named(entry: str) -> None:
    """The error names the entry point; factories, classes and dicts are no Integration."""
    with pytest.raises(ValueError, match=f"'{entry}:nothing'") as caught:
        load_integration(f"{entry}:nothing")
    assert isinstance(caught.value.__cause__, AttributeError)
    for name in ("factory", "Integration", "good"):
        with pytest.raises(TypeError, match=f"'{entry}:{name}' must be an Integration"):
            load_integration(f"{entry}:{name}")


def test_load__module_fails__its_error_is_unchanged(modules: Path) -> None:
    """What importing raises reaches the caller as it is, and nothing is trimmed."""
    (modules / "broken_for_loading.py").write_text("raise LookupError('own error')", encoding="utf-8")
    with pytest.raises(LookupError, match="own error"):
        load_integration("broken_for_loading:x")
    with pytest.raises(ModuleNotFoundError):
        load_integration(" broken_for_loading:x")


def _raising(error: type[BaseException]) -> dict[str, Any]:
    """Parts of an Integration that raise `error` when they are looked at."""

    def fail(*_: Any, **__: Any) -> Any:
        raise error("lazy")

    class Signed:
        __signature__ = property(fail)

        async def __call__(self, **_: Any) -> None: ...

    class Computed:
        __getattr__ = fail

        async def __call__(self, **_: Any) -> None: ...

    class Meta(type):
        """Raises once its classes are made."""

    class Shown:
        __repr__ = fail

    class Rows(Setup):
        row_model = Meta("Model", (), {})

    Meta.__getattribute__ = fail  # type: ignore[method-assign, assignment]  # only now

    class Sequenced(list[Any]):
        __iter__ = fail

    return {
        "signature": {"run_case": Signed(), "score_case": Signed(), "open_candidate": Signed()},
        "attributes": {"run_case": Computed(), "score_case": Computed(), "open_candidate": Computed()},
        "text": dict.fromkeys(GOOD, Shown()),
        "row model": {"run_setup": Rows},
        "targets": {"targets": Sequenced()},
    }


@pytest.mark.parametrize("error", [RuntimeError, SystemExit])
@pytest.mark.parametrize("part", ["signature", "attributes", "text", "row model", "targets"])
def test_integration__part_that_raises_when_looked_at__is_a_type_error(part: str, error: type[BaseException]) -> None:
    """What the customer's code raises while it is looked at is a fault, beside the others."""
    changed = _raising(error)[part]
    with pytest.raises(InvalidIntegrationType) as caught:
        Integration(**GOOD | changed)
    assert len(caught.value.problems) >= len(changed)
