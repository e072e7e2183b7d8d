"""Every code of a `Problem` with why it comes and what to do about it.

`beaker explain` and `docs/errors.md` are made from this. A code keeps its meaning for good; one that is no longer
given may be taken out, and its number is not used again.
"""

from collections.abc import Iterable, Iterator

from beaker.core.error_catalogue import (
    changes,
    configuration,
    datasets,
    integrations,
    launching,
    machine,
    runs,
    services,
    usage,
)
from beaker.core.problems import Problem, Refused
from beaker.core.values import value

_PARTS = (configuration, datasets, integrations, launching, runs, changes, machine, services, usage)

SUBJECTS = {
    "BK1": "configuration, selection, keys, environment, accounts",
    "BK2": "datasets, splits, rows, manifests",
    "BK3": "integrations: import, declaration, setup, smoke",
    "BK4": "launching and the gates of the service",
    "BK5": "runs: workers, rollouts, scoring, proposals, search",
    "BK6": "documents, change sets, edits of the repository",
    "BK7": "this machine: files, Git, the embedded place",
    "BK8": "the API: transport, credentials, answers",
    "BK9": "usage of the command line",
}
"""The first three characters of codes -> what they are about."""


@value
class Explanation:
    """What a code means: its `subject`, the `reason` why it comes, and the `remedy`, what to do next."""

    code: str
    subject: str
    reason: str
    remedy: str


def explain(written: str) -> Explanation | None:
    """What a code means, however it is written (`BK104`, `bk104`, `104`), or `None` for none of ours."""
    bare = written.strip().upper()
    code = bare if bare.startswith("BK") else f"BK{bare}"
    return next((one for one in explanations() if one.code == code), None)


def explained(codes: Iterable[str]) -> tuple[Explanation, ...]:
    """What each of `codes` means; `Refused` (BK910) with those that are none of ours."""
    found = [(written, explain(written)) for written in codes]
    hint = "a code reads BK and three digits; `beaker explain` lists all of them"
    unknown = [Problem("BK910", f"there is no code {written!r}", hint=hint) for written, one in found if one is None]
    if unknown:
        raise Refused(unknown)
    return tuple(one for _, one in found if one is not None)


def explanations() -> Iterator[Explanation]:
    """Every code, in order."""
    for part in _PARTS:
        for code, (reason, remedy) in part.ENTRIES.items():
            yield Explanation(code, SUBJECTS[code[:3]], reason, remedy)
