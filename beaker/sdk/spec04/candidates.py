"""Candidates as files: what a `CandidateEnvironment` of the Spec generation is given, and how it refuses one."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import attrs

from beaker.core.values import read_only, value

CandidateResources: TypeAlias = Mapping[str, Path]
"""The folder of each resource of a candidate."""


@value
class ResourceChange:
    """One file that a candidate changes: `before` is `None` where it adds the file, `after` where it deletes it."""

    resource: str
    path: str
    before: str | None = None
    after: str | None = None

    @property
    def op(self) -> Literal["create", "update", "delete"]:
        """What is done to the file."""
        if self.before is None:
            return "create"
        return "delete" if self.after is None else "update"


@value
class CandidateDiff:
    """Every file that a candidate changes, ordered by resource and path."""

    changes: tuple[ResourceChange, ...] = attrs.field(default=(), converter=tuple)


@value
class ValidationIssue:
    """One reason to refuse a candidate, with the resource and the path it is about where there is one."""

    message: str
    resource: str | None = None
    path: str | None = None

    def __str__(self) -> str:
        place = "/".join(part for part in (self.resource, self.path) if part)
        return f"{place}: {self.message}" if place else self.message


class CandidateRejected(Exception):
    """Raised by `prepare` to refuse a candidate; `issues` say why."""

    issues: tuple[ValidationIssue, ...]

    def __init__(self, issues: str | ValidationIssue | Iterable[str | ValidationIssue] = ()) -> None:
        given = (issues,) if isinstance(issues, str | ValidationIssue) else tuple(issues)
        self.issues = tuple(ValidationIssue(one) if isinstance(one, str) else one for one in given)
        super().__init__("; ".join(map(str, self.issues)) or "the candidate was rejected")

    def __reduce__(self) -> tuple[Any, ...]:
        return CandidateRejected, (self.issues,)


def _roots(given: Mapping[str, Path]) -> CandidateResources:
    return read_only(dict(given))


@value
class CandidateWorkspace:
    """The files of one candidate and a folder for what is made of them.

    `resources` maps names to folders; `scratch_dir` starts empty and is writable; `diff` tells the changes against the
    seeds.
    """

    candidate_id: str
    resources: CandidateResources = attrs.field(converter=_roots)
    scratch_dir: Path
    diff: CandidateDiff = CandidateDiff()

    def resource_root(self, name: str) -> Path:
        """The folder of a resource. `KeyError` for one that the candidate does not have."""
        return Path(self.resources[name])


class CandidateEnvironment(Protocol):
    """Prepares what every case of one candidate shares. `open` may be left out."""

    def prepare(self, workspace: CandidateWorkspace) -> Any:
        """Check the candidate and make what it needs in `workspace.scratch_dir`; may be asynchronous.

        Raises `CandidateRejected` for a candidate that cannot be used.
        """

    def open(self, workspace: CandidateWorkspace) -> AbstractAsyncContextManager[Any]:
        """What yields `runtime.candidate_runtime`, entered before the first case and left behind the last."""
