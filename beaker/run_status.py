"""The statuses of runs, by their public names."""

from beaker.core.runs import RUN_STATUSES, TERMINAL_RUN_STATUSES

__all__ = ["RUN_STATUSES", "TERMINAL_RUN_STATUSES"]
