"""The repository's `.beaker/.env`: found, read, and not trusted further than `core.environment` says."""

from pathlib import Path

from returns.result import Failure, Result, Success

from beaker.core.environment import parse_dotenv
from beaker.core.problems import Problem
from beaker.core.project_layout import BEAKER_ENV_PATH
from beaker.files.atomic import os_problem
from beaker.files.project import find_git_root, upwards
from beaker.files.reading import read_regular

MAX_BYTES = 1_000_000


def find_dotenv(cwd: Path) -> Path | None:
    """The nearest `.beaker/.env` from `cwd` up to the Git root; outside Git only the one of `cwd` itself."""
    start = cwd.resolve()
    stop = find_git_root(start) or start
    return next((file for folder in upwards(start, stop) if (file := folder / BEAKER_ENV_PATH).is_file()), None)


def read_dotenv(cwd: Path) -> Result[dict[str, str], Problem]:
    """All assignments of the dotenv file that counts for `cwd`, none when there is no file.

    BK130 when it is not UTF-8, too large to be one, or a link that leads out of the repository (outside Git: out of the
    folder that holds `.beaker`).

    What of them may take effect, `core.environment.dotenv_supplies` decides.
    """
    found = find_dotenv(cwd)
    if found is None:
        return Success({})
    home = find_git_root(found.parent.parent) or found.parent.parent
    if home not in found.resolve().parents:
        hint = f"copy the file: a repository's {BEAKER_ENV_PATH} may not be a link that leads out of it"
        return Failure(Problem("BK130", f"leads out of {home}", str(found), hint))
    try:
        if found.stat().st_size > MAX_BYTES:
            return Failure(
                Problem("BK130", f"is larger than {MAX_BYTES} bytes", str(found), "keep variables in it alone")
            )
        return Success(parse_dotenv(read_regular(found).decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        return Failure(Problem("BK130", "is not UTF-8", f"{found}:{line}", "save the file as UTF-8"))
    except OSError as error:
        return Failure(os_problem(error, "read the variables of this project", found))
