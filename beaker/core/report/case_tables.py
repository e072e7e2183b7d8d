"""Tables of cases, fields and checks: two candidates side by side, or one alone."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from beaker.core.report.cases import (
    STANDINGS,
    Pair,
    Remark,
    Side,
    Standing,
    differences,
    faults,
    pairs,
    sides,
    standing_pairs,
)
from beaker.core.report.charts import bar, pair_bar, stacked_bar
from beaker.core.report.markup import Markup, Part, element, joined
from beaker.core.report.page import Cell, folded, table
from beaker.core.report.reading import duration, mapping, score, share, signed
from beaker.core.wording import counted

SHOWN_CASES = 300
"""Cases of one kind that a page lists; more are counted. The JSON answers have all of them."""

OPEN_CASES = 60
"""Lists of no more changed cases are open from the start."""

_TITLES: Mapping[Standing, str] = {
    "worse": "got worse",
    "better": "got better",
    "open": "the same, not solved",
    "solved": "solved by both",
}


def compared_cases(before: Mapping[str, Any], after: Mapping[str, Any], *, name: str) -> Markup:
    """The cases of two reports: how many got worse or better, and each with what differs. `name` calls the second."""
    paired = pairs(before, after)
    if not paired:
        return Markup("")
    groups = [(standing, standing_pairs(paired, standing)) for standing in STANDINGS]
    columns = [("Case", ""), ("Baseline", "num"), (name, "num"), ("Change", "num"), ("What differs", "")]
    return Markup(
        stacked_bar([(standing, len(group)) for standing, group in groups])
        + "".join(
            folded(
                [_swatch(standing), f"{counted(len(group), 'case')} {_TITLES[standing]}"],
                [table(columns, map(_pair_row, group[:SHOWN_CASES])), _left_out(len(group))],
                is_open=standing in ("worse", "better") and len(group) <= OPEN_CASES,
            )
            for standing, group in groups
            if group
        )
    )


def listed_cases(report: Mapping[str, Any]) -> Markup:
    """The cases of one report, the worst first, each with what is wrong."""
    cases = sorted(sides(report).items(), key=lambda item: (item[1].objective is not None, item[1].objective or 0.0))
    columns = [("Case", ""), ("Score", "num"), ("Time", "num"), ("What is wrong", "")]
    return joined([table(columns, (_side_row(*case) for case in cases[:SHOWN_CASES])), _left_out(len(cases))])


def field_table(before: Mapping[str, Any] | None, after: Mapping[str, Any], *, name: str) -> Markup:
    """The mean of every field; beside the baseline's when there is one."""
    rows = []
    others = {} if before is None else _field_means(before)
    for field, mean in _field_means(after).items():
        was = others.get(field)
        own = [Cell(field, "head"), Cell(pair_bar(was, mean), "figure")]
        figures = [Cell(score(was), "num")] if before is not None else []
        change = [Cell(_toned(None if was is None else mean - was), "num")] if before is not None else []
        rows.append([*own, *figures, Cell(score(mean), "num"), *change])
    columns = [("Field", ""), ("0 to 1", "figure")]
    columns += [("Baseline", "num"), (name, "num"), ("Change", "num")] if before is not None else [(name, "num")]
    return table(columns, rows)


def remark_list(remarks: Iterable[Remark]) -> Markup:
    """Remarks as a list; nothing for none."""
    items = [element("li", remark.text, class_=remark.tone or None) for remark in remarks]
    return element("ul", items, class_="remarks") if items else Markup("")


def _field_means(report: Mapping[str, Any]) -> dict[str, float]:
    found = {name: share(mapping(item).get("mean")) for name, item in mapping(report.get("field_scores")).items()}
    return {name: mean for name, mean in found.items() if mean is not None}


def _pair_row(pair: Pair) -> Sequence[Cell]:
    return (
        Cell(pair.id, "head"),
        Cell(_shown(pair.before), "num"),
        Cell(_shown(pair.after), "num"),
        Cell(_toned(pair.change), "num"),
        Cell(remark_list(differences(pair)), "wide"),
    )


def _side_row(name: str, side: Side) -> Sequence[Cell]:
    shown = [bar(side.objective or 0.0, tone="bad" if side.objective is None else "win"), " ", _shown(side)]
    return (
        Cell(name, "head"),
        Cell(shown, "num"),
        Cell(duration(side.duration_ms), "num"),
        Cell(remark_list(faults(side)), "wide"),
    )


def _shown(side: Side) -> Part:
    return element("span", "failed", class_="bad") if side.objective is None else score(side.objective)


def _toned(change: float | None) -> Part:
    """A difference, coloured by its sign; nothing for none."""
    if change is None or abs(change) < 5e-4:
        return "" if change is None else "0"
    return element("span", signed(change), class_="good" if change > 0 else "bad")


def _swatch(standing: Standing) -> Markup:
    return element("span", class_=f"swatch {standing}")


def _left_out(count: int) -> Markup | None:
    left = count - SHOWN_CASES
    return element("p", f"{counted(left, 'more case')} not shown here", class_="muted") if left > 0 else None
