"""Keeping what a process prints, bounded: the beginning and the end of each stream, without secrets."""

from beaker.runtime.shortening import MARGIN, Redact, beside_cut, no_redaction

__all__ = ["Capture", "Redact", "no_redaction"]


class Capture:
    """Collects bytes and gives at most `limit` of them, the first and the last half; control characters stay.

    `redact` takes secrets out before anything is cut: up to `margin` bytes more than are given are kept for that.
    """

    def __init__(self, limit: int, redact: Redact = no_redaction, *, margin: int = MARGIN) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._first, self._last = limit // 2, limit - limit // 2
        self._redact = redact
        self._margin = margin
        self._seen = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self._seen += len(data)
        room = self._first + self._margin - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        keep = self._last + self._margin
        if len(self._tail) > 2 * keep:
            del self._tail[:-keep]

    def text(self) -> str:
        """What was kept, as text: bytes that are not UTF-8 are written as escapes, a gap says how much it hides."""
        if self._seen == len(self._head) + len(self._tail):
            text = self._redact(_decoded(self._head + self._tail))
            data = text.encode()
            if len(data) <= self._first + self._last:
                return text
            return self._ends(data, data, len(data))
        # More was dropped than is shown, so the text beside the gap may begin or end within a secret.
        before, after = beside_cut(_decoded(self._head), _decoded(self._tail), self._redact, margin=self._margin)
        return self._ends(before.encode(), after.encode(), self._seen)

    def take(self) -> str:
        """`text()`, after which the capture is empty again."""
        if not self._seen:
            return ""
        taken = self.text()
        self._head.clear()
        self._tail.clear()
        self._seen = 0
        return taken

    def _ends(self, before: bytes, after: bytes, size: int) -> str:
        first, last = before[: self._first], after[max(0, len(after) - self._last) :]
        gap = f"\n[... {size - len(first) - len(last)} bytes left out ...]\n"
        return first.decode(errors="ignore") + gap + last.decode(errors="ignore")


def _decoded(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "backslashreplace")
