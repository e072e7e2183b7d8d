"""The child's side of the pipes: keeping them apart from customer code, reading requests, writing answers.

Customer code shares this process, so nothing here can be kept from code that means harm. What is prevented are
accidents: prints, writes to low descriptors, `fork` and children started by customer code never reach the pipes.
"""

import asyncio
import contextlib
import fcntl
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from beaker.runtime.protocol import MAX_MESSAGE, PIPE_LOST, Lines, decode, encode

_OUT_OF_REACH = 512
"""Descriptors are moved above this number where the limit of open files allows it."""


class Channel:
    """The pipes of a child. The thread of the event loop reads; any thread may write."""

    def __init__(self, commands: int, replies: int, life: int) -> None:
        self._commands, self._replies, self._life = (_moved(descriptor) for descriptor in (commands, replies, life))
        self._owner = os.getpid()
        self._lines = Lines()
        self._deprecated: list[dict[str, str]] = []
        self._unsaid: list[dict[str, Any]] = []
        self.during = ""
        """The stage in which the process was made to end, where that is known."""
        self._writing = threading.Lock()
        os.register_at_fork(after_in_child=self._forget)
        threading.Thread(target=self._watch_host, name="beaker-host-watch", daemon=True).start()

    def listen(self, on_request: Callable[[dict[str, Any]], None]) -> None:
        """Hand every request on, from now until the process ends."""
        asyncio.get_running_loop().add_reader(self._commands, self._readable, on_request)

    def send(self, message: dict[str, Any]) -> bool:
        """Write one message; whether it was short enough. `TypeError` or `ValueError` when it is not JSON."""
        line = encode(message)
        if len(line) > MAX_MESSAGE:
            return False
        self._write(line)
        return True

    def send_encoded(self, line: bytes) -> None:
        """Write one message that is encoded already and short enough."""
        self._write(line)

    def note(self, deprecated: dict[str, str]) -> None:
        """Tell with the next answer of something deprecated in customer code: its `message` and `where`.

        Warnings come at any moment, also while this thread writes, so nothing is written here.
        """
        self._deprecated.append(deprecated)

    def answer(self, request: dict[str, Any], ok: dict[str, Any]) -> bool:
        """Answer a request; whether the answer was short enough to be sent."""
        self._settle()
        return self.send({"id": request["id"], "ok": ok})

    def answer_within(self, request: dict[str, Any], ok: dict[str, Any], most: int) -> int:
        """Answer a request unless the answer has more than `most` bytes; 0 when it was sent, else how many it has."""
        line = encode({"id": request["id"], "ok": ok})
        if len(line) > min(most, MAX_MESSAGE):
            return len(line)
        self._settle()
        self._write(line)
        return 0

    def refuse(self, request: dict[str, Any], kind: str, problems: list[dict[str, Any]]) -> None:
        """Answer a request with problems."""
        self._settle()
        self.send({"id": request["id"], "error": {"kind": kind, "problems": problems}})

    def event(self, request: dict[str, Any], name: str, **more: Any) -> None:
        """Tell something about a request under way."""
        self.send({"id": request["id"], "event": name, **more})

    def ends_during(self, stage: str, problems: list[dict[str, Any]]) -> None:
        """Keep for the last words that the process ends during `stage`, and what failed while that was left."""
        self.during, self._unsaid = stage, problems

    def last_words(self, problems: list[dict[str, Any]]) -> None:
        """Say why the process is about to end."""
        self._settle()
        self.send({"event": "last_words", "problems": [*problems, *self._unsaid]})

    def _settle(self) -> None:
        """What happened before an answer arrives before it."""
        flush_output()
        if self._deprecated:
            found, self._deprecated = self._deprecated, []
            self.send({"event": "deprecated", "found": found})

    def _write(self, line: bytes) -> None:
        if os.getpid() != self._owner:
            # Customer code forked and let the copy return into Beaker: it has nothing to say here.
            os._exit(1)
        rest = memoryview(line)
        try:
            with self._writing:
                while rest:
                    rest = rest[os.write(self._replies, rest) :]
        except OSError:
            # The pipe is closed or is no pipe any more, so nobody can be told but through the exit status.
            os._exit(PIPE_LOST)

    def _readable(self, on_request: Callable[[dict[str, Any]], None]) -> None:
        data = os.read(self._commands, 1 << 18)
        if not data:
            _end_group()
        for line in self._lines.feed(data):
            on_request(decode(line))

    def _watch_host(self) -> None:
        # Nothing is ever written to this pipe; reading ends when the host closes it or dies.
        with contextlib.suppress(OSError):
            os.read(self._life, 1)
        _end_group()

    def _forget(self) -> None:
        for descriptor in (self._commands, self._replies, self._life):
            with contextlib.suppress(OSError):
                os.close(descriptor)


def flush_output() -> None:
    """Push out what customer code printed, so that it arrives before the answer that follows."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            if stream is not None:
                stream.flush()
        except BaseException:  # customer code may have put anything there
            continue


def _moved(descriptor: int) -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = min(_OUT_OF_REACH, max(soft // 2, 3)) if soft != resource.RLIM_INFINITY else _OUT_OF_REACH
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, lowest)
    os.close(descriptor)
    return moved


def _end_group() -> NoReturn:
    """The host is gone: nobody needs this process, nor what it started."""
    os.kill(0, signal.SIGKILL)
    os._exit(1)
