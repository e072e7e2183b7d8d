"""The tree of candidates: every one below its parent, lines that join them, and a choice among many."""

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from beaker.core.report.lineage import SHOWN_CHANGES, ancestry, chosen, rows, tree
from beaker.core.report.reading import Node, candidates

Read = Callable[[str], Any]


def node(n: int, parent: int | None, objective: float | None = 0.5) -> Node:
    status = "baseline" if parent is None else "rejected" if objective is None else "accepted"
    return Node(
        id=str(n), label=f"#{n}", parent=None if parent is None else str(parent), status=status, reason=f"reason {n}",
        objective=objective, test=None, rollouts=n, changed=(),
    )  # fmt: skip


@st.composite
def families(draw: st.DrawFn) -> list[Node]:
    """Candidates that each descend from an earlier one."""
    size = draw(st.integers(1, 25))
    scores = st.none() | st.floats(0, 1)
    return [node(0, None, draw(scores))] + [node(n, draw(st.integers(0, n - 1)), draw(scores)) for n in range(1, size)]


@given(families())
def test_rows__each_candidate_once__below_its_parent(nodes: list[Node]) -> None:
    """A tree written row by row: a child is one deeper than its parent, siblings keep their order."""
    shown = rows(nodes)
    assert sorted(row.node.id for row in shown) == sorted(one.id for one in nodes)
    at = {row.node.id: (place, row) for place, row in enumerate(shown)}
    for place, row in enumerate(shown):
        parent = row.node.parent
        assert row.depth == (0 if parent is None else at[parent][1].depth + 1)
        assert parent is None or at[parent][0] < place
        assert row.has_children == any(one.parent == row.node.id for one in nodes)
        if parent is not None:
            later = [one for one in nodes if one.parent == parent and int(one.id) > int(row.node.id)]
            assert row.open == (*at[parent][1].open, bool(later))


@given(families(), st.integers(1, 30))
def test_chosen__keeps_the_winners_line_and_whole_ancestries(nodes: list[Node], most: int) -> None:
    """However few are shown: the winner's ancestors are among them, and nobody without theirs."""
    winner = nodes[-1].id
    shown = chosen(nodes, winner, most=most)
    known = {one.id: one for one in nodes}
    kept = {one.id for one in shown}
    assert {one.id for one in ancestry(known, winner)} <= kept
    assert all(one.parent is None or one.parent in kept for one in shown)
    assert [*shown] == [one for one in nodes if one.id in kept]
    if len(nodes) <= most:
        assert [*shown] == nodes
    deepest = max(len(ancestry(known, one.id)) for one in nodes)
    assert len(shown) < max(most, 1) + deepest


def test_chosen__the_best_come_first() -> None:
    """Rejected ones and the worst are left out."""
    nodes = [node(0, None, 0.1), node(1, 0, 0.9), node(2, 0, None), node(3, 0, 0.5), node(4, 0, 0.8)]
    assert [one.label for one in chosen(nodes, "3", most=4)] == ["#0", "#1", "#3", "#4"]
    assert [one.label for one in chosen(nodes, None, most=3)] == ["#0", "#1", "#4"]


def test_ancestry__a_circle_or_an_unknown_parent__ends_it() -> None:
    """Odd answers never hang a page; a child of somebody unknown stands at the root."""
    known = {one.id: one for one in (node(1, 2), node(2, 1), node(3, 9))}
    assert [one.id for one in ancestry(known, "1")] == ["1", "2"]
    assert [one.id for one in ancestry(known, "3")] == ["3"]
    assert ancestry(known, None) == ()
    assert [(row.node.id, row.depth) for row in rows([*known.values()])] == [("3", 0)]


def test_tree__tells_every_candidate_in_words(read: Read, make_candidate: Callable[..., Any]) -> None:
    """Number, standing, scores and changes; the winner's line is marked, the rejected one is faint."""
    many = {"created": [f"g/{n}" for n in range(SHOWN_CHANGES + 3)], "updated": [], "deleted": []}
    listed = candidates({
        "candidates": [make_candidate(0, None, 0.25), make_candidate(1, 0, 0.5, summary=many),
                       make_candidate(2, 0, None), make_candidate(3, 1, 0.75)]
    })  # fmt: skip
    page = read(tree(listed, winner="run_1.3", tested={"run_1.3": 0.8}))
    assert [one.get("class") for one in page.all("li")] == ["line", "line", "line", "faint"]
    for said in (
        "#0 baseline",
        "0.250",
        "reason 0",
        "#3 winner",
        "0.750",
        "TEST 0.800",
        "~ book/3.md",
        "#2 rejected",
        "and 3 more",
    ):
        assert said in page.text, said
    assert "accepted" not in page.text
    assert page.text.index("#1") < page.text.index("#3") < page.text.index("#2")
    assert [one["style"] for one in page.all("span", "gutter")] == ["width:54px"] * 4
    assert [one["cx"] for one in page.all("circle")] == ["16.67%", "50%", "83.33%", "50%"]
    assert page.all("circle")[0]["r"] == "4.5"
    stems = [one["x1"] for one in page.all("line", "stem")]
    assert stems == ["16.67%", "50%"]
    elbows = [(one["x1"], one["x2"], one["y1"], one["y2"]) for one in page.all("line", "elbow")]
    assert elbows[:2] == [("16.67%", "16.67%", "0", "50%"), ("16.67%", "50%", "50%", "50%")]
    through = [one["x1"] for one in page.all("line") if one.get("class") is None]
    assert through == ["16.67%", "16.67%"]


def test_tree__many_generations__stay_within_their_width(read: Read) -> None:
    """A long line of descent is drawn narrower, not wider."""
    page = read(tree([node(0, None), *(node(n, n - 1) for n in range(1, 100))], winner=None, tested={}))
    assert {one["style"] for one in page.all("span", "gutter")} == {"width:216px"}
    assert {one["r"] for one in page.all("circle")} == {"1.08"}
    assert read(tree([], winner=None, tested={})).all("li") == []
