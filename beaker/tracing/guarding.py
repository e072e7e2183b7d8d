"""Keeping failures of recording away from the application that is recorded."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from beaker.core.text import FOREIGN


class _Failing(Protocol):
    def failed(self, what: str, error: BaseException) -> None: ...


P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R", bound=_Failing)


def guarded(entry: Callable[Concatenate[R, P], T | None]) -> Callable[Concatenate[R, P], T | None]:
    """An entry that never raises into the application: the recorder is told of a failure, and gives `None`.

    Interrupts and cancellations pass.
    """

    @wraps(entry)
    def kept(recorder: R, /, *args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return entry(recorder, *args, **kwargs)
        except FOREIGN as error:
            recorder.failed(entry.__name__, error)
            return None

    return kept
