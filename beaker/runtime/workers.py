"""The host's side of the three kinds of children: setup, rollout and scorer.

Each child runs `python -m beaker.runtime.child KIND` and answers requests (`docs/worker-protocol.md`). Customer code
runs only there.
"""

from beaker.core.optimizer import Timeouts
from beaker.runtime.failures import StageProblem, WorkerFailed
from beaker.runtime.rollout_worker import RolloutResult, RolloutWorker
from beaker.runtime.scorer_worker import ScorerWorker
from beaker.runtime.setup_worker import Prepared, SetupWorker
from beaker.runtime.starting import LoadedIntegration

__all__ = [
    "LoadedIntegration",
    "Prepared",
    "RolloutResult",
    "RolloutWorker",
    "ScorerWorker",
    "SetupWorker",
    "StageProblem",
    "Timeouts",
    "WorkerFailed",
]
