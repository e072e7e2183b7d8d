"""The port of an engine, which decides what to evaluate and propose next. Beaker brings one: `core.search`.

An engine is a pure state machine: everything that happens is in the log, and taking the log again gives the same state.
So it resumes after a kill, and a run can be looked at, without the engine doing anything of its own.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from returns.result import Result

from beaker.core.problems import Problem, Refused
from beaker.core.proposer_settings import PARETO
from beaker.core.search import SearchState, replay, start, step
from beaker.core.search.log import Start, Step
from beaker.core.strict_json import JsonObject
from beaker.core.values import value
from beaker.runtime.extensions import ENGINES, load


@value
class Engine:
    """`start` makes a state from settings, the ids of TRAIN and TEST, and the baseline's tree; `step` moves it.

    Both keep to what `core.search.start` and `core.search.step` say. A state is a `SearchState`, or of a subclass with
    more in it: what is shown of a run (candidates, proposals, progress) is read from it. Neither may depend on
    anything but its arguments.
    """

    start: Start
    step: Step

    def replay(self, entries: Sequence[JsonObject]) -> Result[SearchState, Problem]:
        """The state after a log; see `core.search.replay`."""
        return replay(entries, start=self.start, step=self.step)


PARETO_ENGINE = Engine(start, step)
"""The engine `pareto`, which `docs/optimization.md` describes."""


def engine_of(name: str, options: Mapping[str, Any]) -> Engine:
    """The engine with this name; a registered one is made by calling what is registered with `options`.

    `Refused` (BK564) when it is not installed, cannot be imported, or makes no `Engine`.
    """
    if name == PARETO:
        return PARETO_ENGINE
    try:
        made = load(ENGINES, name)(options)
    except LookupError:
        hint = "install the package that registers it"
        raise Refused(Problem("BK564", f"the engine {name!r} is not installed here", hint=hint)) from None
    except Exception as error:
        message = f"the engine {name!r} cannot be made: {type(error).__name__}: {error}"
        raise Refused(Problem("BK564", message)) from error
    if not isinstance(made, Engine):
        message = f"the engine {name!r} is no beaker.engine.engines.Engine, but {type(made).__name__}"
        raise Refused(Problem("BK564", message))
    return made


def engine_of_settings(settings: JsonObject) -> Engine:
    """The engine of a run, from its stored settings; those of early builds name none."""
    optimizer = settings.get("harness_optimization")
    if not isinstance(optimizer, dict):
        return PARETO_ENGINE
    options = optimizer.get("engine_options")
    return engine_of(str(optimizer.get("engine", PARETO)), options if isinstance(options, dict) else {})
