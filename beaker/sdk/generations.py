"""Which generation a module was written for, where a name means one thing in the Spec generation and another now.

The classes `Case`, `CaseResult`, `CaseScore`, `FieldDiff` and `RunCase` are such names, and the functions
`inference_target` and `objective_score`. Nothing is guessed from how they are called. What counts, in this order:

1. what else the module that asks takes from Beaker: a name that only the Spec generation has;
2. whether the module was first imported while a factory was loaded that the configuration names as a Spec, or while
   that or a hook of its Spec was called, and takes no name that only Integrations have;
3. otherwise the name is today's.

The module is that of the code that asks, and what is looked at is its compiled code: `from beaker import Spec` and
`beaker.Spec` count wherever they stand in it, whether executed or not.
"""

import linecache
import os
import re
import sys
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dis import get_instructions
from importlib import import_module
from types import CodeType, FrameType, ModuleType
from typing import Any
from weakref import WeakValueDictionary

from beaker.core.text import FOREIGN
from beaker.sdk.earlier_warnings import is_beaker, is_importing, warn_caller
from beaker.sdk.spec_names import BY_GENERATION, SDK_SPEC_ONLY

DEPRECATED = (
    "the Spec API is deprecated since 0.5: declare an Integration instead, which "
    "`integration = as_integration(build_spec)` makes of a factory (from beaker.sdk.spec04 import as_integration)"
)
"""What a module that uses the Spec generation is told, once."""

_PACKAGES = ("beaker", "beaker.sdk")
INTEGRATIONS_ONLY = frozenset(
    (
        "CaseFile",
        "DocumentRunSetup",
        "DocumentRunSetupResult",
        "Integration",
        "RepositoryRunSetup",
        "RepositoryRunSetupResult",
        "RetryableCaseError",
        "RolloutRuntime",
        "RunSetup",
        "ScoreCase",
        "SetupRuntime",
        "TargetDocument",
        "documents",
        "load_integration",
        "repository",
        "validate_integration",
    )
)
"""Names with which a module that also takes `Case` from `beaker` is one of an Integration: in the Spec generation an
Integration took its `Case` from `beaker.sdk.integration`.
"""

_KNOWN = "__beaker_spec_generation__"
"""In the namespace of a module that asked: its code, as far as that is known, and the answer."""

_of_entries: "WeakValueDictionary[int, ModuleType]" = WeakValueDictionary()
"""By their identity, since a module may be of a class that cannot be hashed."""

_loading: ContextVar[dict[str, ModuleType] | None] = ContextVar("_loading", default=None)
_SPEC_WORK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spec04", "")


def meant(name: str, home: str | None, frame: FrameType) -> Any:
    """What `name` is to the code that `frame` executes. `home` is the module that has it now, `None` for a name that
    only the Spec generation has. The module of a customer who gets something of that generation is warned, once.
    """
    if home is not None and not is_spec_generation(frame):
        return getattr(sys.modules.get(home) or import_module(home), name)  # asked again and again by some
    if not is_importing(frame):
        warn_caller(DEPRECATED, once=True)
    return getattr(import_module(SDK_SPEC_ONLY.get(name) or BY_GENERATION[name]), name)


@contextmanager
def spec_entry() -> Iterator[None]:
    """Modules that are first imported within belong to a factory that the configuration names as a Spec, for ever."""
    before = dict(sys.modules)
    token = _loading.set(before)
    try:
        yield
    finally:
        _loading.reset(token)
        for name, module in tuple(sys.modules.items()):
            if before.get(name) is not module and issubclass(type(module), ModuleType):
                _of_entries[id(module)] = module


def is_spec_generation(frame: FrameType) -> bool:
    """Whether the code that `frame` executes stands in a module of the Spec generation; Beaker's own never does."""
    code, namespace = frame.f_code, frame.f_globals
    if is_importing(frame) or is_beaker(code.co_filename):
        return False
    known = namespace.get(_KNOWN)
    if known is not None and (code.co_name != _MODULE or known[0] is code):
        return bool(known[1])
    executing = _executing_module(frame)
    whole = _module_code(namespace) if executing is None else executing.f_code
    looked_at = whole or code
    answer = _takes(looked_at, SDK_SPEC_ONLY)
    if not answer and (_is_of_entry(namespace) or _imported_for_spec(executing)):
        answer = not _takes(looked_at, INTEGRATIONS_ONLY)
    if not answer and known is not None and "__file__" not in namespace:
        answer = bool(known[1])  # one cell of a notebook after the other
    if whole is not None:
        namespace[_KNOWN] = (whole, answer)
    return answer


_MODULE = "<module>"


def _executing_module(frame: FrameType) -> FrameType | None:
    """Where the module around `frame` is still being imported, what executes it."""
    at: FrameType | None = frame
    while at is not None:
        if at.f_globals is frame.f_globals and at.f_code.co_name == _MODULE:
            return at
        at = at.f_back
    return None


def _imported_for_spec(executing: FrameType | None) -> bool:
    """Whether a module is imported while a Spec's factory is loaded or called, or one of its hooks is."""
    while executing is not None:
        executing = executing.f_back
        if executing is not None and executing.f_code.co_filename.startswith(_SPEC_WORK):
            return True
    return False


def _module_code(namespace: dict[str, Any]) -> CodeType | None:
    """The code of a module that was imported before; `None` where nobody has it."""
    spec: Any = namespace.get("__spec__")
    try:
        get_code = getattr(getattr(spec, "loader", None), "get_code", None)
        if get_code is not None and isinstance(code := get_code(spec.name), CodeType):
            return code
        file = namespace.get("__file__")
        source = "".join(linecache.getlines(file, namespace)) if isinstance(file, str) else ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(source, str(file), "exec", dont_inherit=True) if source else None
    except FOREIGN:
        return None


def _is_of_entry(namespace: dict[str, Any]) -> bool:
    name = namespace.get("__name__")
    module = sys.modules.get(name) if isinstance(name, str) else None
    if module is None or getattr(module, "__dict__", None) is not namespace:
        return False
    before = _loading.get()
    return _of_entries.get(id(module)) is module or (before is not None and before.get(str(name)) is not module)


def _takes(code: CodeType, names: Collection[str]) -> bool:
    """Whether the code takes one of these names from `beaker` or `beaker.sdk`, or anything from `beaker.spec`."""
    codes = tuple(_with_nested(code))
    if not any(name in names or name == _DECORATOR for one in codes for name in one.co_names):
        return False
    aliases: dict[str, str] = {}
    # Twice, since a function may use the name of a package that is bound further down.
    taken = {name for _ in range(2) for one in codes for name in _taken(one, aliases)}
    return any(name in names for name in taken)


def _with_nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_nested(constant)


def _taken(code: CodeType, aliases: dict[str, str]) -> Iterator[str]:
    """Names that the code takes from Beaker's packages; what the packages are called is noted in `aliases`."""
    held = origin = ""  # what stands on top of the stack, and the module of a `from` statement
    level: Any = 0
    names: Any = None  # of a `from` statement; both are loaded before it
    for name, argument in _operations(code):
        if name in ("LOAD_CONST", "LOAD_SMALL_INT"):
            held, level, names = "", names, argument
        elif name == "IMPORT_NAME":
            module = "" if level else argument  # a relative import is no import of Beaker
            origin, held = (module, "") if names else ("", module.partition(".")[0])
            if module == _DECORATOR:
                yield "spec"
        elif name == "IMPORT_FROM":  # also of `import beaker.sdk as name`, part for part
            module = origin or held
            if module in _PACKAGES:
                yield argument
            held = f"{module}.{argument}"
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            if held in _PACKAGES:
                yield argument
            held = f"{held}.{argument}"
        elif name.startswith("LOAD_"):
            held = aliases.get(argument, "")
        elif name.startswith("STORE_"):
            if held in _PACKAGES:
                aliases[argument] = held
            held = ""
        elif name != "EXTENDED_ARG":  # part of the next one
            held = ""


def _operations(code: CodeType) -> Iterator[tuple[str, Any]]:
    """The instructions by name with what each is about; one that does two things, as Python 3.13 has them, as two."""
    for instruction in get_instructions(code):
        argument = instruction.argval
        if isinstance(argument, tuple) and len(steps := _FAST.findall(instruction.opname)) == len(argument):
            yield from zip(steps, argument, strict=True)
        else:
            yield instruction.opname, argument


_DECORATOR = "beaker.spec"
_FAST = re.compile("(?:LOAD|STORE)_FAST")
