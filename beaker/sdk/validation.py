"""Checking an Integration before anything runs: every fault in one error, the first as its headline.

Nothing is called and nothing is instantiated; only signatures and types are looked at.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from beaker.core.problems import Problem, Problems
from beaker.core.targets import DocumentTargets, OptimizationTarget, normalize_targets
from beaker.core.text import FOREIGN, class_name, shown
from beaker.sdk.callables import ANY, Gives, binding_fault, gives, is_async
from beaker.sdk.earlier import DocumentRunSetup, opener_fault, setup_opener, target_faults
from beaker.sdk.rows import RowAdapter, row_adapter
from beaker.sdk.setups import RunSetup

if TYPE_CHECKING:
    from beaker.sdk.integration import Integration

FAULT = "BK320"
"""The code of a fault in an Integration's declaration."""


class InvalidIntegration(Exception):
    """An Integration that cannot run; `problems` holds every fault, in the order of the checks."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        first, *others = map(str, problems)
        also = f"\n{len(others)} more:" + "".join(f"\n- {other}" for other in others) if others else ""
        super().__init__(f"{first}{also}")


class InvalidIntegrationType(InvalidIntegration, TypeError):
    """An invalid Integration whose first fault is a wrong type."""


class InvalidIntegrationValue(InvalidIntegration, ValueError):
    """An invalid Integration whose first fault is a wrong value."""


def validate_integration(integration: "Integration") -> RowAdapter[Any]:
    """Check an `integration` and return the adapter of its `row_model`.

    Any object with the five attributes will do (`AttributeError` when one is missing). In this order: the targets; the
    setup class and its two methods; `run_case`; `score_case`; `open_candidate`; the row model. Raises
    `InvalidIntegrationType`, a `TypeError`, or `InvalidIntegrationValue`, a `ValueError`, after the first fault.
    """
    faults: list[Exception] = []
    targets: tuple[OptimizationTarget, ...] = ()
    setup, run_case = integration.run_setup, integration.run_case
    score_case, open_candidate = integration.score_case, integration.open_candidate
    try:
        targets = normalize_targets(integration.targets)
    except (TypeError, ValueError) as error:
        faults.append(error)
    except FOREIGN as error:
        faults.append(_unread("targets", error))
    is_setup = isinstance(setup, type) and issubclass(setup, RunSetup)
    if is_setup:
        faults.extend(_told(setup.__name__, _setup_faults(setup, targets)))
    else:
        faults.append(TypeError(f"run_setup must be a subclass of RunSetup itself, not {_shown(setup)}"))
    faults.extend(_told("run_case", _hook_faults("run_case", run_case, case_input=ANY, runtime=ANY)))
    score_faults = _hook_faults("score_case", score_case, case=ANY, result=ANY, case_files_dir=ANY)
    faults.extend(_told("score_case", score_faults))
    if open_candidate is not None:
        fault = binding_fault(open_candidate, targets_dir=ANY, scratch_dir=ANY)
        faults.extend(_told("open_candidate", _open_candidate_faults("open_candidate", open_candidate, fault)))
    adapter: RowAdapter[Any] | None = None
    if is_setup:
        try:
            adapter = _row_adapter(setup)
        except (TypeError, ValueError) as error:
            faults.append(error)
        except FOREIGN as error:
            faults.append(_unread(f"{setup.__name__}.row_model", error))
    if faults or adapter is None:
        kind = InvalidIntegrationType if isinstance(faults[0], TypeError) else InvalidIntegrationValue
        raise kind(tuple(Problem(FAULT, str(fault)) for fault in faults)) from faults[0].__cause__
    return adapter


def _told(what: str, faults: Iterator[Exception]) -> Iterator[Exception]:
    """`faults`, and as one more that code of the customer's raised while `what` was looked at."""
    try:
        yield from faults
    except FOREIGN as error:
        yield _unread(what, error)


def _unread(what: str, error: BaseException) -> Exception:
    fault = TypeError(f"{what} cannot be looked at: {class_name(error)} is raised when it is")
    fault.__cause__ = error
    return fault


def _setup_faults(setup: type[RunSetup[Any]], targets: tuple[OptimizationTarget, ...]) -> Iterator[Exception]:
    yield from target_faults(setup, targets)
    has_documents = any(isinstance(target, DocumentTargets) for target in targets)
    if has_documents and setup.prepare_run is RunSetup.prepare_run:
        yield TypeError(f"{setup.__name__}.prepare_run must be overridden: document targets need their seed documents")
    if missing := sorted(setup.__abstractmethods__):
        yield TypeError(f"{setup.__name__} must define {', '.join(missing)}")
    if fault := binding_fault(setup):
        yield _caused(TypeError(f"{setup.__name__}() must be callable without arguments: {fault}"), fault)
    load_cases = f"{setup.__name__}.load_cases"
    yield from _method_faults(setup, "load_cases", "(self, row, *, runtime)", ANY, ANY, runtime=ANY)
    match gives(setup.load_cases):
        case Gives.COROUTINE:
            yield TypeError(f"{load_cases} must be an asynchronous generator; it returns once instead of yielding")
        case Gives.GENERATOR | Gives.SYNC_CONTEXT:
            yield TypeError(f"{load_cases} must be an asynchronous generator; write `async def`")
    yield from _method_faults(setup, "prepare_run", "(self, *, runtime)", ANY, runtime=ANY)
    yield from _context_faults(f"{setup.__name__}.prepare_run", setup.prepare_run)
    if issubclass(setup, DocumentRunSetup) and setup_opener(setup) is not None:
        yield from _open_candidate_faults(f"{setup.__name__}.open_candidate", setup.open_candidate, opener_fault(setup))


def _method_faults(
    setup: type[RunSetup[Any]], name: str, form: str, /, *arguments: Any, **named: Any
) -> Iterator[Exception]:
    if isinstance(inspect.getattr_static(setup, name), staticmethod | classmethod):
        yield TypeError(f"{setup.__name__}.{name} must be an ordinary method {name}{form}")
    elif fault := binding_fault(getattr(setup, name), *arguments, **named):
        yield _caused(TypeError(f"{setup.__name__}.{name} must be callable as {name}{form}: {fault}"), fault)


def _hook_faults(name: str, hook: Any, **named: Any) -> Iterator[Exception]:
    form = f"{name}({', '.join(f'{argument}=...' for argument in named)})"
    if not callable(hook):
        yield TypeError(f"{name} must be a function called as {form}, not {_shown(hook)}")
        return
    if not is_async(hook):
        yield TypeError(f"{name} must be an `async def` function")
    if fault := binding_fault(hook, **named):
        yield _caused(TypeError(f"{name} must be callable as {form}: {fault}"), fault)


def _open_candidate_faults(name: str, hook: Any, fault: Exception | None) -> Iterator[Exception]:
    form = "open_candidate(targets_dir=..., scratch_dir=...)"
    if not callable(hook):
        yield TypeError(f"{name} must be None or a function called as {form}, not {_shown(hook)}")
        return
    yield from _context_faults(name, hook)
    if fault is not None:
        yield _caused(TypeError(f"{name} must be callable as {form}: {fault}"), fault)


def _context_faults(name: str, hook: Callable[..., Any]) -> Iterator[Exception]:
    """Faults of what must return an asynchronous context manager when called."""
    match gives(hook):
        case Gives.COROUTINE:
            yield TypeError(
                f"{name} must return an asynchronous context manager, not a coroutine; "
                "decorate an `async def` that yields with contextlib.asynccontextmanager"
            )
        case Gives.ASYNC_GENERATOR:
            yield TypeError(f"{name} must be decorated with contextlib.asynccontextmanager")
        case Gives.GENERATOR | Gives.SYNC_CONTEXT:
            yield TypeError(
                f"{name} must return an asynchronous context manager: "
                "write `async def` and decorate it with contextlib.asynccontextmanager"
            )


def _row_adapter(setup: type[RunSetup[Any]]) -> RowAdapter[Any]:
    model = getattr(setup, "row_model", None)
    if model is None:
        raise TypeError(f"{setup.__name__}.row_model must be set to the type of a row")
    return row_adapter(model, f"{setup.__name__}.row_model")


def _caused(fault: Exception, cause: Exception) -> Exception:
    fault.__cause__ = cause
    return fault


def _shown(thing: object) -> str:
    if isinstance(thing, type):
        return f"the class {thing.__name__}"
    return shown(thing)
