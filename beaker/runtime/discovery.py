"""Which Integrations a module makes: asked of the module itself, imported in a process of its own.

As a program, not for use by hand: `python -m beaker.runtime.discovery IMPORT_ROOT MODULE ANSWER`.
"""

import json
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType

from beaker.core.problems import Problem
from beaker.runtime.failures import StageProblem, WorkerFailed, traced
from beaker.runtime.folders import temporary_folder
from beaker.runtime.namesakes import keep_apart
from beaker.runtime.supervisor import Supervisor
from beaker.sdk.integration import Integration

STAGE = "import"


async def discover_integrations(
    supervisor: Supervisor, import_root: Path, module: str, *, env: Mapping[str, str], timeout: float = 60.0
) -> tuple[str, ...]:
    """The public names under which the module holds an Integration, one name per Integration, in its order.

    `WorkerFailed` when the module cannot be imported, ends its process, or takes longer than `timeout` seconds.
    """
    with temporary_folder("beaker-discovery-") as folder:
        answer = folder / "answer.json"
        argv = [supervisor.python, "-P", "-m", "beaker.runtime.discovery", str(import_root), module, str(answer)]
        done = await supervisor.run_command(
            argv, cwd=import_root, env={**env, "PYTHONDONTWRITEBYTECODE": "1"}, timeout=timeout
        )
        if done.timed_out:
            hint = "code at module level must not wait for anything"
            said = f"importing {module} took longer than {timeout:g} s"
            raise WorkerFailed("timed_out", Problem("BK550", said, hint=hint), done.stdout)
        if done.returncode != 0 or not answer.is_file():
            last = done.stderr.strip().splitlines()[-1:] or [f"its process ended with {done.returncode}"]
            hint = "importing the module in a test shows the same; code at module level must not end the process"
            said = f"cannot import {module}: {last[0]}"
            problem = StageProblem("BK302", said, hint=hint, stage=STAGE, traceback=done.stderr)
            raise WorkerFailed("raised", problem, done.stdout)
        return tuple(json.loads(answer.read_text(encoding="utf-8")))


def main() -> int:
    """Import the module and write the names; exit status 1 with the traceback when it cannot be imported."""
    import_root, module, answer = sys.argv[1:]
    del sys.argv[1:]
    package = module.partition(".")[0]
    keep_apart(Path(import_root), package)
    sys.path.insert(0, import_root)
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        del sys.modules[name]
    try:
        imported = import_module(module)
    except BaseException as error:
        print(traced(error), file=sys.stderr)
        return 1
    Path(answer).write_text(json.dumps(integrations_of(imported)), encoding="utf-8")
    return 0


def integrations_of(module: ModuleType) -> list[str]:
    """The public names under which an imported module holds an Integration, one per Integration, in its order."""
    found: dict[int, str] = {}
    for name, value in vars(module).items():
        if isinstance(value, Integration) and not name.startswith("_"):
            found.setdefault(id(value), name)
    return [*found.values()]


if __name__ == "__main__":
    sys.exit(main())
