"""What a run came to: winner against baseline on TEST in words and figures, or how far it is."""

from collections.abc import Mapping, Sequence
from typing import Any

from beaker.core.certainty import stated_doubt
from beaker.core.report.charts import interval_chart
from beaker.core.report.markup import Part, element, joined
from beaker.core.report.page import Section, tile
from beaker.core.report.reading import Node, count, label, mapping, number, score, signed, words

_REASONS = {
    "budget": "The search ended because its budget was used up.",
    "proposals": "The search ended because all proposals were made.",
    "exhausted": "The search ended because no candidate had an unsolved case left to learn from.",
    "perfect": "The search ended because the best candidate solves the whole selection set.",
    "spend_unknown": "The search ended because the cost of a model call was unknown, and there is a budget in dollars.",
    "cancelled": "Somebody cancelled the run.",
    "error": "An error ended the run.",
}
"""The reasons for which runs finish, in words."""


def outcome(run: Mapping[str, Any], *, name: str, nodes: Sequence[Node], subject: str | None) -> Section:
    """The section that says what a run came to: on TEST when it was reached, else how far the search is."""
    result = mapping(run.get("result"))
    test = mapping(result.get("test"))
    shown = next((node for node in nodes if node.id == subject), None)
    parts: list[Part] = []
    if test:
        parts += _test_result(test, won=result.get("winner_id"), baseline_id=result.get("baseline_id"))
    elif shown is not None:
        first = min(nodes, key=lambda node: node.parent is not None)  # the baseline, wherever it is listed
        parts.append(element("p", _unproven(name, shown, first), class_="headline"))
        best = tile(f"{name} on TRAIN", score(shown.objective), shown.label, tone="win")
        tiles = [tile("Baseline on TRAIN", score(first.objective), first.label), None if shown is first else best]
        parts.append(element("div", tiles, class_="tiles"))
    else:
        parts.append(element("p", "No candidate has been scored yet.", class_="headline"))
    reason = run.get("finish_reason")
    if isinstance(reason, str):
        parts.append(element("p", _REASONS.get(reason, f"It ended by {reason}."), class_="muted"))
    if words(run.get("error_message")).strip():
        parts.append(element("div", words(run.get("error_message")).strip(), class_="notice bad"))
    return Section("result", "Result", joined(parts))


def _test_result(test: Mapping[str, Any], *, won: Any, baseline_id: Any) -> list[Part]:
    """Winner against baseline on TEST, in words and figures."""
    before, after, difference = (number(test.get(key)) for key in ("baseline", "winner", "difference"))
    low, high, n = number(test.get("low")), number(test.get("high")), count(test.get("n"))
    failed = [number(test.get(key)) or 0 for key in ("failed_baseline", "failed_winner")]
    doubts = stated_doubt(test.get("n"), low, high)
    tone = "" if low is None or high is None or doubts else "good" if low > 0 else "bad" if high < 0 else ""
    interval = None if low is None or high is None else f"95 % interval {signed(low)} to {signed(high)}"
    tiles = [
        tile(
            "Baseline on TEST", score(before), f"{count(failed[0])} failed" if failed[0] else label(words(baseline_id))
        ),
        tile(
            "Winner on TEST", score(after), f"{count(failed[1])} failed" if failed[1] else label(words(won)), tone="win"
        ),
        tile("Difference", signed(difference), interval, tone=tone),
        tile("Held-out cases", n, "run once, after the search"),
    ]
    chart = None
    if low is not None and high is not None and difference is not None and low < high:
        chart = interval_chart(low, difference, high, zero=True)
    return [
        element("p", _verdict(difference, low, high, same=won == baseline_id, doubts=doubts), class_="headline"),
        element("div", tiles, class_="tiles"),
        chart,
        element("p", words(test.get("method")), class_="muted"),
    ]


def _verdict(difference: float | None, low: float | None, high: float | None, *, same: bool, doubts: str) -> str:
    if same:
        return "No candidate beat the baseline on TRAIN, so the baseline stays."
    if difference is None or low is None or high is None:
        return "The winner ran on the held-out cases; the baseline did not, so nothing can be said of the difference."
    if doubts:
        how = "as well as" if not difference else "better than" if difference > 0 else "worse than"
        by = f", by {signed(difference)}" if difference else ""
        return f"The winner did {how} the baseline on held-out cases{by}, but {doubts}."
    if low > 0:
        return f"The winner is better than the baseline on held-out cases, by {signed(difference)}."
    if high < 0:
        return f"The winner is worse than the baseline on held-out cases, by {signed(difference)}."
    return f"The held-out cases do not tell the two apart: {signed(difference)}, with 0 inside the interval."


def _unproven(name: str, shown: Node, first: Node) -> str:
    if shown is first:
        return "Only the baseline has been scored so far. Nothing is proven on held-out cases."
    which = "The best candidate so far" if name == "Best" else "This candidate"
    return f"{which} is {shown.label}. Nothing is proven on held-out cases."
