"""The report of a run: what it found, how it got there, what changed, what it cost."""

from collections.abc import Mapping, Sequence
from typing import Any

from beaker.core.report.case_tables import compared_cases, field_table, listed_cases
from beaker.core.report.charts import score_chart
from beaker.core.report.diffs import Documents, change_list, document_changes, patch_changes
from beaker.core.report.lineage import chosen, tree
from beaker.core.report.markup import Markup, Part, element, joined
from beaker.core.report.outcome import outcome
from beaker.core.report.page import Cell, Section, document, folded, table
from beaker.core.report.reading import (
    Node,
    candidates,
    count,
    mapping,
    number,
    objects,
    report_of,
    words,
)
from beaker.core.report.spending import proposal_list, proposers, spending
from beaker.core.values import value
from beaker.core.wording import counted

_STATUS_TONES = {"COMPLETED": "good", "FAILED": "bad", "HELDOUT_FAILED": "bad", "CANCELLED": "warn"}


@value(kw_only=True)
class RunReport:
    """What a report is made of: the answers of an API as they are (run, candidates, eval reports).

    `candidate_id` is held against the baseline; without one the winner is, or the best so far. `before` and `after`
    are the documents of the baseline and of that candidate, `None` where they are not known; `patch` is its patch.
    """

    run: Mapping[str, Any]
    candidates: Mapping[str, Any]
    reports: Mapping[str, Any]
    candidate_id: str | None = None
    before: Documents | None = None
    after: Documents | None = None
    patch: str = ""


def compared_candidate(run: Mapping[str, Any], listing: Mapping[str, Any]) -> str | None:
    """The candidate that a report is about: the winner, else the best so far, else none."""
    best = mapping(mapping(run.get("progress")).get("best")).get("candidate_id")
    found = listing.get("winner_id") or best
    return found if isinstance(found, str) else None


def candidate_ids(listing: Mapping[str, Any]) -> tuple[str, ...]:
    """The ids of the candidates in `GET .../candidates`, the baseline first."""
    nodes = candidates(listing)
    return tuple(node.id for node in sorted(nodes, key=lambda node: node.parent is not None))


def report_page(report: RunReport) -> str:
    """The page as one HTML file. Whatever the answers lack is left out; everything they say is escaped."""
    nodes = candidates(report.candidates)
    subject = report.candidate_id or compared_candidate(report.run, report.candidates)
    winner = report.candidates.get("winner_id")
    name = "Winner" if subject is not None and subject == winner else "Candidate" if report.candidate_id else "Best"
    baseline = next(iter(candidate_ids(report.candidates)), None)
    other = subject if subject != baseline else None
    measured = {
        (split, who): report_of(report.reports, who, split) for split in ("test", "train") for who in (baseline, other)
    }
    title = f"Beaker report of {words(report.run.get('id'))}"
    sections = [
        outcome(report.run, name=name, nodes=nodes, subject=subject),
        _scores(report.run, nodes, winner=subject),
        _tree(nodes, winner=subject),
        *(
            _cases(measured[split, baseline], measured[split, other], split=split, name=name)
            for split in ("test", "train")
        ),
        _changes(report, name=name),
        _costs(report, measured, baseline=baseline, name=name),
        _settings(report.run),
    ]
    return document(title, head=_head(report.run), sections=sections)


def _head(run: Mapping[str, Any]) -> Markup:
    source, dataset = mapping(run.get("github_source")), mapping(run.get("dataset"))
    status = words(run.get("status")) or "UNKNOWN"
    told = [
        f"dataset {words(dataset.get('name'))}@{words(dataset.get('revision'))[:19]}" if dataset else "",
        f"{words(source.get('repository'))} at {words(source.get('commit'))[:12]}" if source.get("commit") else "",
        f"started {_moment(run.get('started_at'))}" if run.get("started_at") else "",
    ]
    return joined(
        [
            element("p", "Beaker run report", class_="eyebrow"),
            element("h1", words(source.get("integration_id")) or words(run.get("id"))),
            element(
                "p",
                element("span", status, class_=f"tag {_STATUS_TONES.get(status, 'warn')}"),
                " ",
                element("code", words(run.get("id"))),
                " ",
                element("span", " · ".join(filter(None, told)), class_="muted"),
            ),
        ]
    )


def _scores(run: Mapping[str, Any], nodes: Sequence[Node], *, winner: str | None) -> Section:
    rollouts = mapping(mapping(run.get("progress")).get("rollouts"))
    chart = score_chart(nodes, winner=winner, spent=number(rollouts.get("issued")))
    if not chart:
        return Section("scores", "Score by rollout", chart)
    legend = [("path", "best so far"), ("", "accepted"), ("base", "baseline"), ("best", "shown in this report")]
    if any(node.objective is None for node in nodes):
        legend.append(("rejected", "rejected"))
    marks = [element("li", element("i", class_=kind or None), words_) for kind, words_ in legend]
    selection = mapping(run.get("selection"))
    lead = "The mean over the selection set of TRAIN, a failed case counting 0."
    if number(selection.get("cases")) is not None:
        cases = counted(count(selection["cases"]), "case")
        lead = f"The mean over the {cases} of TRAIN that select, a failed one counting 0."
    return Section("scores", "Score by rollout", joined([chart, element("ul", marks, class_="legend")]), lead)


def _tree(nodes: Sequence[Node], *, winner: str | None) -> Section:
    if not nodes:
        return Section("candidates", "Candidates", Markup(""))
    tested = {node.id: node.test for node in nodes if node.test is not None}
    shown = chosen(nodes, winner)
    accepted = sum(node.status == "accepted" for node in nodes)
    rejected = sum(node.status == "rejected" for node in nodes)
    lead = f"{counted(len(nodes), 'candidate')}: the baseline, {accepted} accepted, {rejected} rejected."
    every = None
    if len(shown) < len(nodes):
        lead += f" Shown are the {len(shown)} that matter most: the line of the one reported, then the best."
        every = folded(f"All {len(nodes)} candidates", tree(nodes, winner=winner, tested=tested))
    return Section("candidates", "Candidates", joined([tree(shown, winner=winner, tested=tested), every]), lead)


def _cases(before: Mapping[str, Any], after: Mapping[str, Any], *, split: str, name: str) -> Section:
    title = "Cases of TEST" if split == "test" else "Cases of TRAIN"
    if after:
        fields, cases = field_table(before, after, name=name), compared_cases(before, after, name=name)
    else:
        fields, cases = field_table(None, before, name="Baseline"), listed_cases(before)
    if not cases:
        return Section(split, title, cases)
    heading = element("h3", "Case by case") if fields else None
    lead = (
        "Held out: no decision of the search saw them."
        if split == "test"
        else "The selection set, which chose the candidate."
    )
    return Section(split, title, joined([fields, heading, cases]), lead)


def _changes(report: RunReport, *, name: str) -> Section:
    documents = (
        tuple(document_changes(report.before, report.after))
        if report.before is not None and report.after is not None
        else ()
    )
    files = tuple(patch_changes(report.patch))
    parts: list[Part] = []
    for title, changes in (("Documents", documents), ("Repository", files)):
        if changes:
            parts += [element("h3", f"{title}: {counted(len(changes), 'file')}"), change_list(changes)]
    if not parts and report.before is not None and report.after is not None:
        parts.append(element("p", "Nothing differs from the baseline.", class_="muted"))
    return Section("changes", "Changes", joined(parts), f"What the {name.lower()} changes against the baseline.")


def _costs(
    report: RunReport, measured: Mapping[tuple[str, str | None], Mapping[str, Any]], *, baseline: str | None, name: str
) -> Section:
    named = [
        (f"{'Baseline' if who == baseline else name} on {split.upper()}", found)
        for (split, who), found in measured.items()
    ]
    named.append(("Proposers", proposers(report.run, report.candidates)))
    return Section("costs", "Costs", joined([spending(report.run, named), proposal_list(report.candidates)]))


def _settings(run: Mapping[str, Any]) -> Section:
    warnings = [
        element("div", ": ".join(filter(None, (words(one.get("where")), words(one.get("message"))))), class_="notice")
        for one in objects(run.get("warnings"))
    ]
    flat = sorted(_flat(mapping(run.get("settings")), ""))
    listing = table(
        [("Setting", ""), ("Value", "")],
        ([Cell(key, "head"), Cell(element("code", text), "wide")] for key, text in flat),
    )
    facts = {
        "dataset": words(mapping(run.get("dataset")).get("revision")),
        "commit": words(mapping(run.get("github_source")).get("commit")),
        "targets": words(run.get("targets")),
        "created": words(run.get("created_at")),
        "ended": words(run.get("completed_at")),
        "attempts": words(run.get("attempts")),
    }
    about = table(
        [("", ""), ("", "")],
        ([Cell(key, "head"), Cell(element("code", text), "wide")] for key, text in facts.items() if text),
    )
    body = joined([warnings, about, folded(counted(len(flat), "setting"), listing) if flat else None])
    return Section("settings", "How it was run", body)


def _flat(settings: Mapping[str, Any], above: str) -> list[tuple[str, str]]:
    found = []
    for key, item in settings.items():
        if isinstance(item, Mapping) and item:
            found += _flat(item, f"{above}{key}.")
        else:
            found.append((f"{above}{key}", words(item) or "null"))
    return found


def _moment(text: Any) -> str:
    """A time to the minute: `2026-03-01 12:30 UTC`."""
    shown = words(text)
    return f"{shown[:10]} {shown[11:16]} UTC" if shown[10:11] == "T" else shown
