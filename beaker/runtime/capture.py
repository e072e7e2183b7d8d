"""Keeping what a process prints, bounded: the beginning and the end of each stream."""

from collections.abc import Callable


class Capture:
    """Collects bytes and keeps the first and the last half of `limit`; control characters stay as they are."""

    def __init__(self, limit: int) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._limit = limit
        self._seen = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self._seen += len(data)
        room = self._limit // 2 - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._limit:
            del self._tail[: -(self._limit - self._limit // 2)]

    def text(self) -> str:
        """What was kept, as text: bytes that are not UTF-8 are written as escapes, a gap says how much it hides."""
        tail = self._tail[-(self._limit - self._limit // 2) :]
        hidden = self._seen - len(self._head) - len(tail)
        if not hidden:
            return (self._head + tail).decode("utf-8", "backslashreplace")
        gap = f"\n[... {hidden} bytes left out ...]\n"
        return self._head.decode("utf-8", "backslashreplace") + gap + tail.decode("utf-8", "backslashreplace")

    def take(self) -> str:
        """`text()`, after which the capture is empty again."""
        if not self._seen:
            return ""
        taken = self.text()
        self._head.clear()
        self._tail.clear()
        self._seen = 0
        return taken


def no_redaction(text: str) -> str:
    """Leaves a text as it is: nothing is known to be secret."""
    return text


Redact = Callable[[str], str]
"""Takes the values of secrets out of a text."""
