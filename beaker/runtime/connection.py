"""The host's side of one child process: its pipes, its requests and their time limits, what it prints, its end."""

import asyncio
import errno
import itertools
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from beaker.core.evaluations import CaseError
from beaker.core.problems import Problem
from beaker.runtime.capture import Capture
from beaker.runtime.children import Child
from beaker.runtime.failures import (
    LATE,
    MAX_MESSAGE_CHARACTERS,
    MAX_TRACEBACK_CHARACTERS,
    StageProblem,
    WorkerFailed,
    late_hint,
    said,
)
from beaker.runtime.pipes import PipeReader, PipeWriter
from beaker.runtime.places import place_in, within
from beaker.runtime.protocol import PIPE_LOST, QUOTED, Lines, ProtocolError, decode, encode
from beaker.runtime.shortening import preliminary, shortened
from beaker.runtime.supervisor import Supervisor

CAPTURE = 65536
"""Bytes that are kept of what a process prints between two looks at it."""

_LONGEST = {"traceback": MAX_TRACEBACK_CHARACTERS}

EXIT_GRACE = 2.0
"""Seconds that a process gets to end by itself once it has answered everything."""

OnEvent = Callable[[str, dict[str, Any]], None]

Confine = Callable[[list[str]], list[str]]


class Connection:
    """One child that answers requests. Create it with `connect`."""

    def __init__(self, supervisor: Supervisor, kind: str) -> None:
        self.kind = kind
        self._supervisor = supervisor
        self._lines = Lines()
        self._capture = Capture(CAPTURE, supervisor.redact)
        self._waiting: dict[int, _Waiting] = {}
        self._ids = itertools.count(1)
        self._loop = asyncio.get_running_loop()
        self.lost: WorkerFailed | None = None
        """Why the child can no longer be asked anything."""
        self._last_words: tuple[Problem, ...] = ()
        self._checkout: Path
        self._child: Child
        self._writer: PipeWriter
        self._replies: PipeReader
        self._output: PipeReader
        self._life: int

    @property
    def alive(self) -> bool:
        """Whether the child can still be asked something."""
        return self.lost is None and self._child.returncode is None

    def start(self, *, cwd: Path, env: Mapping[str, str], confine: Confine = list) -> None:
        """Start the child in the checkout `cwd`; `OSError` when that is impossible. `confine` makes its command one
        that is confined."""
        self._checkout = cwd
        pycache = self._supervisor.pycache
        # The scorer must not read what a rollout may have written; setup, which comes first, warms it for rollouts.
        byte_code = [] if pycache is None else [str(pycache / ("scorer" if self.kind == "scorer" else "rollout"))]
        theirs: list[int] = []
        ours: list[int] = []
        try:
            for child_reads in (True, False, True, False):  # commands, replies, life, output
                reading, writing = os.pipe()
                theirs.append(reading if child_reads else writing)
                ours.append(writing if child_reads else reading)
            commands, replies, life, output = theirs
            argv = [self._supervisor.python, "-P", "-m", "beaker.runtime.child", self.kind]
            argv += [str(commands), str(replies), str(life), *byte_code]
            self._child = self._supervisor.spawn(
                confine(argv), cwd=cwd, env=dict(env), stdout=output, stderr=output, pass_fds=(commands, replies, life)
            )
        except BaseException:
            for descriptor in ours:
                os.close(descriptor)
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        self._writer = PipeWriter(ours[0])
        self._replies = PipeReader(ours[1], self._received, self._ended)
        self._life = ours[2]
        self._output = PipeReader(ours[3], self._capture.feed)
        self._child.exited.add_done_callback(lambda _: self._exited())

    async def request(
        self,
        op: str,
        arguments: Mapping[str, Any],
        *,
        stage: str,
        limits: Mapping[str, float],
        on_event: OnEvent | None = None,
    ) -> dict[str, Any]:
        """Ask and wait for the answer's `ok`.

        `limits` gives the seconds of each stage; the child may announce the next stage, and the clock starts anew.
        Raises `WorkerFailed`: `raised` with what the child reports, `timed_out` (the child goes on, the caller
        decides), `crashed` or `protocol`. Cancelling forgets the answer.
        """
        if self.lost is not None:
            raise self.lost
        number = next(self._ids)
        waiting = _Waiting(self._loop, stage, limits, on_event)
        self._waiting[number] = waiting
        try:
            self._writer.send(encode({"id": number, "op": op, **arguments}))
            return await waiting.future
        finally:
            waiting.stop_clock()
            self._waiting.pop(number, None)

    def send(self, op: str) -> None:
        """Send a request whose answer nobody waits for."""
        self._writer.send(encode({"id": next(self._ids), "op": op}))

    def output(self) -> str:
        """What the child printed since the last call: the beginning and the end, secrets taken out."""
        self._output.drain()
        return self._capture.take()

    async def finish(self) -> None:
        """Let the child end by itself for a moment, then kill its group; returns when all of it is gone."""
        try:
            if self._child.returncode is None:
                await asyncio.wait([self._child.exited], timeout=EXIT_GRACE)
        finally:
            await self.kill()

    async def kill(self) -> None:
        """Kill the child's group and wait until it and its descendants are gone."""
        self._child.signal(signal.SIGKILL)
        await self._child.wait()

    def _received(self, data: bytes) -> None:
        try:
            for line in self._lines.feed(data):
                self._answer(decode(line))
        except (ProtocolError, KeyError, TypeError, ValueError, AttributeError) as error:
            self._lose(self.nonsense(error))

    def _answer(self, message: dict[str, Any]) -> None:
        if message.get("event") == "last_words":
            self._last_words = tuple(self.problem(item) for item in message["problems"])
            return
        if message.get("event") == "deprecated":
            for found in message["found"]:
                told = self._told(found)
                self._supervisor.warn(Problem("BK351", told["message"], told["where"]))
            return
        waiting = self._waiting.get(message["id"])
        if waiting is None or waiting.future.done():
            return
        if "event" in message:
            waiting.event(message["event"], message)
        elif "error" in message:
            problems = [self.problem(item) for item in message["error"]["problems"]]
            if not problems:
                raise ProtocolError("a failure without a reason")
            waiting.future.set_exception(WorkerFailed(message["error"]["kind"], problems))
        elif isinstance(message["ok"], dict):
            waiting.future.set_result(message["ok"])
        else:
            raise ProtocolError(f"the answer {preliminary(repr(message['ok']), QUOTED)} is no object")

    def nonsense(self, error: Exception) -> WorkerFailed:
        """The failure of a child that said what it cannot mean; customer code must have written it."""
        what = said(error) if not isinstance(error, ProtocolError) else str(error)
        what = shortened(what, QUOTED, self._supervisor.redact)
        message = f"the {self.kind} process wrote something else than answers to Beaker's pipe: {what}"
        return WorkerFailed("protocol", StageProblem("BK552", message, hint=_PIPE_HINT, stage="process"))

    def problem(self, data: dict[str, Any]) -> StageProblem:
        """A problem as the child reports it, secrets taken out, with its place in the customer's code."""
        told = StageProblem(**self._told(data))
        where = within(told.where, self._checkout) if told.where else place_in(told.traceback, self._checkout)
        return StageProblem(told.code, told.message, where, told.hint, told.stage, told.traceback)

    def case_error(self, data: Any) -> CaseError | None:
        """A case's error as the child reports it, secrets taken out; `None` for `None`, `TypeError` for no object."""
        if data is None:
            return None
        if not isinstance(data, dict):
            raise TypeError("the error of a case is no object")
        return CaseError(**self._told(data))

    def _told(self, data: dict[str, Any]) -> dict[str, str]:
        return {
            key: shortened(str(text), _LONGEST.get(key, MAX_MESSAGE_CHARACTERS), self._supervisor.redact)
            for key, text in data.items()
        }

    def _ended(self) -> None:
        """The child closed its end: it is ending, or customer code closed what it did not open."""
        self._loop.call_later(EXIT_GRACE, self._closed_early)

    def _closed_early(self) -> None:
        message = f"the {self.kind} process closed Beaker's pipe"
        self._lose(WorkerFailed("protocol", Problem("BK552", message, hint=_PIPE_HINT)))

    def _exited(self) -> None:
        self._replies.drain()
        status = self._child.returncode or 0
        if status == PIPE_LOST:
            self._closed_early()
        message = f"the {self.kind} process {exit_in_words(status)}"
        problem = StageProblem("BK551", message, "", _CRASH_HINT, "process")
        self._lose(WorkerFailed("crashed", (*self._last_words, problem), status=status))
        self._close()

    def _lose(self, failure: WorkerFailed) -> None:
        if self.lost is None:
            self.lost = failure
            self._child.signal(signal.SIGKILL)
        for waiting in self._waiting.values():
            if not waiting.future.done():
                waiting.future.set_exception(self.lost)

    def _close(self) -> None:
        self._replies.close()
        self._writer.close()
        self._output.drain()
        self._output.close()
        if self._life >= 0:
            os.close(self._life)
            self._life = -1


class _Waiting:
    """A request under way: its future, its stage and the clock of that stage."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, stage: str, limits: Mapping[str, float], on_event: OnEvent | None
    ) -> None:
        self.future: asyncio.Future[dict[str, Any]] = loop.create_future()
        self._loop = loop
        self._limits = limits
        self._on_event = on_event
        self._start(stage)

    def _start(self, stage: str) -> None:
        self._stage = stage
        self._timer = self._loop.call_later(self._limits[stage], self._late)

    def event(self, name: str, message: dict[str, Any]) -> None:
        if name == "stage":
            self._timer.cancel()
            self._start(str(message["stage"]))
        if self._on_event is not None:
            self._on_event(name, message)

    def stop_clock(self) -> None:
        self._timer.cancel()

    def _late(self) -> None:
        if not self.future.done():
            self.future.set_exception(WorkerFailed("timed_out", late(self._stage, self._limits[self._stage])))


def connect(
    supervisor: Supervisor, kind: str, *, cwd: Path, env: Mapping[str, str], confine: Confine = list
) -> Connection:
    """Start a child of this kind; `WorkerFailed` (`crashed`) when the system refuses. See `Connection.start`."""
    made = Connection(supervisor, kind)
    try:
        made.start(cwd=cwd, env=env, confine=confine)
    except OSError as error:
        problem = Problem("BK551", f"cannot start the {kind} process: {error}")
        raise WorkerFailed("crashed", problem, passing=error.errno in _PASSING) from error
    return made


def late(stage: str, limit: float) -> StageProblem:
    """The problem of a stage that took too long."""
    key = "import" if stage == "import_" else stage
    return StageProblem("BK550", f"{key}{LATE}{limit:g} s", hint=late_hint(key), stage=key)


def exit_in_words(returncode: int) -> str:
    """How a process ended, as the end of a sentence."""
    if returncode >= 0:
        return f"ended with exit status {returncode}"
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        name = f"signal {-returncode}"
    return f"was killed by {name}"


_PASSING = frozenset({errno.EAGAIN, errno.EINTR, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""What the system says when it lacks processes, descriptors or memory, which others give back."""

_CRASH_HINT = "what it printed last may tell; code must not end the process (os._exit), and memory may be short"
_PIPE_HINT = "does your code write to or close file descriptors that it did not open?"
