"""Entering and leaving a customer's asynchronous context manager, step by step, so that every failure is told."""

from typing import Any

from beaker.runtime.failures import StageFailed, StageProblem, stage_problem
from beaker.runtime.loading import discard
from beaker.runtime.places import defined_at

_LEAVING = "what stands behind its `yield` failed; it runs also after a failure, so it must cope with half a setup"


class HookContext:
    """The context manager that `prepare_run` or `open_candidate` returned. One task enters and leaves it.

    `hook` is the function that returned it, `manager` the context manager itself.
    """

    def __init__(self, manager: Any, stage: str, hook: Any) -> None:
        if not callable(getattr(manager, "__aenter__", None)) or not callable(getattr(manager, "__aexit__", None)):
            discard(manager)
            message = f"{stage} must return an asynchronous context manager, not {type(manager).__name__}"
            hint = "write `async def` with one `yield` and decorate it with contextlib.asynccontextmanager"
            raise StageFailed(StageProblem("BK331", message, defined_at(hook), hint, stage))
        self.manager = manager
        self._stage = stage

    async def enter(self) -> Any:
        """What the context manager gives. Whatever it raises goes on."""
        return await type(self.manager).__aenter__(self.manager)

    async def leave(self, cause: BaseException | None) -> StageProblem | None:
        """Leave it, after `cause` when something failed inside; what failed while leaving.

        A context manager that swallows `cause` changes nothing: the caller reports it in any case.
        """
        kind, trace = (None, None) if cause is None else (type(cause), cause.__traceback__)
        try:
            await type(self.manager).__aexit__(self.manager, kind, cause, trace)
        except BaseException as error:
            if error is cause:
                return None
            return stage_problem("BK334", "teardown", error, doing=f"leaving {self._stage}", hint=_LEAVING)
        return None
