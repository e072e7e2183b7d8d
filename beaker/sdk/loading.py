"""Finding an Integration by its entry point, `<module>:<attribute>`."""

from importlib import import_module

from beaker.sdk.integration import Integration
from beaker.sdk.validation import validate_integration


def load_integration(entrypoint: str) -> Integration:
    """Import the module on the current `sys.path` and return its Integration, validated.

    `entrypoint` is `<module>:<attribute>`, taken as it is: no trimming, no dotted attribute, no file path. Raises
    `ValueError` for another form or a missing attribute, `TypeError` when the attribute is no `Integration`, and
    whatever importing the module raises, unchanged.
    """
    module_name, separator, attribute = entrypoint.partition(":")
    if not separator or not module_name or not attribute or ":" in attribute:
        raise ValueError(f"an entry point reads <module>:<attribute>, not {entrypoint!r}")
    if "." in attribute:
        raise ValueError(f"{entrypoint!r}: the attribute must stand directly in the module, without a dot")
    module = import_module(module_name)
    try:
        found = getattr(module, attribute)
    except AttributeError as error:
        raise ValueError(f"{entrypoint!r}: the module has no attribute {attribute!r}") from error
    if not isinstance(found, Integration):
        raise TypeError(f"{entrypoint!r} must be an Integration, not {_kind(found)}")
    validate_integration(found)
    return found


def _kind(found: object) -> str:
    return f"the class {found.__name__}" if isinstance(found, type) else f"a value of type {type(found).__name__}"
