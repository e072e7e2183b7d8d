"""Reading and writing pipes from an event loop, without a copy or a task more than needed."""

import asyncio
import os
from collections.abc import Callable

_CHUNK = 1 << 18
_CHUNKS_AT_ONCE = 16


class PipeReader:
    """Hands on what arrives at a pipe; owns the descriptor. `on_end` is called when the other side has closed it."""

    def __init__(
        self, descriptor: int, on_data: Callable[[bytes], None], on_end: Callable[[], None] | None = None
    ) -> None:
        self._descriptor = descriptor
        self._on_data = on_data
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self.open = True
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self._readable)

    def _readable(self) -> None:
        # A process that never stops printing must not keep the loop from everything else.
        self._read(_CHUNKS_AT_ONCE)

    def drain(self) -> None:
        """Take what has arrived already, without waiting for more."""
        self._read(_CHUNKS_AT_ONCE)

    def _read(self, chunks: int) -> None:
        while self.open and chunks:
            chunks -= 1
            try:
                data = os.read(self._descriptor, _CHUNK)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self.close()
                if self._on_end is not None:
                    self._on_end()
                return
            self._on_data(data)
            if len(data) < _CHUNK:  # the pipe was emptied
                return

    def close(self) -> None:
        """Stop reading and close the descriptor."""
        if self.open:
            self.open = False
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)


class PipeWriter:
    """Sends bytes in order without ever blocking the loop; owns the descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._waiting = bytearray()
        self._is_watched = False
        self.open = True
        os.set_blocking(descriptor, False)

    def send(self, data: bytes) -> None:
        """Queue `data`; what a closed or broken pipe is sent is dropped."""
        if not self.open:
            return
        idle = not self._waiting
        self._waiting += data
        if idle:
            self._write()
            if self.open and self._waiting:
                self._loop.add_writer(self._descriptor, self._write)
                self._is_watched = True

    def _write(self) -> None:
        while self._waiting:
            try:
                written = os.write(self._descriptor, memoryview(self._waiting)[:_CHUNK])
            except BlockingIOError:
                return
            except OSError:  # the other end is gone; whoever waits for an answer notices by its exit
                self.close()
                return
            del self._waiting[:written]
        if self._is_watched:
            self._is_watched = False
            self._loop.remove_writer(self._descriptor)

    def close(self) -> None:
        """Drop what was not sent and close the descriptor, which the other side reads as the end of input."""
        if self.open:
            self.open = False
            self._waiting.clear()
            self._loop.remove_writer(self._descriptor)
            os.close(self._descriptor)
