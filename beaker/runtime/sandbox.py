"""`isolation: sandbox` on this machine: what can be had and was seen to work, and the command of a confined process."""

import ctypes
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from secrets import token_hex

from returns.result import Result, Success

from beaker.core.problems import Problem
from beaker.core.sandbox import (
    Sandbox,
    SandboxAbilities,
    SandboxMeans,
    Trial,
    confinement,
    judge_trials,
    means_to_try,
    sandbox_of,
)
from beaker.runtime import confine, trial

SECONDS = 30.0
"""Seconds that a process confined for a trial gets."""

_EFAULT = 14


def sandbox_abilities() -> SandboxAbilities:
    """What this system says it has for a sandbox."""
    if sys.platform != "linux":
        return SandboxAbilities(platform=sys.platform)
    # A filter that is nowhere: with filters the kernel looks for it, without it does not know the mode.
    libc = ctypes.CDLL(None, use_errno=True)
    filters = libc.prctl(22, 2, None, 0, 0) < 0 and ctypes.get_errno() == _EFAULT
    version = confine.landlock_version()
    return SandboxAbilities(platform="linux", machine=os.uname().machine, landlock=version, filters=filters)


@cache
def find_sandbox() -> Result[SandboxMeans, Problem]:
    """The means of a sandbox on this machine, found by confining a process that tries to escape; BK557 where there are
    none. Looked for once in the life of this process."""
    return means_to_try(sandbox_abilities()).bind(lambda choices: judge_trials(_trials(choices)))


def entry_sandbox(isolation: object, *, network: bool, judged: bool) -> Result[Sandbox | None, Problem]:
    """The sandbox that an entry's `isolation` asks for, `None` without one; BK557 where there can be none. `network` is
    its `sandbox_network`, `judged` says that its scorer asks a model."""
    if isolation != "sandbox":
        return Success(None)
    return find_sandbox().map(lambda means: sandbox_of(means, network=network, judged=judged))


def confined(argv: Sequence[str], means: SandboxMeans, *, writable: Sequence[Path], network: bool) -> list[str]:
    """The command that runs `argv`, whose first word is a path, confined: `writable` are existing folders."""
    folders = tuple(os.path.realpath(folder) for folder in writable)
    told = confinement(means, writable=folders, network=network)
    return [sys.executable, "-I", "-S", "-X", "utf8", str(confine.__file__), *told, *argv]


def _trials(choices: Sequence[SandboxMeans]) -> Iterator[tuple[SandboxMeans, Trial]]:
    for means in choices:
        yield means, _trial(means)


def _trial(means: SandboxMeans, confining: Callable[..., list[str]] = confined) -> Trial:
    """Confine a process that tries what it must not be able to do."""
    try:
        with ExitStack() as stack:
            done = _tried(means, confining, stack)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Trial(False, told=str(error))
    try:
        return Trial(True, tuple(map(str, json.loads(done.stdout))))
    except ValueError:
        return Trial(False, told=done.stderr.decode(errors="replace").strip() or f"status {done.returncode}")


def _tried(
    means: SandboxMeans, confining: Callable[..., list[str]], stack: ExitStack
) -> "subprocess.CompletedProcess[bytes]":
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="beaker-sandbox-")))
    inside, outside = folder / "inside", folder / "outside"
    inside.mkdir()
    outside.write_bytes(b"")
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    stack.callback(os.close, opened)
    abstract = f"beaker-sandbox-{token_hex(8)}"
    port = _listen(stack, socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1]
    # The path of a socket is short, that of a temporary folder need not be.
    for address in (f"/proc/self/fd/{opened}/socket", f"\0{abstract}"):
        _listen(stack, socket.AF_UNIX, address)
    told = [str(inside), str(outside), "socket", abstract, str(port)]
    argv = [sys.executable, "-I", "-S", str(trial.__file__), *told]
    return subprocess.run(
        confining(argv, means, writable=[inside], network=False),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )


def _listen(stack: ExitStack, family: int, address: str | tuple[str, int]) -> socket.socket:
    server = stack.enter_context(socket.socket(family))
    server.bind(address)
    server.listen()
    return server
