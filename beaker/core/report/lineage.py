"""The tree of candidates: which rows a page shows, how they hang together, and the lines that say so."""

from collections.abc import Collection, Mapping, Sequence

from beaker.core.report.charts import bar
from beaker.core.report.markup import Markup, Part, element, percent
from beaker.core.report.reading import Node, score
from beaker.core.values import value

SHOWN_CANDIDATES = 40
"""Candidates that the tree shows before it is opened."""

SHOWN_CHANGES = 4
"""Changed files that a row names; more are counted."""

_STEP, _WIDEST = 18, 216  # pixels between two generations, and for all of them


@value
class Row:
    """A candidate in the tree. `open` has an entry per generation above it: whether a sibling follows there, so that
    the line which ties them goes on below this row."""

    node: Node
    open: tuple[bool, ...]
    has_children: bool

    @property
    def depth(self) -> int:
        """Generations above it."""
        return len(self.open)


def chosen(nodes: Sequence[Node], winner: str | None, *, most: int = SHOWN_CANDIDATES) -> tuple[Node, ...]:
    """At most about `most` candidates, in their order: the winner's line, then the best, each with its ancestors.

    All of them when there are no more; else rejected ones are left out first.
    """
    if len(nodes) <= most:
        return tuple(nodes)
    known = {node.id: node for node in nodes}
    kept: set[str] = set()
    ranked = sorted((node for node in nodes if node.objective is not None), key=lambda node: -(node.objective or 0.0))
    for node in (*ancestry(known, winner)[:1], *ranked):
        if len(kept) < most:
            kept |= {one.id for one in ancestry(known, node.id)}
    return tuple(node for node in nodes if node.id in kept)


def ancestry(known: Mapping[str, Node], candidate_id: str | None) -> tuple[Node, ...]:
    """A candidate, its parent, and so on; an answer that goes in a circle or into nothing ends it."""
    line: list[Node] = []
    at = known.get(candidate_id or "")
    while at is not None and at not in line:
        line.append(at)
        at = known.get(at.parent or "")
    return tuple(line)


def rows(nodes: Sequence[Node]) -> tuple[Row, ...]:
    """The candidates as rows of a tree, each below its parent; one whose parent is not among them starts a tree."""
    known = {node.id for node in nodes}
    children: dict[str | None, list[Node]] = {}
    for node in nodes:
        children.setdefault(node.parent if node.parent in known else None, []).append(node)
    found: list[Row] = []
    waiting: list[tuple[Node, tuple[bool, ...]]] = [(root, ()) for root in reversed(children.get(None, []))]
    while waiting:
        node, open_ = waiting.pop()
        own = children.get(node.id, [])
        found.append(Row(node, open_, bool(own)))
        waiting += [(child, (*open_, number > 0)) for number, child in enumerate(reversed(own))]
    return tuple(found)


def tree(nodes: Sequence[Node], *, winner: str | None, tested: Mapping[str, float]) -> Markup:
    """The candidates as a list drawn as a tree; the winner's line stands out. `tested` are objectives on TEST."""
    known = {node.id: node for node in nodes}
    line = {node.id for node in ancestry(known, winner)}
    shown = rows(nodes)
    generations = max((row.depth for row in shown), default=0) + 1
    listed = [_row(row, generations=generations, winner=winner, line=line, tested=tested) for row in shown]
    return element("ol", listed, class_="tree")


def _row(
    row: Row, *, generations: int, winner: str | None, line: Collection[str], tested: Mapping[str, float]
) -> Markup:
    node = row.node
    changes = [*node.changed[:SHOWN_CHANGES]]
    if len(node.changed) > SHOWN_CHANGES:
        changes.append(f"and {len(node.changed) - SHOWN_CHANGES} more")
    tags = [
        element("b", "winner", class_="tag win") if node.id == winner else None,
        element("span", node.status, class_=f"tag {'bad' if node.status == 'rejected' else ''}".strip())
        if node.status != "accepted"
        else None,
    ]
    test = tested.get(node.id)
    figures = element(
        "span",
        bar(node.objective or 0.0, tone="win" if node.id == winner else ""),
        element("b", score(node.objective)),
        None if test is None else element("span", f"TEST {score(test)}", class_="muted"),
        class_="figures",
    )
    told = element("span", ", ".join(changes) or node.reason, class_="muted changes", title=node.reason)
    name = element("span", node.label, class_="label")
    kind = " ".join(["faint"] * (node.status == "rejected") + ["line"] * (node.id in line))
    return element(
        "li", _gutter(row, generations=generations), element("span", name, tags, class_="who"), figures, told,
        class_=kind or None,
    )  # fmt: skip


def _gutter(row: Row, *, generations: int) -> Markup:
    """The lines left of a row: those of generations that go on below, the elbow from its parent, its own point."""

    def across(depth: int) -> str:
        return percent((depth + 0.5) / generations)

    own, parent = across(row.depth), across(row.depth - 1)
    lines: list[Part] = [
        element("line", x1=across(n), x2=across(n), y1="0", y2="100%") for n, goes_on in enumerate(row.open) if goes_on
    ]
    if row.depth:
        lines.append(element("line", x1=parent, x2=parent, y1="0", y2="50%", class_="elbow"))
        lines.append(element("line", x1=parent, x2=own, y1="50%", y2="50%", class_="elbow"))
    if row.has_children:
        lines.append(element("line", x1=own, x2=own, y1="50%", y2="100%", class_="stem"))
    width = min(_STEP * generations, _WIDEST)
    point = element("circle", cx=own, cy="50%", r=min(4.5, width / generations / 2))
    drawn = element("svg", lines, point, aria_hidden="true")
    return element("span", drawn, class_="gutter", style=f"width:{width:.0f}px")
