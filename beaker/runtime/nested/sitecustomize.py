"""Read by interpreters that customer code starts: they take the repository's modules from the checkout that runs.

`beaker.runtime.remapping` names this folder in `PYTHONPATH`. The interpreter may be any, without Beaker in it.
"""

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location

_HERE = os.path.dirname(os.path.abspath(__file__))


def _remap() -> None:
    remapping = spec_from_file_location("_beaker_remapping", os.path.join(os.path.dirname(_HERE), "remapping.py"))
    checkout, original = os.environ.get("BEAKER_CHECKOUT"), os.environ.get("BEAKER_ORIGINAL")
    if remapping is not None and checkout and original:
        module = _executed(remapping)
        module.remap_interpreter(module.Checkouts(checkout, original))


def _customize() -> None:
    """Run the `sitecustomize` of the interpreter's own environment, which this one hides."""
    hidden = PathFinder.find_spec("sitecustomize", [entry for entry in sys.path if os.path.abspath(entry) != _HERE])
    if hidden is not None and hidden.loader is not None:
        _executed(hidden)


def _executed(spec: ModuleSpec):  # type: ignore[no-untyped-def]  # a module with whatever is in it
    module = module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


try:
    _customize()
finally:
    # What it added is moved too. An older Python goes on as it would have without Beaker; any other one says on
    # standard error what went wrong here.
    if sys.version_info >= (3, 9):  # noqa: UP036  # the customer's interpreter, not the one that Beaker runs on
        _remap()
