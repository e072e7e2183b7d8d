"""When to say how far something is, and in what words."""

from beaker.core.values import value

BAR_WIDTH = 24
_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


@value
class Pace:
    """Nothing is said in the first `patience` seconds, afterwards once in `every` seconds."""

    patience: float
    every: float


TERMINAL_PACE = Pace(patience=2.0, every=0.1)
"""For a line of a terminal that is drawn over."""

PLAIN_PACE = Pace(patience=2.0, every=5.0)
"""For lines that stay: in a file, or in the log of a CI job."""


def is_due(pace: Pace, *, began: float, told: float | None, now: float) -> bool:
    """Whether it is time to say more; `told` is when something was said last, `None` for never. All in seconds."""
    return now - began >= pace.patience and (told is None or now - told >= pace.every)


def bar(done: int, total: int) -> str:
    """`[######..................]  25 %`; a total of 0 is done. ASCII, so that every terminal can show it."""
    done, total = (1, 1) if total <= 0 else (min(max(done, 0), total), total)
    filled = done * BAR_WIDTH // total
    return f"[{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {done * 100 // total:>3} %"


def size(count: int) -> str:
    """A number of bytes for people: `512 B`, `1.5 KiB`."""
    for unit, name in _SIZES:
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} B"
