"""Finding and reading the receipts of captures on disk."""

from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.strict_json import JsonObject, parse
from beaker.files.atomic import os_problem
from beaker.files.reading import read_regular


def read_receipt(path: Path) -> Result[tuple[Path, JsonObject], Problem]:
    """The JSON object in `path`, or in the newest `captures/*.receipt.json` below it when it is a folder, with its
    path. BK751 when there is none, BK701 for a file that cannot be read, BK752 for one that holds no JSON object."""
    file = path
    try:
        if path.is_dir():
            receipts = [(one.stat().st_mtime_ns, one) for one in (path / "captures").glob("*.receipt.json")]
            if not receipts:
                hint = "run a case with a capture first, or name the file"
                return Failure(Problem("BK751", "holds no receipt of a capture", str(path), hint))
            file = max(receipts)[1]
        elif not path.exists():
            return Failure(Problem("BK751", "there is no such file or folder", str(path)))
        data = read_regular(file)
    except OSError as error:
        return Failure(os_problem(error, "read the receipt", file))
    read = parse(data, str(file))
    if not is_successful(read):
        return Failure(Problem("BK752", f"is no JSON: {read.failure()}", str(file)))
    if not isinstance(read.unwrap(), dict):
        return Failure(Problem("BK752", "must hold one JSON object", str(file)))
    return Success((file, read.unwrap()))
