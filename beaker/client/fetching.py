"""Fetching what a place offers, as a flow: asked for once, or again when its addresses were too old."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.client.remote_files import Fetched, RemoteFile, other_bytes, remote_file
from beaker.client.steps import Begin, Call, Flow, Get, Moved, Next
from beaker.core.problems import Problem
from beaker.core.strict_json import JsonObject
from beaker.core.transfer import url_expired

Progress: TypeAlias = Callable[[str, int, int], None]
"""Told after each file, and of bigger ones every few MiB: its path, bytes done so far of all files, bytes in all."""

Told: TypeAlias = Callable[[RemoteFile], RemoteFile]
"""Adds to an offered file what is known of it from elsewhere."""


def fetching_flow(
    ask: Call,
    folder: Path,
    *,
    progress: Progress,
    wanted: Callable[[str], bool] | None = None,
    told: Told = lambda file: file,
    offered: Result[JsonObject, Problem] | None = None,
    unverified: bool = False,
) -> Flow[Mapping[str, Fetched]]:
    """Fetch the files that the answer to `ask` offers into `folder`, those whose path is `wanted`, all at the same
    time and each verified; what came, by path, in the order of the offer.

    `offered` is the answer when it is there already. With `unverified` files may lack sizes and digests: whoever asks
    judges what came. Where an address was no longer good, `ask` is asked again, as long as that helps. BK812 for an
    answer that describes a file badly, BK813 for a file that is not the one that was announced, or not the same in a
    later answer.
    """
    come: dict[str, Fetched] = {}
    known: dict[str, RemoteFile] = {}
    done = 0
    while True:
        if offered is None:
            offered = yield ask
        if not is_successful(offered):
            return Failure(offered.failure())
        read, offered = offered_files(offered.unwrap()), None
        if not is_successful(read):
            return Failure(read.failure())
        files = {file.path: told(file) for file in read.unwrap() if wanted is None or wanted(file.path)}
        if not unverified and any(file.size is None or file.sha256 is None for file in files.values()):
            return Failure(_malformed("a file lacks path, URL or digest"))
        for path, before in known.items():
            if path not in files or (files[path].size, files[path].sha256) != (before.size, before.sha256):
                return Failure(other_bytes(path))
        first, known = not known, files
        left = [file for path, file in files.items() if path not in come]
        total = sum(file.size or 0 for file in files.values())
        for file in left:
            target = folder / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            yield Begin(file.path, Get(file, target))
        expired: Problem | None = None
        arrived, waiting, partly = 0, len(left), dict[str, int]()
        while waiting:
            happened = yield Next()
            if isinstance(happened, Moved):
                partly[happened.key] = happened.done
                progress(happened.key, done + sum(partly.values()), total)
                continue
            waiting -= 1
            partly.pop(happened.key, None)
            if is_successful(happened.outcome):
                come[happened.key] = happened.outcome.unwrap()
                arrived, done = arrived + 1, done + come[happened.key].size
                progress(happened.key, done + sum(partly.values()), max(total, done))
            elif url_expired(happened.outcome.failure()):
                expired = happened.outcome.failure()
            else:
                return Failure(happened.outcome.failure())
        if expired is None:
            return Success({path: come[path] for path in files})
        if not (first or arrived):
            return Failure(expired)


def offered_files(answer: JsonObject) -> Result[tuple[RemoteFile, ...], Problem]:
    """The files that an answer offers for download (BK812 for one that describes them badly, or one of them twice)."""
    listed = answer.get("files")
    files = [remote_file(item) for item in listed] if isinstance(listed, list) else [None]
    read = tuple(file for file in files if file is not None)
    if len(read) < len(files):
        return Failure(_malformed("a file lacks path, URL or digest"))
    if len({file.path for file in read}) < len(read):
        return Failure(_malformed("it offers a file twice"))
    return Success(read)


def _malformed(why: str) -> Problem:
    return Problem("BK812", f"the answer of the download is malformed: {why}")
