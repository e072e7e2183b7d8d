"""Testing an Integration: one setup, one case, one score, in a unit test, under the rules of a run.

Customer code runs here in the test's own process, on purpose: breakpoints, coverage and monkeypatching reach it. A run,
and `beaker run smoke`, give it processes of its own. `docs/testing.md` has examples.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in `beaker`: pytest imports this package in every project that has Beaker installed
if TYPE_CHECKING:
    from typing import Any

    from beaker.testing.cases import run_case_once, score_once
    from beaker.testing.faults import IntegrationFault
    from beaker.testing.loading import load_integration
    from beaker.testing.rollouts import recorded_trace, rollout_runtime
    from beaker.testing.setups import PreparedRun, open_setup, run_setup_once, setup_runtime

_HOMES = {
    "IntegrationFault": "faults",
    "PreparedRun": "setups",
    "load_integration": "loading",
    "open_setup": "setups",
    "recorded_trace": "rollouts",
    "rollout_runtime": "rollouts",
    "run_case_once": "cases",
    "run_setup_once": "setups",
    "score_once": "cases",
    "setup_runtime": "setups",
}

__all__ = [
    "IntegrationFault",
    "PreparedRun",
    "load_integration",
    "open_setup",
    "recorded_trace",
    "rollout_runtime",
    "run_case_once",
    "run_setup_once",
    "score_once",
    "setup_runtime",
]


if not TYPE_CHECKING:  # type checkers know the names from above, and so see a name that does not exist

    def __getattr__(name: str) -> Any:
        if (home := _HOMES.get(name)) is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
