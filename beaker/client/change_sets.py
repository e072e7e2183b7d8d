"""Change sets of a candidate, fetched and decoded."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.client.api import Api
from beaker.client.flows import download_candidate
from beaker.core import strict_json
from beaker.core.changesets import change_set_from_json
from beaker.core.documents import DocumentChangeSet
from beaker.core.problems import Problem

FOLDER = "changes"


def fetch_change_sets(api: Api, candidate_id: str) -> Result[Mapping[str, DocumentChangeSet], Problem]:
    """Every change set of a candidate, by the name of its file without `.json`; none for one that changes no document.

    Problems are those of the download, of the JSON, and of the change set.
    """
    with TemporaryDirectory(prefix="beaker-changes-") as folder:
        fetched = download_candidate(api, candidate_id, Path(folder), wanted=_is_change_set)
        if not is_successful(fetched):
            return Failure(fetched.failure())
        found: dict[str, DocumentChangeSet] = {}
        for path in fetched.unwrap():
            parsed = strict_json.parse((Path(folder) / path).read_bytes(), path)
            if not is_successful(parsed):
                return Failure(parsed.failure())
            decoded = change_set_from_json(parsed.unwrap())
            if not is_successful(decoded):
                return Failure(decoded.failure()[0])
            found[Path(path).stem] = decoded.unwrap()
        return Success(found)


def _is_change_set(path: str) -> bool:
    folder, _, file = path.partition("/")
    return folder == FOLDER and file.endswith(".json")
