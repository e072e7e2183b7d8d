"""Uploading a dataset or another artifact, as a state machine: announce its files, send those the place lacks, confirm
them.

`TRANSITIONS` is the machine. `begin` makes a transfer, `step` takes what happened and says what to do next. Everything
the place lacks may be sent at the same time and may arrive in any order. Where an upload URL was no longer good, the
rest is announced once more when everything under way has ended, and goes on at the new URLs. The manifest digest has to
agree all along: a place that knows other bytes under this name is no success.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import attrs
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.datasets import DatasetDeclaration, DatasetFile, artifact_path, manifest_digest
from beaker.core.problems import Problem
from beaker.core.responses import ApiProblem
from beaker.core.strict_json import JsonObject
from beaker.core.values import ReadOnlyDict, value

TransferPhase: TypeAlias = Literal[
    "planned", "created", "sending", "sent", "completing", "complete", "reused", "failed"
]

TransferMove: TypeAlias = Literal[
    "announced",
    "lacking",
    "lacking_nothing",
    "known",
    "file_sent",
    "file_expired",
    "some_expired",
    "all_sent",
    "unconfirmed",
    "confirmed",
    "failed",
]
"""`announced`: the place took the plan; then it is `lacking` files or `lacking_nothing`, or all of it was `known`
before. `file_sent`, or `file_expired` when the time of its URL was over; in the end `all_sent`, or `some_expired` and
are announced again. Then the place still has the files `unconfirmed`, or `confirmed`."""

TRANSITIONS: Mapping[TransferPhase, Mapping[TransferMove, TransferPhase]] = {
    "planned": {"announced": "created", "failed": "failed"},
    "created": {"lacking": "sending", "lacking_nothing": "sent", "known": "reused", "failed": "failed"},
    "sending": {
        "file_sent": "sending",
        "file_expired": "sending",
        "some_expired": "planned",
        "all_sent": "sent",
        "failed": "failed",
    },
    "sent": {"unconfirmed": "completing", "confirmed": "complete", "failed": "failed"},
    "completing": {"confirmed": "complete", "failed": "failed"},
    "complete": {},
    "reused": {},
    "failed": {},
}

COMPLETE = "COMPLETE"
"""The status of an artifact that holds everything that was announced."""

CONTENT_TYPES: Mapping[str, str] = ReadOnlyDict({".json": "application/json"})
"""What an upload calls files with these endings; anything else is bytes."""

ANNOUNCE_DATASET, COMPLETE_DATASET = "create_dataset_upload", "complete_dataset_upload"
ANNOUNCE_ARTIFACT, COMPLETE_ARTIFACT = "create_artifact_upload", "complete_artifact_upload"


@value
class Announce:
    """Announce the files: call `endpoint` with these arguments."""

    arguments: Mapping[str, Any]
    endpoint: str = ANNOUNCE_DATASET


@value
class SendFile:
    """Send the file `path` of the dataset, `size_bytes` of it, to `url` with `headers`; no credential goes along."""

    path: str
    url: str = attrs.field(repr=False)  # signed: whoever has it may write
    headers: Mapping[str, str]
    size_bytes: int


@value
class Complete:
    """Say that everything has been sent: call `endpoint`."""

    artifact_id: str
    endpoint: str = COMPLETE_DATASET


TransferCommand: TypeAlias = Announce | SendFile | Complete


@value
class Announced:
    """The place answered the announcement."""

    answer: Mapping[str, Any]


@value
class FileSent:
    """The place has the file `path`."""

    path: str


@value
class FileExpired:
    """The place did not take the file `path`, for the time of its URL was over; `problem` is what it said."""

    path: str
    problem: Problem


@value
class Completed:
    """The place answered that the upload is complete."""

    answer: Mapping[str, Any]


@value
class CallFailed:
    """Something was refused, or not answered."""

    problem: Problem


TransferEvent: TypeAlias = Announced | FileSent | FileExpired | Completed | CallFailed


@value(kw_only=True)
class Transfer:
    """A transfer under way, or ended: with the place's `artifact` when `complete` or `reused`, else with a `problem`.

    `files` are all of them, `manifest_digest` what they have to be known by, `announcement` how they are announced.
    `lacking` are the files that were asked for and have not arrived, with their sizes in bytes; `expired` those that
    have to be asked for again. `stuck`: nothing has arrived since that happened last.
    """

    phase: TransferPhase
    files: tuple[DatasetFile, ...]
    manifest_digest: str
    announcement: Announce
    lacking: Mapping[str, int] = attrs.field(factory=ReadOnlyDict)
    expired: frozenset[str] = frozenset()
    stuck: bool = False
    sent_bytes: int = 0
    total_bytes: int = 0
    artifact: Mapping[str, Any] = attrs.field(factory=ReadOnlyDict)
    known_before: bool = False
    problem: Problem | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return not TRANSITIONS[self.phase]

    def outcome(self) -> Result[JsonObject, Problem]:
        """What an ended transfer came to: the artifact, with `reused` telling whether nothing had to travel.

        BK819 for one that is still under way.
        """
        if self.phase in ("complete", "reused"):
            return Success({**self.artifact, "reused": self.known_before})
        return Failure(self.problem or Problem("BK819", f"the transfer has not ended, it is {self.phase}"))


Step: TypeAlias = tuple[Transfer, tuple[TransferCommand, ...]]


def begin(
    declaration: DatasetDeclaration,
    options: Mapping[str, Any] | None = None,
    *,
    content_types: Mapping[str, str] | None = None,
) -> Step:
    """A transfer of the declared dataset, and the first command.

    `options` are further arguments of the announcement (`promote`, `expires_in_seconds`, `total_count`, ...);
    `content_types` says by path what a file is called, beside what its name tells.
    """
    arguments = {
        "name": declaration.name,
        "files": _announced_files(declaration.files, content_types or {}),
        "metadata": dict(declaration.metadata),
        "splits": dict(declaration.splits),
        **(options or {}),
    }
    return _begin(declaration.files, declaration.manifest_digest, Announce(arguments))


def begin_artifact(
    files: Iterable[DatasetFile],
    options: Mapping[str, Any] | None = None,
    *,
    content_types: Mapping[str, str] | None = None,
) -> Result[Step, Problem]:
    """A transfer of any files as an artifact (`options`: `kind`, `metadata`, ...), and the first command.

    BK205 for a path that stands twice, BK213 without files.
    """
    listed = tuple(files)
    digest = manifest_digest(listed)
    if not is_successful(digest):
        return Failure(digest.failure())
    if not listed:
        return Failure(Problem("BK213", "an artifact needs files"))
    arguments = {"files": _announced_files(listed, content_types or {}), **(options or {})}
    return Success(_begin(listed, digest.unwrap(), Announce(arguments, ANNOUNCE_ARTIFACT)))


def step(transfer: Transfer, event: TransferEvent) -> Result[Step, Problem]:
    """The transfer after `event`, and what to do next; no command while files are on their way or when it has ended.

    An answer that breaks the contract ends the transfer: BK810 for another manifest digest, BK811 for a file that was
    not announced, an upload URL that is none, no id, a status that is not COMPLETE at the end. BK819 for an event that
    answers nothing this transfer waits for; the transfer is then as it was.
    """
    match transfer.phase, event:
        case "planned" | "sending" | "completing", CallFailed(problem):
            return Success(_failed(transfer, problem))
        case "planned", Announced(answer):
            return Success(_announced(transfer, answer))
        case "sending", FileSent(path) if path in transfer.lacking:
            return Success(_file_sent(transfer, path))
        case "sending", FileExpired(path, problem) if path in transfer.lacking:
            return Success(_file_expired(transfer, path, problem))
        case "completing", Completed(answer):
            return Success(_completed(transfer, answer))
        case _:
            message = f"a transfer that is {transfer.phase} does not wait for {type(event).__name__}"
            return Failure(Problem("BK819", message))


def url_expired(problem: Problem) -> bool:
    """Whether a refusal may mean that a signed URL was used too late, so that a new one would do.

    Stores answer 403, which may have other reasons, or 400 saying so.
    """
    if not isinstance(problem, ApiProblem):
        return False
    return problem.status == 403 or (problem.status == 400 and "expired" in str(problem.detail).lower())


def content_type(path: str) -> str:
    """What an upload calls a file."""
    ending = path[path.rfind(".") :] if "." in path else ""
    return CONTENT_TYPES.get(ending, "application/octet-stream")


def _begin(files: tuple[DatasetFile, ...], digest: str, announcement: Announce) -> Step:
    made = Transfer(phase="planned", files=files, manifest_digest=digest, announcement=announcement)
    return made, (announcement,)


def _announced_files(files: Iterable[DatasetFile], content_types: Mapping[str, str]) -> list[dict[str, Any]]:
    given = {artifact_path(path, "content_types"): called for path, called in content_types.items()}
    return [
        {
            "path": file.path,
            "content_type": given.get(file.path) or content_type(file.path),
            "size_bytes": file.size_bytes,
            "sha256": file.sha256,
        }
        for file in files
    ]


def _announced(transfer: Transfer, answer: Mapping[str, Any]) -> Step:
    created = _moved(transfer, "announced")
    artifact, listed = answer.get("artifact"), answer.get("files")
    if not isinstance(artifact, Mapping) or not isinstance(listed, list | tuple):
        return _failed(created, Problem("BK811", "the answer to the announcement lacks its files or its artifact"))
    if problem := _digest_fault(created, artifact):
        return _failed(created, problem)
    # Older places state these two beside the artifact.
    stated = {key: artifact.get(key) or answer.get(key) for key in ("artifact_id", "status")}
    if stated["status"] != COMPLETE and not (isinstance(stated["artifact_id"], str) and stated["artifact_id"]):
        # Said before anything is sent: without it nothing that was sent could be completed.
        return _failed(created, Problem("BK811", "the place announced no id for the upload, so it cannot be completed"))
    sizes = {file.path: file.size_bytes for file in transfer.files}
    sends: dict[str, SendFile] = {}
    for target in listed:
        read = _send_command(sizes, target)
        if isinstance(read, Problem):
            return _failed(created, read)
        if read.path in sends:
            return _failed(created, Problem("BK811", "the place asks for the file twice", read.path))
        sends[read.path] = read
    created = replace(created, artifact=ReadOnlyDict({**artifact, **stated}), known_before=answer.get("reused") is True)
    if sends:
        lacking = ReadOnlyDict({path: command.size_bytes for path, command in sends.items()})
        total = created.sent_bytes + sum(lacking.values())
        sending = _moved(created, "lacking", lacking=lacking, total_bytes=total)
        return sending, tuple(sends.values())
    if created.known_before and stated["status"] == COMPLETE:
        return _moved(created, "known"), ()
    return _confirm(_moved(created, "lacking_nothing"))


def _file_sent(transfer: Transfer, path: str) -> Step:
    done = transfer.sent_bytes + transfer.lacking[path]
    left = _without(transfer.lacking, path)
    if left:
        return _moved(transfer, "file_sent", lacking=left, sent_bytes=done, stuck=False), ()
    if transfer.expired:
        return _renewed(replace(transfer, lacking=left, sent_bytes=done))
    return _confirm(_moved(transfer, "all_sent", lacking=left, sent_bytes=done))


def _file_expired(transfer: Transfer, path: str, problem: Problem) -> Step:
    left, expired = _without(transfer.lacking, path), transfer.expired | {path}
    if left:
        return _moved(transfer, "file_expired", lacking=left, expired=expired), ()
    # New URLs under which again nothing arrived: it is not for their age that they are refused.
    if transfer.stuck:
        return _failed(transfer, problem)
    return _renewed(replace(transfer, lacking=left, expired=expired))


def _renewed(transfer: Transfer) -> Step:
    """Nothing is under way any more: ask for new URLs, where the place names only what it still lacks."""
    return _moved(transfer, "some_expired", expired=frozenset(), stuck=True), (transfer.announcement,)


def _without(lacking: Mapping[str, int], path: str) -> Mapping[str, int]:
    return ReadOnlyDict({other: size for other, size in lacking.items() if other != path})


def _confirm(transfer: Transfer) -> Step:
    """Everything is there: done, or to be confirmed."""
    if transfer.artifact["status"] == COMPLETE:
        return _moved(transfer, "confirmed"), ()
    artifact_id: str = transfer.artifact["artifact_id"]  # looked at when it was announced
    endpoint = COMPLETE_ARTIFACT if transfer.announcement.endpoint == ANNOUNCE_ARTIFACT else COMPLETE_DATASET
    return _moved(transfer, "unconfirmed"), (Complete(artifact_id, endpoint),)


def _completed(transfer: Transfer, answer: Mapping[str, Any]) -> Step:
    artifact = answer.get("artifact")
    if not isinstance(artifact, Mapping):
        return _failed(transfer, Problem("BK811", "the answer to the completion lacks its artifact"))
    if problem := _digest_fault(transfer, artifact):
        return _failed(transfer, problem)
    if artifact.get("status") != COMPLETE:
        message = f"the place says the upload is {artifact.get('status')!r}, not {COMPLETE}"
        return _failed(transfer, Problem("BK811", message, hint="upload it again"))
    return _moved(transfer, "confirmed", artifact=ReadOnlyDict(artifact)), ()


def _send_command(sizes: Mapping[str, int], target: object) -> SendFile | Problem:
    path = target.get("path") if isinstance(target, Mapping) else None
    if not isinstance(target, Mapping) or not isinstance(path, str) or path not in sizes:
        return Problem("BK811", f"the place asks for a file that was not announced: {path!r}")
    url, headers = target.get("upload_url"), target.get("headers")
    if not isinstance(url, str) or not isinstance(headers, Mapping | None):
        return Problem("BK811", "the place gave no usable upload URL", path)
    sent = ReadOnlyDict({str(key): str(item) for key, item in (headers or {}).items()})
    return SendFile(path, url, sent, sizes[path])


def _digest_fault(transfer: Transfer, artifact: Mapping[str, Any]) -> Problem | None:
    found, expected = artifact.get("manifest_digest"), transfer.manifest_digest
    if found == expected:
        return None
    message = f"the place knows the files under another manifest digest, {found!r} instead of {expected!r}"
    return Problem("BK810", message, hint="the files changed while they were uploaded, or the place is faulty")


def _moved(transfer: Transfer, move: TransferMove, **changes: Any) -> Transfer:
    return replace(transfer, phase=TRANSITIONS[transfer.phase][move], **changes)


def _failed(transfer: Transfer, problem: Problem) -> Step:
    return _moved(transfer, "failed", problem=problem), ()
