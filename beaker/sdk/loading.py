"""Finding an Integration by its entry point, `<module>:<attribute>`."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from beaker.sdk.integration import Integration
from beaker.sdk.validation import validate_integration

if TYPE_CHECKING:
    from beaker.sdk.spec04.adapter import Origin


def load_integration(entrypoint: str) -> Integration:
    """Import the module on the current `sys.path` and return its Integration, validated.

    `entrypoint` is `<module>:<attribute>`, taken as it is: no trimming, no dotted attribute, no file path. Raises
    `ValueError` for another form or a missing attribute, `TypeError` when the attribute is no `Integration`, and
    whatever importing the module raises, unchanged.
    """
    return _integration(_named(entrypoint), entrypoint)


def load_entry(entrypoint: str, *, is_spec: bool) -> Integration:
    """The Integration that an entry of a configuration stands for; a Spec's is made of the factory it names.

    Raises as `load_integration`; for a Spec as `load_factory` and `as_integration` do. The entry of an Integration may
    name a factory that `beaker.spec` decorates.
    """
    if is_spec:
        from beaker.sdk.spec04.adapter import as_integration
        from beaker.sdk.spec04.loading import load_factory

        return as_integration(load_factory(entrypoint))
    found = _named(entrypoint)
    if "beaker.sdk.spec04.registration" in sys.modules:  # as it is wherever something was decorated
        from beaker.sdk.spec04.adapter import as_integration
        from beaker.sdk.spec04.registration import get_registration

        if get_registration(found) is not None:
            return as_integration(found)
    return _integration(found, entrypoint)


def origin_of(integration: Integration) -> "Origin | None":
    """What the Integration was made of, where that is a Spec."""
    adapter = sys.modules.get("beaker.sdk.spec04.adapter")
    hook: Any = integration.run_case
    origin: Origin | None = hook.origin if adapter is not None and isinstance(hook, adapter.SpecRunCase) else None
    return origin


def _integration(found: object, entrypoint: str) -> Integration:
    if not isinstance(found, Integration):
        raise TypeError(f"{entrypoint!r} must be an Integration, not {_kind(found)}")
    validate_integration(found)
    return found


def _named(entrypoint: str) -> Any:
    """What stands at an entry point."""
    module_name, separator, attribute = entrypoint.partition(":")
    if not separator or not module_name or not attribute or ":" in attribute:
        raise ValueError(f"an entry point reads <module>:<attribute>, not {entrypoint!r}")
    if "." in attribute:
        raise ValueError(f"{entrypoint!r}: the attribute must stand directly in the module, without a dot")
    module = import_module(module_name)
    try:
        return getattr(module, attribute)
    except AttributeError as error:
        raise ValueError(f"{entrypoint!r}: the module has no attribute {attribute!r}") from error


def _kind(found: object) -> str:
    return f"the class {found.__name__}" if isinstance(found, type) else f"a value of type {type(found).__name__}"
