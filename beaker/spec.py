"""The decorator of the Spec generation under its old name, as a module that can be called; its home is `beaker.sdk`.

`@beaker.spec(...)` decorates a factory, and `from beaker.spec import get_registration` finds what that noted.
"""

import sys
from types import ModuleType
from typing import Any

from beaker.sdk.spec04.registration import SpecRegistration, get_registration, iter_registered_specs, spec

__all__ = ["SpecRegistration", "get_registration", "iter_registered_specs", "spec"]


class _Decorator(ModuleType):
    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return spec(*arguments, **named)


sys.modules[__name__].__class__ = _Decorator
