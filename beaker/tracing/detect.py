"""Which frameworks a repository asks models with, for programs: what `beaker trace instrument` goes by."""

from os import PathLike
from pathlib import Path

from returns.pipeline import is_successful

from beaker.core.frameworks import Detection, RepoScan
from beaker.core.problems import Refused
from beaker.files.tracing_scan import scan_repo as _scan_repo

__all__ = ["Detection", "RepoScan", "scan_repo"]


def scan_repo(root: str | PathLike[str]) -> RepoScan:
    """What the code below `root` says of models; nothing of it is run. `Refused` for a folder that cannot be listed
    (BK701) and for one with too many files (BK749)."""
    scan = _scan_repo(Path(root))
    if not is_successful(scan):
        raise Refused(scan.failure())
    return scan.unwrap()
