"""The page about one evaluation: one candidate over one split."""

from collections.abc import Mapping
from typing import Any

from beaker.core.report.case_tables import field_table, listed_cases
from beaker.core.report.charts import bar, interval_chart
from beaker.core.report.markup import Markup, Part, element, joined
from beaker.core.report.page import Cell, Section, document, table, tile
from beaker.core.report.reading import (
    count,
    duration,
    label,
    listed,
    mapping,
    money,
    number,
    objects,
    score,
    share,
    words,
)


def evaluation_page(answer: Mapping[str, Any]) -> str:
    """The page of what `run eval --json` answers, as one HTML file. Everything the answer says is escaped."""
    report = mapping(answer.get("report"))
    split = words(answer.get("split")).upper()
    candidate = answer.get("candidate_id")
    subject = f"Candidate {label(candidate)}" if isinstance(candidate, str) else "Baseline"
    dataset = mapping(answer.get("dataset"))
    named = words(dataset.get("path")) or f"{words(dataset.get('name'))}@{words(dataset.get('revision'))[:19]}"
    told = f"{subject} on {split} · dataset {named} · commit {words(answer.get('commit'))[:12]}"
    head = joined(
        [
            element("p", "Beaker evaluation", class_="eyebrow"),
            element("h1", words(answer.get("integration_id"))),
            element("p", told, class_="muted"),
        ]
    )
    sections = [
        Section("result", "Result", _result(answer, report)),
        Section("fields", "Fields", field_table(None, report, name="Mean")),
        Section("checks", "Checks", _checks(answer)),
        Section("failures", "Failures", _failures(answer), "Grouped by what the errors say, numbers and names aside."),
        Section("times", "Times and tokens", _times(answer, report)),
        Section("cases", "Cases", listed_cases(report), "The worst first."),
    ]
    return document(f"Beaker evaluation of {words(answer.get('integration_id'))}", head=head, sections=sections)


def _result(answer: Mapping[str, Any], report: Mapping[str, Any]) -> Markup:
    interval = mapping(answer.get("interval"))
    low, center, high = (number(interval.get(key)) for key in ("low", "value", "high"))
    known = low is not None and center is not None and high is not None
    tiles = [
        tile("Objective", score(report.get("objective")), _bounds(interval), tone="win"),
        tile("Over the scored", score(report.get("objective_scored")), "failed cases left out"),
        tile("Scored", count(report.get("scored")), f"of {count(report.get('cases_total'))} cases"),
        tile(
            "Failed",
            count(report.get("failed")),
            "count 0 in the objective",
            tone="bad" if report.get("failed") else "",
        ),
    ]
    left = (number(answer.get("split_cases")) or 0) - (number(report.get("cases_total")) or 0)
    parts: list[Part] = [
        element("div", tiles, class_="tiles"),
        interval_chart(low or 0.0, center or 0.0, high or 0.0, zero=False) if known else None,
        element("p", words(interval.get("method")), class_="muted"),
        element("div", f"{count(left)} more cases of the split were left out", class_="notice") if left > 0 else None,
    ]
    return joined(parts)


def _bounds(interval: Mapping[str, Any]) -> str | None:
    return f"95 % interval {score(interval.get('low'))} to {score(interval.get('high'))}" if interval else None


def _checks(answer: Mapping[str, Any]) -> Markup:
    columns = [("Check", ""), ("Mean", "num"), ("Below 1", "num"), ("Cases", "num")]
    return table(columns, map(_check_row, objects(answer.get("checks"))))


def _check_row(check: Mapping[str, Any]) -> list[Cell]:
    named = " / ".join(filter(None, (words(check.get("group")), words(check.get("name")))))
    aside = element("span", "informational", class_="tag") if check.get("informational") is True else None
    mean = share(check.get("mean")) or 0.0
    return [
        Cell([named, " ", aside], "head"),
        Cell([bar(mean, tone="win"), " ", score(check.get("mean"))], "num"),
        Cell(count(check.get("failed")), "num"),
        Cell(count(check.get("n")), "num"),
    ]


def _failures(answer: Mapping[str, Any]) -> Markup:
    columns = [("Kind", ""), ("Cases", "num"), ("What was said", ""), ("Which", "")]
    return table(columns, map(_failure_row, objects(answer.get("failures"))))


def _failure_row(group: Mapping[str, Any]) -> list[Cell]:
    ids = [words(one) for one in listed(group.get("case_ids"))]
    more = (number(group.get("count")) or 0) - len(ids)
    shown = ", ".join([*ids, f"and {count(more)} more"] if more > 0 else ids)
    return [
        Cell(element("span", words(group.get("kind")).replace("_", " "), class_="tag bad")),
        Cell(count(group.get("count")), "num"),
        Cell(words(group.get("message")), "wide"),
        Cell(element("span", shown, class_="muted"), "wide"),
    ]


def _times(answer: Mapping[str, Any], report: Mapping[str, Any]) -> Markup:
    latency, usage = mapping(report.get("latency_ms")), mapping(report.get("usage"))
    tiles = [
        tile("Median time", duration(latency.get("p50")), f"95th percentile {duration(latency.get('p95'))}"),
        tile("Further attempts", count(answer.get("retried"))),
        tile("Input tokens", count(usage.get("input_tokens"))),
        tile("Output tokens", count(usage.get("output_tokens"))),
        tile("Cost", money(usage.get("cost_usd"))),
    ]
    slowest = ([Cell(words(one.get("id")), "head"), Cell(duration(one.get("duration_ms")), "num")]
               for one in objects(answer.get("slowest")))  # fmt: skip
    return joined([element("div", tiles, class_="tiles"), table([("Slowest cases", ""), ("Time", "num")], slowest)])
