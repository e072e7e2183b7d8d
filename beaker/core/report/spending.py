"""What a run cost: rollouts, proposals, tokens and money, time."""

from collections.abc import Iterable, Mapping
from typing import Any

from beaker.core.prices import Price
from beaker.core.report.markup import Markup, element
from beaker.core.report.page import Cell, folded, table, tile
from beaker.core.report.reading import MISSING, count, duration, label, mapping, money, number, objects, words
from beaker.core.usage import report_usage
from beaker.core.wording import counted

SHOWN_PROPOSALS = 200
"""Proposals that a page lists, the latest ones; more are counted."""

_TONES = {"accepted": "good", "crashed": "bad", "timed_out": "bad", "outside_targets": "bad", "special_file": "bad",
          "invalid_tree": "bad"}  # fmt: skip


def spending(run: Mapping[str, Any], reports: Iterable[tuple[str, Mapping[str, Any]]]) -> Markup:
    """Figures of the whole run, and of each eval report (named) its tokens, cost and latency."""
    progress = mapping(run.get("progress"))
    rollouts, proposals = mapping(progress.get("rollouts")), mapping(progress.get("proposals"))
    tiles = [
        tile(
            "Rollouts",
            count(rollouts.get("issued", rollouts.get("done"))),
            _of(rollouts, ("failed", "retried", "lost")),
        ),
        tile("Proposals", count(proposals.get("made")), _of(proposals, ("accepted", "rejected", "failed"))),
        tile(
            "Tokens",
            count(progress.get("tokens")),
            None if number(progress.get("tokens")) is not None else "not recorded",
        ),
        tile(
            "Cost",
            money(progress.get("spend_usd")),
            None if number(progress.get("spend_usd")) is not None else "unknown",
        ),
        tile("Time", duration(elapsed(run)), "from start to end"),
    ]
    named = ("Input tokens", "Output tokens", "Cost", "Median time", "95th percentile")
    columns = [("Measured", ""), *((heading, "num") for heading in named)]
    return Markup(
        element("div", tiles, class_="tiles") + table(columns, (_report_row(*one) for one in reports if one[1]))
    )


def proposal_list(answer: Mapping[str, Any]) -> Markup:
    """Every proposal with what became of it; the latest ones when there are many."""
    every = objects(answer.get("proposals"))
    columns = [("Proposal", ""), ("From", "num"), ("Outcome", ""), ("Candidate", "num"), ("What was said", "")]
    listing = table(columns, map(_proposal_row, every[-SHOWN_PROPOSALS:]))
    if not listing:
        return listing
    left = len(every) - SHOWN_PROPOSALS
    earlier = element("p", f"{counted(left, 'earlier one')} not shown here", class_="muted") if left > 0 else None
    return folded(counted(len(every), "proposal"), [earlier, listing])


def proposers(run: Mapping[str, Any], answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the models of the proposers used, in the shape of an eval report; empty where nothing is known of it."""
    optimizer = mapping(mapping(run.get("settings")).get("harness_optimization"))
    stated = {model: _price(mapping(price)) for model, price in mapping(optimizer.get("prices")).items()}
    prices = {model: price for model, price in stated.items() if price is not None}
    traces = ({"usage": proposal.get("usage")} for proposal in objects(answer.get("proposals")))
    usage = report_usage(traces, prices)
    return {} if usage["input_tokens"] is None else {"usage": usage}


def elapsed(run: Mapping[str, Any]) -> float | None:
    """Milliseconds from the start of a run to its end."""
    from datetime import datetime

    try:
        start, end = (datetime.fromisoformat(run[key]) for key in ("started_at", "completed_at"))
        return (end - start).total_seconds() * 1_000
    except (KeyError, TypeError, ValueError):
        return None


def _price(stated: Mapping[str, Any]) -> Price | None:
    """A price as settings state it; `None` for half of one, which prices nothing."""
    given, answered = number(stated.get("input")), number(stated.get("output"))
    return None if given is None or answered is None else Price(given, answered)


def _of(part: Mapping[str, Any], kinds: tuple[str, ...]) -> str | None:
    """The counts that are not 0, and the limit."""
    told = [f"{count(part[kind])} {kind}" for kind in kinds if number(part.get(kind))]
    if number(part.get("limit")) is not None:
        told.insert(0, f"of {count(part['limit'])}")
    return ", ".join(told) or None


def _report_row(name: str, report: Mapping[str, Any]) -> list[Cell]:
    usage, latency = mapping(report.get("usage")), mapping(report.get("latency_ms"))
    return [
        Cell(name, "head"),
        *(Cell(count(usage.get(key)), "num") for key in ("input_tokens", "output_tokens")),
        Cell(money(usage.get("cost_usd")), "num"),
        *(Cell(duration(latency.get(key)), "num") for key in ("p50", "p95")),
    ]


def _proposal_row(proposal: Mapping[str, Any]) -> list[Cell]:
    outcome = words(proposal.get("outcome"))
    named = [proposal.get(key) for key in ("parent_id", "candidate_id")]
    parent, child = (label(one) if isinstance(one, str) else MISSING for one in named)
    tag = element("span", outcome.replace("_", " "), class_=f"tag {_TONES.get(outcome, '')}".strip())
    message = words(proposal.get("message")).strip()
    return [
        Cell(words(proposal.get("n")), "head"),
        Cell(parent, "num"),
        Cell(tag),
        Cell(child, "num"),
        Cell(message, "wide"),
    ]
