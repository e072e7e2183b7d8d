"""How long somebody waits for work in a thread, which nobody can end from outside: it has to look by itself."""

import threading
import time


class OutOfPatience(Exception):
    """Nobody waits any more."""


class Patience:
    """At most `seconds`, or until `end`, which any thread may call. Work calls `check` several times a second."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._until = time.monotonic() + seconds
        self._ended = threading.Event()

    def end(self) -> None:
        """Wait no longer."""
        self._ended.set()

    def check(self) -> None:
        """Raise `OutOfPatience` when nobody waits any more."""
        if self._ended.is_set() or time.monotonic() > self._until:
            raise OutOfPatience
