"""Telling what the system denied from what customer code raised, and a confined case that says so."""

import errno
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from returns.pipeline import is_successful

from beaker.core.cases import Case, CaseResult
from beaker.core.evaluations import CaseError
from beaker.core.sandbox import sandbox_of
from beaker.core.sandbox_refusals import OsFault
from beaker.runtime.denials import os_faults
from beaker.runtime.failures import WorkerFailed, case_problem
from beaker.runtime.sandbox import find_sandbox
from beaker.runtime.supervisor import Supervisor

pytestmark = pytest.mark.processes


class Hostile(OSError):
    """Cannot be looked at."""

    @property
    def errno(self) -> int:
        raise KeyboardInterrupt


def test_os_faults__are_those_of_the_whole_chain() -> None:
    """Causes and groups are looked into; what is no error of the system is left out."""
    cause = ExceptionGroup("all failed", [PermissionError(errno.EPERM, "no"), OSError(errno.EROFS, "no", "/x")])
    error = ConnectionError("could not connect")
    error.__cause__ = cause
    found = {OsFault(None), OsFault(errno.EPERM), OsFault(errno.EROFS, True)}
    assert set(os_faults(error)) == found
    assert os_faults(socket.gaierror(-3, "no name")) == (OsFault(-3, False, True),)
    assert os_faults(OSError("first", "second")) == (OsFault(None),)
    for nothing in (None, ValueError("x"), Hostile()):
        assert os_faults(nothing) == ()


WITH_SANDBOX = pytest.mark.skipif(
    sys.platform != "linux" or not is_successful(find_sandbox()), reason="this machine has no sandbox"
)

DENIED = """
import socket

def deny(kind, place):
    if kind == "socket":
        socket.socket()
    if kind == "cause":
        try:
            socket.socket()
        except OSError as error:
            raise RuntimeError("cannot ask the model") from error
    if kind == "name":
        socket.getaddrinfo("service.invalid", 443)
    if kind == "write":
        Path(place).write_text("x")
    raise KeyError(kind)

async def run_case(*, case_input, runtime):
    deny(*case_input)

async def score_case(*, case, result, case_files_dir):
    deny(*case.input)
"""


@WITH_SANDBOX
def test_denial__in_a_sandbox__says_that_it_may_be_the_sandbox(tmp_path: Path, project: Any, hosted: Any) -> None:
    """A confined case and a confined scorer say so of sockets, names and files, and of nothing else."""
    project.hooks(DENIED)
    kinds = ["socket", "cause", "name", "write", "other"]

    async def work(supervisor: Supervisor) -> Any:
        supervisor.sandbox = sandbox_of(find_sandbox().unwrap(), network=False, judged=False)
        rollout = await project.rollout(supervisor)
        inputs = {kind: [kind, str(tmp_path / "out")] for kind in kinds}
        ran = {kind: (await rollout.run(kind, one, attempt=1)).error for kind, one in inputs.items()}
        await rollout.close()
        scorer = await project.scorer(supervisor)
        output = CaseResult("x")
        scored = {
            kind: await scorer.score(Case(id=kind, input=one, expected=None), output) for kind, one in inputs.items()
        }
        await scorer.close()
        return ran, scored

    for stage, errors in zip(("run_case", "score_case"), hosted(work), strict=True):
        told = {kind: case_problem(stage, error, tmp_path) for kind, error in errors.items()}
        assert all(isinstance(error, CaseError) for error in errors.values())
        for kind in ("socket", "cause", "name", "write"):
            assert "the sandbox may have refused this (`isolation: sandbox`" in told[kind].message, told[kind]
            assert ("`sandbox_network: true`" in told[kind].message) == (kind != "write")
            assert "`isolation: process`" in told[kind].hint
        assert "sandbox" not in told["other"].message + told["other"].hint
    assert not (tmp_path / "out").exists()


@WITH_SANDBOX
def test_denial__of_an_import_in_a_sandbox__says_so_too(project: Any, hosted: Any) -> None:
    """A module that opens a socket when it is imported fails in both kinds of confined processes."""
    project.hooks("import socket\nsocket.socket()")

    async def work(supervisor: Supervisor) -> Any:
        supervisor.sandbox = sandbox_of(find_sandbox().unwrap(), network=False, judged=False)
        for start in (project.rollout, project.scorer):
            with pytest.raises(WorkerFailed, match=r"the sandbox may have refused this .*sandbox_network: true"):
                await start(supervisor)

    hosted(work)


def test_denial__without_a_sandbox__says_nothing_of_one(tmp_path: Path, project: Any, hosted: Any) -> None:
    """The same error of a process that is not confined stays bare."""
    project.hooks(
        "async def run_case(*, case_input, runtime):\n    raise PermissionError(1, 'Operation not permitted')"
    )

    async def work(supervisor: Supervisor) -> Any:
        rollout = await project.rollout(supervisor)
        result = await rollout.run("c", None, attempt=1)
        await rollout.close()
        return result.error

    error = hosted(work)
    assert error.message == "PermissionError: [Errno 1] Operation not permitted"
    assert case_problem("run_case", error, tmp_path).hint.startswith("run_case raised it")
