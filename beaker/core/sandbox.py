"""`isolation: sandbox`: which means of the kernel it takes, and what one confined process may do.

A confined process cannot write outside the folders it is given, reaches no network unless it is granted, and acts on no
process that it did not start. It can read what its user can read. Three means work together:

- Landlock (Linux 6.12 or later, for its scopes): what files may be written, made, moved or removed; no signal and no
  look into a process outside, no abstract socket.
- A filter of the kernel's calls (`syscall_filter`): sockets, mounts, keys, tracing, limits of others.
- Namespaces, where they can be had: every mount but the writable folders read-only, no network device, a shared memory
  of its own. Without them the filter forbids changes of modes, owners, times and attributes everywhere, as Landlock
  does not know them.
"""

from collections.abc import Iterable
from typing import Literal

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.syscall_filter import MACHINES, filter_program, packed
from beaker.core.values import value

Isolation = Literal["process", "sandbox"]
"""What an entry's `isolation` may say: a process for every case, and one that is confined besides."""

LEAST_LANDLOCK = 6
"""The version of Landlock that keeps signals and abstract sockets inside."""

_HINT = "use Linux 6.12 or later with Landlock among its security modules (lsm=...,landlock), or `isolation: process`"


@value(kw_only=True)
class SandboxAbilities:
    """What the system says it has: `platform` as `sys.platform`, `machine` as `uname -m`, the version of Landlock (0:
    none), and whether calls can be filtered."""

    platform: str
    machine: str = ""
    landlock: int = 0
    filters: bool = False


@value(kw_only=True)
class SandboxMeans:
    """The means that a sandbox is made of here: a `machine` of `MACHINES`, a version of Landlock, and namespaces."""

    machine: str
    landlock: int
    namespaces: bool


@value
class Trial:
    """What became of a process that was confined for a trial: whether it ran, what it could do although it must not,
    and what it said when it did not run."""

    started: bool
    escaped: tuple[str, ...] = ()
    told: str = ""


@value(kw_only=True)
class Sandbox:
    """The confinement of a run's rollout and scorer processes, and which of them are granted the network."""

    means: SandboxMeans
    rollouts_online: bool = False
    scorer_online: bool = False


def means_to_try(found: SandboxAbilities) -> Result[tuple[SandboxMeans, ...], Problem]:
    """What a sandbox may be made of here, the best first; BK557 with what is lacking. Whether namespaces can be had is
    known only once a process has tried."""
    if found.platform != "linux":
        return Failure(
            _unavailable("it takes Linux", "run Beaker on Linux, or in a Linux container or virtual machine")
        )
    if found.machine not in MACHINES:
        return Failure(_unavailable(f"the calls of this processor ({found.machine}) are not known", _HINT))
    if not found.landlock:
        return Failure(_unavailable("the kernel has no Landlock, or it is switched off", _HINT))
    if found.landlock < LEAST_LANDLOCK:
        lacking = f"the kernel's Landlock is of version {found.landlock}, and {LEAST_LANDLOCK} is the first that serves"
        return Failure(_unavailable(lacking, _HINT))
    if not found.filters:
        hint = "run Beaker on a kernel with CONFIG_SECCOMP_FILTER, or in a container whose profile allows seccomp"
        return Failure(_unavailable("calls of the kernel cannot be filtered (seccomp)", hint))
    return Success(
        tuple(
            SandboxMeans(machine=found.machine, landlock=found.landlock, namespaces=namespaces)
            for namespaces in (True, False)
        )
    )


def sandbox_of(means: SandboxMeans, *, network: bool, judged: bool) -> Sandbox:
    """The sandbox of an entry: `network` is its `sandbox_network`; a scorer that has a judge (`judged`) reaches it in
    any case."""
    return Sandbox(means=means, rollouts_online=network, scorer_online=network or judged)


def confinement(means: SandboxMeans, *, writable: tuple[str, ...], network: bool) -> tuple[str, ...]:
    """The words that tell a process how to confine itself (`beaker.runtime.confine`).

    They are the filter in hexadecimal, whether there is a network and whether namespaces are made (`yes` or `no`), how
    many folders may be written, and these, absolute paths of folders that exist; no JSON, as every process would pay
    for loading a reader.
    """
    program = filter_program(means.machine, network=network, own_mounts=means.namespaces)
    said = {True: "yes", False: "no"}
    return packed(program).hex(), said[network], said[means.namespaces], str(len(writable)), *writable


def judge_trials(trials: Iterable[tuple[SandboxMeans, Trial]]) -> Result[SandboxMeans, Problem]:
    """The first means that were seen to work; BK557 with what went wrong with the last that were tried.

    Means with which a process could do anything that it must not are refused, and none after them is looked at: what
    confines badly is not to be trusted in part.
    """
    reason = ""
    for means, trial in trials:
        if trial.escaped:
            escapes = ", ".join(trial.escaped)
            return Failure(_unavailable(f"a process that was confined for a trial could still {escapes}", _HINT))
        if trial.started:
            return Success(means)
        reason = trial.told
    return Failure(_unavailable(f"a process that was confined for a trial did not start: {reason}", _HINT))


def described_means(means: SandboxMeans) -> str:
    """The means in words."""
    mounts = "mounts that are read-only" if means.namespaces else "no mounts of its own (modes and times cannot be set)"
    return f"Landlock {means.landlock}, a filter of calls, {mounts}"


def _unavailable(reason: str, hint: str) -> Problem:
    return Problem("BK557", f"`isolation: sandbox` cannot be had here: {reason}", hint=hint)
