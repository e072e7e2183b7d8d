"""Starting a child that imports the Integration, and what the hosts of all kinds of children share."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from returns.pipeline import is_successful

from beaker.core.case_retry import INFRASTRUCTURE, crash_kind
from beaker.core.evaluations import CaseError
from beaker.core.optimizer import Timeouts
from beaker.core.sandbox import Sandbox
from beaker.core.sandbox_refusals import confinement_of
from beaker.core.targets import OptimizationTarget, parse_declaration
from beaker.core.values import value
from beaker.runtime.code_root import CodeRoot, code_root_to_json
from beaker.runtime.connection import Confine, Connection, connect
from beaker.runtime.failures import StageProblem, WorkerFailed
from beaker.runtime.sandbox import confined
from beaker.runtime.supervisor import Supervisor


@value
class LoadedIntegration:
    """What importing an Integration showed. `python` names the interpreter: its version and path."""

    targets: tuple[OptimizationTarget, ...]
    has_open_candidate: bool
    python: str


async def start_child(
    supervisor: Supervisor,
    kind: str,
    code: CodeRoot,
    *,
    env: Mapping[str, str],
    timeouts: Timeouts,
    arguments: Mapping[str, Any],
    writable: Sequence[Path] = (),
) -> tuple[Connection, LoadedIntegration]:
    """Start a child and have it import the Integration; `WorkerFailed` when that fails, and then nothing is left.

    Where the supervisor has a sandbox, a child that is no setup is confined to the folders `writable`, the last of
    which is its place for temporary files, and told so.
    """
    confine: Confine = list
    if supervisor.sandbox is not None and kind != "setup":
        network = supervisor.sandbox.scorer_online if kind == "scorer" else supervisor.sandbox.rollouts_online
        confine = _confining(supervisor.sandbox, writable, network=network)
        arguments = {**arguments, "confinement": confinement_of(network=network)}
        env = {**env, "TMPDIR": str(writable[-1])}
    connection = connect(supervisor, kind, cwd=code.repository, env=env, confine=confine)
    try:
        answer = await connection.request(
            "start", {"code": code_root_to_json(code), **arguments}, stage="import_", limits=limits_of(timeouts)
        )
    except WorkerFailed as failure:
        await connection.kill()
        raise WorkerFailed(failure.kind, failure.problems, connection.output(), status=failure.status) from None
    except BaseException:
        await connection.kill()
        raise
    try:
        return connection, _loaded(answer)
    except (KeyError, TypeError, ValueError) as nonsense:
        await connection.kill()
        raise connection.nonsense(nonsense) from None


def _loaded(answer: Mapping[str, Any]) -> LoadedIntegration:
    targets = parse_declaration(answer["targets"])
    if not is_successful(targets):
        raise ValueError(str(targets.failure()))
    if not isinstance(answer["has_open_candidate"], bool):
        raise TypeError("it does not say whether there is an open_candidate")
    return LoadedIntegration(targets.unwrap(), answer["has_open_candidate"], str(answer["python"]))


def _confining(sandbox: Sandbox, writable: Sequence[Path], *, network: bool) -> Confine:
    for folder in writable:
        folder.mkdir(parents=True, exist_ok=True)
    return lambda argv: confined(argv, sandbox.means, writable=writable, network=network)


def limits_of(timeouts: Timeouts) -> dict[str, float]:
    """The seconds of every stage a child can be in."""
    return {
        "import_": timeouts.import_,
        "check_rows": timeouts.load_cases,
        "prepare_run": timeouts.prepare_run,
        "load_cases": timeouts.load_cases,
        "open_candidate": timeouts.open_candidate,
        "run_case": timeouts.run_case,
        "score_case": timeouts.score_case,
        "teardown": timeouts.teardown,
    }


def lost_kind(failure: WorkerFailed, kind: str) -> str:
    """The kind of the error of a case whose process failed so: `kind`, or that the machine is to blame."""
    found = crash_kind(failure.status, passing=failure.passing) if failure.kind == "crashed" else kind
    return found if found == INFRASTRUCTURE else kind


def worker_error(failure: WorkerFailed, kind: str, captured: str = "") -> CaseError:
    """A failure of the process as a case's error; without a traceback, `captured` stands for it."""
    told = (problem.traceback for problem in failure.problems if isinstance(problem, StageProblem))
    traceback = next((text for text in told if text), captured)
    return CaseError(kind, "; ".join(problem.message for problem in failure.problems), traceback)
