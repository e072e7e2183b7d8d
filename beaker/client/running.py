"""Runs flows: calls in the caller's own thread, files in threads beside it, as many as the transport allows."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any, TypeVar

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.client.api import Api
from beaker.client.local_files import pieces_of
from beaker.client.remote_files import Fetched, fetch
from beaker.client.steps import Begin, Call, Ended, Flow, Get, Happened, Moved, Next, Put
from beaker.client.transport import TransportFailed
from beaker.core.api import Response
from beaker.core.problems import Problem, Refused
from beaker.core.retry import Trouble, trouble_in
from beaker.files.atomic import os_problem

T = TypeVar("T")

TOLD_BYTES = 4 << 20
"""How much of a file travels between two times that it is told."""

ENDING_SECONDS = 2.0
"""How long the end of a flow waits for files that are under way and not wanted any more."""


def run_flow(api: Api, flow: Flow[T]) -> Result[T, Problem]:
    """Do the steps of `flow` over the transport of `api`. Files under way when it ends are given up."""
    moves = _InTurn(api) if api.transport.at_once == 1 else _AtOnce(api, api.transport.at_once)
    came: Any = None
    try:
        while True:
            step = flow.send(came)
            match step:
                case Call():
                    came = api.call(step.name, **step.arguments)
                case Begin():
                    came = moves.begin(step)
                case Next():
                    came = moves.next()
    except StopIteration as ended:
        result: Result[T, Problem] = ended.value
        return result
    except OSError as error:
        return Failure(os_problem(error, "transfer the file"))
    finally:
        flow.close()
        moves.close()


class _InTurn:
    """Files that travel one after the other, in the thread that asks for the next news."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._waiting: deque[Begin] = deque()
        self._news: deque[Happened] = deque()

    def begin(self, step: Begin) -> None:
        self._waiting.append(step)

    def next(self) -> Happened:
        if not self._news:
            step = self._waiting.popleft()
            self._news.append(Ended(step.key, carry_out(self._api, step, self._tell)))
        return self._news.popleft()

    def close(self) -> None:
        self._waiting.clear()

    def _tell(self, moved: Moved) -> None:
        if moved.done:
            self._news.append(moved)


class _AtOnce:
    """Files that travel at the same time, at most `count` of them, each in a thread."""

    def __init__(self, api: Api, count: int) -> None:
        self._api = api
        self._count = count
        self._waiting: SimpleQueue[Begin | None] = SimpleQueue()
        self._news: SimpleQueue[Happened | BaseException] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._given_up = threading.Event()

    def begin(self, step: Begin) -> None:
        self._waiting.put(step)
        if len(self._threads) < self._count:
            # Daemons: a place that has fallen silent must not keep the command from ending.
            self._threads.append(threading.Thread(target=self._work, name="transfer", daemon=True))
            self._threads[-1].start()

    def next(self) -> Happened:
        happened = self._news.get()
        if isinstance(happened, BaseException):
            raise happened
        return happened

    def close(self) -> None:
        self._given_up.set()
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join(ENDING_SECONDS / len(self._threads))

    def _work(self) -> None:
        while (step := self._waiting.get()) is not None and not self._given_up.is_set():
            try:
                self._news.put(Ended(step.key, carry_out(self._api, step, self._tell)))
            except _GivenUp:
                return
            except BaseException as error:  # raised again by whoever waits for the news
                self._news.put(error)

    def _tell(self, moved: Moved) -> None:
        if self._given_up.is_set():
            raise _GivenUp
        if moved.done:
            self._news.put(moved)


class _GivenUp(Exception):
    """Nobody wants this file any more."""


def carry_out(api: Api, step: Begin, tell: Callable[[Moved], None]) -> Result[Response | Fetched, Problem]:
    """Let one file travel, again where the client's patience allows it; a download goes on where it stopped.

    `tell` is told of every few MiB, and, with 0 bytes, of smaller pieces; what it raises ends the travelling.
    """
    counted = _Counted(step.key, tell)
    method = "GET" if isinstance(step.move, Get) else "PUT"
    while True:
        before = counted.furthest
        outcome = api.persist(lambda: _attempt(api, step, counted), method=method)
        lost = not is_successful(outcome) and trouble_in(outcome.failure()) == Trouble()
        if not (lost and isinstance(step.move, Get) and counted.furthest > before):
            return outcome


def _attempt(api: Api, step: Begin, counted: "_Counted") -> tuple[Result[Response | Fetched, Problem], Trouble | None]:
    """What one try came to, and the trouble it had."""
    try:
        match step.move:
            case Put(url, headers, file):
                response = api.transport.upload(url, headers, counted.pieces(pieces_of(file)), file.size)
                refused = not 200 <= response.status < 300
                trouble = Trouble(response.status, response.headers.get("retry-after", "")) if refused else None
                return Success(response), trouble
            case Get(file, target):
                return Success(fetch(api.transport, file, target, counted.at)), None
    except TransportFailed as failed:
        return Failure(failed.problems[0]), Trouble()
    except Refused as refused_:
        return Failure(refused_.problems[0]), trouble_in(refused_.problems[0])
    except OSError as error:
        return Failure(os_problem(error, "transfer the file")), None


class _Counted:
    """How far a file has come, and the telling of it."""

    def __init__(self, key: str, tell: Callable[[Moved], None]) -> None:
        self._key = key
        self._tell = tell
        self._told = 0
        self.furthest = 0

    def at(self, done: int) -> None:
        """So many bytes have travelled."""
        self.furthest = max(self.furthest, done)
        news = done - self._told >= TOLD_BYTES
        self._told = done if news or done < self._told else self._told
        self._tell(Moved(self._key, done if news else 0))

    def pieces(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The pieces, counted as they are taken."""
        done = 0
        for piece in pieces:
            yield piece
            done += len(piece)
            self.at(done)
