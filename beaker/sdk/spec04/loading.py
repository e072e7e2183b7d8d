"""Finding a factory by its entry point, `<module>:<attribute path>`, and building its Spec."""

from collections.abc import Callable
from functools import reduce
from importlib import import_module
from typing import Any

from beaker.sdk.generations import spec_entry
from beaker.sdk.spec04.contexts import OptimizationContext
from beaker.sdk.spec04.specs import Spec, validate_spec


def load_factory(target: str) -> Callable[[OptimizationContext], Spec]:
    """Import the module of `target` and return the factory, without calling it.

    `target` is `<module>:<attribute>`, blanks around each trimmed; the attribute may have dots. Modules that this
    imports first are of the Spec generation. `ValueError` for another form, `AttributeError` naming the part that is
    missing, `TypeError` for what cannot be called, and whatever importing raises, unchanged.
    """
    module_name, separator, attribute = (part.strip() for part in target.partition(":"))
    if not separator or not module_name or not attribute:
        raise ValueError(f"a target reads <module>:<attribute>, not {target!r}")
    with spec_entry():
        found = reduce(_attribute(target), attribute.split("."), import_module(module_name))
    if not callable(found):
        raise TypeError(f"{target!r} must be a factory, which can be called, not {type(found).__name__}")
    factory: Callable[[OptimizationContext], Spec] = found
    return factory


def load_spec_from_target(target: str, context: OptimizationContext | None = None) -> Spec:
    """The Spec that the factory of `target` builds, validated; called with `context`, or one with its defaults.

    Raises as `load_factory` and `validate_spec` do, and what the factory raises, unchanged: `SpecContextRequiredError`
    when it cannot build its Spec outside a run.
    """
    factory = load_factory(target)
    with spec_entry():
        return validate_spec(factory(OptimizationContext() if context is None else context))


def _attribute(target: str) -> Callable[[Any, str], Any]:
    def step(owner: Any, name: str) -> Any:
        try:
            return getattr(owner, name)
        except AttributeError:
            raise AttributeError(f"{target!r}: {_called(owner)} has no attribute {name!r}") from None

    return step


def _called(owner: Any) -> str:
    name = getattr(owner, "__qualname__", None) or getattr(owner, "__name__", None)
    return str(name or f"a value of type {type(owner).__name__}")
