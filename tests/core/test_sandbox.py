"""Laws of choosing a sandbox: what it takes, what is said where it cannot be had, and what a process is told."""

from collections.abc import Iterator

import pytest
from returns.pipeline import is_successful

from beaker.core.sandbox import (
    Sandbox,
    SandboxAbilities,
    SandboxMeans,
    Trial,
    confinement,
    described_means,
    judge_trials,
    means_to_try,
    sandbox_of,
)
from beaker.core.syscall_filter import filter_program, packed

ALL = {"platform": "linux", "machine": "x86_64", "landlock": 7, "filters": True}
BEST = SandboxMeans(machine="x86_64", landlock=7, namespaces=True)
PLAIN = SandboxMeans(machine="x86_64", landlock=7, namespaces=False)


def test_means__of_a_system_that_has_all__are_tried_with_namespaces_first() -> None:
    """Whether namespaces can be had shows only when a process tries."""
    assert means_to_try(SandboxAbilities(**ALL)).unwrap() == (BEST, PLAIN)  # type: ignore[arg-type]
    assert is_successful(means_to_try(SandboxAbilities(**{**ALL, "landlock": 6})))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lacking", "reason", "hint"),
    [
        ({"platform": "darwin"}, "it takes Linux", "container"),
        ({"machine": "riscv64"}, "this processor (riscv64)", "isolation: process"),
        ({"landlock": 0}, "has no Landlock", "Linux 6.12"),
        ({"landlock": 5}, "of version 5, and 6 is the first", "Linux 6.12"),
        ({"filters": False}, "cannot be filtered (seccomp)", "CONFIG_SECCOMP_FILTER"),
    ],
)
def test_means__of_a_system_that_lacks_one__are_refused_with_it(
    lacking: dict[str, object], reason: str, hint: str
) -> None:
    """What is absent is never pretended."""
    problem = means_to_try(SandboxAbilities(**{**ALL, **lacking})).failure()  # type: ignore[arg-type]
    assert problem.code == "BK557"
    assert problem.message.startswith("`isolation: sandbox` cannot be had here: ")
    assert reason in problem.message
    assert hint in problem.hint


def test_trials__first_that_works__is_taken_and_no_other_tried() -> None:
    """A process is started for each trial."""

    def trials() -> Iterator[tuple[SandboxMeans, Trial]]:
        yield BEST, Trial(True)
        raise AssertionError("one was enough")

    assert judge_trials(trials()).unwrap() == BEST


def test_trials__one_that_did_not_start__leaves_the_next() -> None:
    """A container that forbids namespaces still has the rest."""
    assert judge_trials([(BEST, Trial(False, told="unshare: no")), (PLAIN, Trial(True))]).unwrap() == PLAIN


def test_trials__none_that_started__says_what_the_last_said() -> None:
    """The reason is the system's own."""
    problem = judge_trials([(BEST, Trial(False, told="one")), (PLAIN, Trial(False, told="seccomp: no"))]).failure()
    assert problem.message.endswith("did not start: seccomp: no")
    assert "Linux 6.12" in problem.hint


def test_trials__one_that_escaped__refuses_whatever_comes_after() -> None:
    """Means that let something through are no sandbox, and what is left of them is not used."""
    problem = judge_trials([(BEST, Trial(True, ("write outside", "open a socket"))), (PLAIN, Trial(True))]).failure()
    assert problem.code == "BK557"
    assert problem.message.endswith("could still write outside, open a socket")
    assert "Linux 6.12" in problem.hint


@pytest.mark.parametrize(
    ("network", "judged", "online"),
    [(False, False, (False, False)), (True, False, (True, True)), (False, True, (False, True))],
)
def test_sandbox__network__is_granted_to_all_or_to_a_scorer_with_a_judge(
    network: bool, judged: bool, online: tuple[bool, bool]
) -> None:
    """A judge that cannot be asked would make every score an error."""
    made = sandbox_of(BEST, network=network, judged=judged)
    assert made == Sandbox(means=BEST, rollouts_online=online[0], scorer_online=online[1])


@pytest.mark.parametrize("means", [BEST, PLAIN])
@pytest.mark.parametrize("network", [True, False])
def test_confinement__tells_the_process_everything(means: SandboxMeans, network: bool) -> None:
    """The filter that goes with network and namespaces, these two, and the folders."""
    told = confinement(means, writable=("/a", "/b"), network=network)
    program = packed(filter_program("x86_64", network=network, own_mounts=means.namespaces)).hex()
    assert told == (program, "yes" if network else "no", "yes" if means.namespaces else "no", "2", "/a", "/b")


def test_described_means__say_what_goes_without_namespaces() -> None:
    """Whoever reads it learns why a change of a mode fails."""
    assert described_means(BEST) == "Landlock 7, a filter of calls, mounts that are read-only"
    assert "modes and times cannot be set" in described_means(PLAIN)
