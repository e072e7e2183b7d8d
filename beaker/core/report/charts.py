"""Figures drawn as SVG. Places along the width are percentages, so that a figure fits any screen and its text keeps its
size; every mark carries its value as a title, and the pages state the numbers in tables too."""

from collections.abc import Iterable, Sequence

from beaker.core.report.markup import Markup, element, percent
from beaker.core.report.reading import Node, count, score, signed

PLOT_HEIGHT = 260
_STEPS = (1.0, 2.0, 2.5, 5.0)


def score_chart(nodes: Sequence[Node], *, winner: str | None, spent: float | None) -> Markup:
    """The objective of every candidate over the rollouts spent until it was decided, and the best one so far.

    Candidates without a score on the whole selection set are ticks at the bottom. Without counts of rollouts the order
    of decision takes their place. Nothing at all without a scored candidate.
    """
    counted = all(node.rollouts is not None for node in nodes)
    placed = [((node.rollouts if counted else None) or float(n), node) for n, node in enumerate(nodes)]
    scored = [(at, node.objective, node) for at, node in placed if node.objective is not None]
    if not scored:
        return Markup("")
    last = max([*(at for at, _ in placed), *([spent] if counted and spent else []), 1.0])
    low, high, step = _span([objective for _, objective, _ in scored])
    x_step = _step(last, 5)

    def down(objective: float) -> float:
        return 1 - (objective - low) / (high - low)

    steps = [low + n * step for n in range(round((high - low) / step) + 1)]
    axis = [
        element(
            "g",
            element("line", x1="0", x2="100%", y1=percent(down(at)), y2=percent(down(at)), class_="grid"),
            element("text", _tick(at), x=-8, y=percent(down(at)), dy=4, class_="tick end"),
        )
        for at in steps
    ]
    axis += [
        element("text", count(at), x=percent(at / last), y="100%", dy=22, class_="tick middle")
        for at in (n * x_step for n in range(int(last / x_step) + 1))
    ]
    unscored = [
        element(
            "line", element("title", f"{node.label} {node.status}: {node.reason}"), x1=percent(at / last),
            x2=percent(at / last), y1="97%", y2="100%", class_="rejected",
        )
        for at, node in placed if node.objective is None
    ]  # fmt: skip
    dots = [_dot(at / last, down(objective), node, winner) for at, objective, node in scored]
    named = [(at, objective, node) for at, objective, node in scored if node.id == winner or node.parent is None]
    names = [
        element(
            "text",
            f"{node.label} {score(objective)}",
            x=percent(at / last),
            y=percent(down(objective)),
            dx=-10 if at > 0.7 * last else 10,
            dy=-8,
            class_="name end" if at > 0.7 * last else "name",
        )
        for at, objective, node in named
    ]
    best = _best_so_far([(at / last, down(objective)) for at, objective, _ in scored])
    said = f"{len(scored)} scored candidates over {count(last)} {'rollouts' if counted else 'decisions'}"
    plot = element("svg", axis, unscored, best, dots, names, height=PLOT_HEIGHT, role="img", aria_label=said)
    below = "rollouts issued when the candidate was decided" if counted else "candidates in order of decision"
    return element("div", plot, element("p", below, class_="axis"), class_="plot")


def interval_chart(low: float, center: float, high: float, *, zero: bool) -> Markup:
    """A value with its interval on a line; with `zero` a difference, held against 0, else a score within [0, 1]."""
    if zero:
        reach = max(abs(low), abs(high), 0.05) * 1.15
        start, end, shown = -reach, reach, signed
        marks = [-reach / 1.15, 0.0, reach / 1.15]
    else:
        start, end, shown = 0.0, 1.0, score
        marks = [0.0, 0.5, 1.0]

    def across(at: float) -> str:
        return percent((at - start) / (end - start))

    said = f"{shown(center)}, interval {shown(low)} to {shown(high)}"
    return element(
        "svg",
        element("line", x1="0", x2="100%", y1=16, y2=16, class_="grid"),
        [element("line", x1=across(at), x2=across(at), y1=8, y2=24, class_="grid") for at in marks],
        element("line", x1=across(0.0), x2=across(0.0), y1=2, y2=30, class_="zero") if zero else None,
        element("line", x1=across(low), x2=across(high), y1=16, y2=16, class_="reach"),
        element("circle", cx=across(center), cy=16, r=6, class_="center"),
        [element("text", shown(at) if at else "0", x=across(at), y=46, class_="tick middle") for at in marks],
        height=52,
        class_="interval",
        role="img",
        aria_label=said,
    )


def pair_bar(before: float | None, after: float) -> Markup:
    """One score, or two with the way from the first to the second, on a line from 0 to 1."""
    tone = "" if before is None else " good" if after > before else " bad" if after < before else ""
    way = element("line", x1=percent(before or 0.0), x2=percent(after), y1=8, y2=8, class_=f"way{tone}")
    return element(
        "svg",
        element("line", x1="0", x2="100%", y1=8, y2=8, class_="grid"),
        way,
        None if before is None else element("circle", cx=percent(before), cy=8, r=4, class_="before"),
        element("circle", cx=percent(after), cy=8, r=5, class_="after"),
        height=16,
        class_="pair",
        aria_hidden="true",
    )


def bar(share: float, *, tone: str = "") -> Markup:
    """A score as a bar."""
    return element(
        "span", element("i", style=f"width:{percent(share)}"), class_=f"bar {tone}".strip(), aria_hidden="true"
    )


def stacked_bar(parts: Iterable[tuple[str, int]]) -> Markup:
    """Counts as parts of one bar; each part is styled by its name."""
    return element(
        "div",
        [element("i", class_=f"part {name}", style=f"flex-grow:{size}") for name, size in parts if size],
        class_="stack",
        aria_hidden="true",
    )


def _dot(across: float, down: float, node: Node, winner: str | None) -> Markup:
    kind = "dot best" if node.id == winner else "dot base" if node.parent is None else "dot"
    told = f"{node.label}: {score(node.objective)} ({node.reason})"
    radius = 6 if node.id == winner else 4.5
    return element("circle", element("title", told), cx=percent(across), cy=percent(down), r=radius, class_=kind)


def _best_so_far(points: Sequence[tuple[float, float]]) -> list[Markup]:
    """A line that steps up whenever a candidate beats all before it; `points` go down as scores go up."""
    lines = []
    at, level = points[0]
    for across, down in [*points[1:], (1.0, None)]:
        if down is None or down < level:
            lines.append(
                element("line", x1=percent(at), x2=percent(across), y1=percent(level), y2=percent(level), class_="best")
            )
            if down is not None:
                lines.append(
                    element(
                        "line",
                        x1=percent(across),
                        x2=percent(across),
                        y1=percent(level),
                        y2=percent(down),
                        class_="best",
                    )
                )
                at, level = across, down
    return lines


def _span(scores: Sequence[float]) -> tuple[float, float, float]:
    """Where an axis of scores starts and ends, within [0, 1], and the step of its marks (at least 3 of them)."""
    low, high = min(scores), max(scores)
    step = 0.05 if high - low < 0.2 else 0.1 if high - low < 0.5 else 0.2
    start = max(0, int((low - step / 2) / step))
    end = min(round(1 / step), max(int(high / step + 1.5), start + 3))
    return min(start, end - 3) * step, end * step, step


def _step(most: float, marks: int) -> float:
    """The smallest of 1, 2, 2.5, 5, 10, 20, ... that needs no more than so many marks."""
    scale = 1.0
    while True:
        for step in _STEPS:
            if step * scale == int(step * scale) and most / (step * scale) <= marks:
                return step * scale
        scale *= 10


def _tick(at: float) -> str:
    return f"{at:.2f}"
