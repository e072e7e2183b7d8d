"""Starting the worker of a run that has none, whoever noticed: a later command, or a server that looks after runs."""

from beaker.core.problems import Problem
from beaker.core.proposer_settings import proposer_variables
from beaker.core.values import value
from beaker.files.atomic import os_problem
from beaker.service.agent_table import agent_key_of
from beaker.service.ports import Ports, Workers
from beaker.service.run_table import RunRecord


@value
class Resumption:
    """What became of a run that had no worker: it has one again, or a problem says why not.

    `lost` tells that a worker had begun; otherwise one may just be starting.
    """

    run_id: str
    problem: Problem | None = None
    lost: bool = False


def resume(run: RunRecord, ports: Ports, workers: Workers) -> Resumption:
    """Have `workers` start a worker for a run that has none.

    A run that needs an environment name which is not set here is left alone, and the name is said (BK741); so is one
    of a place that can only be read. `Refused` when the values of agents or the project's dotenv file cannot be read.
    """
    if (why := ports.database.read_only) is not None:
        return Resumption(run.id, Problem(why.code, f"the run {run.id} waits: {why.message}", why.where, why.hint))
    passed = proposer_variables(run.settings.get("harness_optimization"))
    agent_key = agent_key_of(ports.database, run.agent_id)
    granted = ports.granted(_names(run.entry.get("required_env")), agent_key)
    missing = (*granted.missing, *ports.unset(passed))
    if missing:
        hint = "set it and repeat the command, or look only with --no-resume"
        message = f"the run {run.id} waits: it needs {', '.join(missing)}, which is not set here"
        return Resumption(run.id, Problem("BK741", message, hint=hint))
    try:
        workers.start(run.id, granted.values)
    except OSError as error:
        return Resumption(run.id, os_problem(error, f"start a worker for the run {run.id}"))
    return Resumption(run.id, lost=run.status == "RUNNING")


def _names(listed: object) -> tuple[str, ...]:
    return tuple(name for name in listed if isinstance(name, str)) if isinstance(listed, list) else ()
