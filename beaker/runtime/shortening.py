"""Shortening text that may hold secrets: they are taken out first, or the cut would leave a part of one unrecognised.

What has to be cut before secrets are known, in a child process or while a stream goes by, is cut with a margin.
"""

import re
from collections.abc import Callable

Redact = Callable[[str], str]
"""Takes the values of secrets out of a text."""

MARGIN = 131_072
"""Characters kept on each side of a preliminary cut: no environment variable can be longer on Linux."""

_GAP = re.compile(r"\n\[\.\.\. (\d+) characters left out \.\.\.\]\n")


def no_redaction(text: str) -> str:
    """Leaves a text as it is: nothing is known to be secret."""
    return text


def bounded(text: str, limit: int) -> str:
    """`text` with its middle left out when it is longer than `limit`; lone surrogates become escapes."""
    if len(text) > limit:
        half = limit // 2
        text = f"{text[:half]}{_gap(len(text) - 2 * half)}{text[len(text) - half :]}"
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def preliminary(text: str, limit: int, *, margin: int = MARGIN) -> str:
    """`text`, cut so that `shortened` with the same `limit` still finds every secret that matters whole."""
    return bounded(text, 2 * (limit // 2 + margin))


def shortened(text: str, limit: int, redact: Redact, *, margin: int = MARGIN) -> str:
    """`text` without secrets, at most `limit` characters of it; it may have been cut by `preliminary`."""
    gap = next((found for found in _GAP.finditer(text) if found.start() >= margin <= len(text) - found.end()), None)
    if gap is None:
        return bounded(redact(text), limit)
    before, after = beside_cut(text[: gap.start()], text[gap.end() :], redact, margin=margin)
    before, after = before[: limit // 2], after[max(0, len(after) - limit // 2) :]
    left_out = int(gap[1]) + gap.start() + len(text) - gap.end() - len(before) - len(after)
    return bounded(f"{before}{_gap(left_out)}{after}", len(text))


def beside_cut(before: str, after: str, redact: Redact, *, margin: int = MARGIN) -> tuple[str, str]:
    """What may be shown of two texts that stood on both sides of a cut, `margin` characters at least.

    A part of a secret that the cut went through stands right beside it and is shorter than the margin.
    """
    before, after = redact(before), redact(after)
    return before[: max(0, len(before) - margin)], after[margin:]


def _gap(characters: int) -> str:
    return f"\n[... {characters} characters left out ...]\n"
