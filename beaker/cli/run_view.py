"""A run's answer as text: its status, how far it is, what it found, what went wrong."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beaker.cli.shell import Styled, one_line
from beaker.cli.words import counted

_ROLES = {
    "COMPLETED": "ok",
    "COMPLETE": "ok",
    "FAILED": "error",
    "HELDOUT_FAILED": "error",
    "CANCELLED": "error",
    "RUNNING": "warn",
    "QUEUED": "warn",
}


def styled_status(status: object) -> Styled:
    """A status in its colour; one we do not know is shown as it is."""
    text = one_line(status) if isinstance(status, str) and status else "UNKNOWN"
    return Styled(text, _ROLES.get(text.upper(), "key"))


PREPARED = "optimization_playbook"
"""The `queue_reason` of a run of a Spec that waits for its setup at a hosted service."""

_OUTCOMES = {"no_change": "without a change", "timed_out": "timed out"}
"""Outcomes of proposals in words; the others need only their underscores removed."""


def progress_text(run: Mapping[str, Any]) -> str:
    """How far a run is, in one line; empty when its answer says nothing of it."""
    return ", ".join(filter(None, (phase_text(run), rollouts_text(run), search_text(run))))


def phase_text(run: Mapping[str, Any]) -> str:
    """What a run does before its first proposal; empty later, when the counts tell."""
    from beaker.core.runs import normal_status

    progress, status = mapping(run.get("progress")), normal_status(run.get("status"))
    rollouts, proposals = mapping(progress.get("rollouts")), mapping(progress.get("proposals"))
    if status == "QUEUED" and mapping(run.get("trigger_metadata")).get("queue_reason") == PREPARED:
        return "its setup is being prepared"
    if status != "RUNNING" or not rollouts or proposals.get("made"):
        return ""
    return "scoring the baseline" if rollouts.get("issued") or rollouts.get("done") else "setting up"


def rollouts_text(run: Mapping[str, Any]) -> str:
    """How many cases have been run."""
    rollouts = mapping(mapping(run.get("progress")).get("rollouts"))
    parts = [_counted(rollouts, "done", "rollout")] if rollouts else []
    parts += [f"{rollouts[kind]} {kind}" for kind in ("failed", "retried", "lost") if rollouts.get(kind)]
    return ", ".join(parts)


def search_text(run: Mapping[str, Any]) -> str:
    """What has been proposed, and how good the best candidate is."""
    progress = mapping(run.get("progress"))
    proposals, best = mapping(progress.get("proposals")), mapping(progress.get("best"))
    parts = []
    if proposals.get("made"):
        counts = mapping(proposals.get("outcomes")) or {
            kind: proposals[kind] for kind in ("accepted", "rejected", "failed") if proposals.get(kind)
        }
        kinds = [f"{count} {outcome_text(outcome)}" for outcome, count in counts.items()]
        parts.append(_counted(proposals, "made", "proposal") + (f" ({', '.join(kinds)})" if kinds else ""))
    if best.get("train") is not None:
        parts.append(f"best on TRAIN {score(best['train'])}")
    return ", ".join(parts)


def outcome_text(outcome: object) -> str:
    """What became of a proposal, in words."""
    return _OUTCOMES.get(str(outcome), one_line(str(outcome)).replace("_", " "))


def failure_lines(run: Mapping[str, Any]) -> list[str]:
    """The last proposal that failed, with why; nothing when none did."""
    failed = mapping(mapping(mapping(run.get("progress")).get("proposals")).get("last_failed"))
    if not failed:
        return []
    told: list[str] = str(failed.get("message") or "").strip().splitlines()
    first, rest = (told or [""])[0], told[1:]
    said = f"proposal {one_line(str(failed.get('n')))} {outcome_text(failed.get('outcome'))}"
    return [f"last fault {said}: {first}" if first else f"last fault {said}", *(f"           {line}" for line in rest)]


def spend_lines(run: Mapping[str, Any]) -> list[str]:
    """What models have used and cost so far; nothing when no call was recorded."""
    progress, settings = mapping(run.get("progress")), mapping(run.get("settings"))
    tokens, budget = progress.get("tokens"), settings.get("spend_budget_usd")
    if tokens is None:
        return []
    of = "" if budget is None else f" of {money(budget)}"
    return [f"spent      {money(progress.get('spend_usd'))}{of}, {counted(tokens, 'token')}"]


def details(run: Mapping[str, Any], *, progress: bool = True) -> Iterator[str]:
    """Indented lines under a run's status: progress (unless told above), the last proposal that failed, result,
    warnings, what went wrong, and a targets mismatch."""
    from beaker.core.strict_json import dumps

    if progress and (text := progress_text(run)):
        yield f"  progress   {text}"
    if run.get("finish_reason"):
        yield f"  ended by   {one_line(str(run['finish_reason']))}"
    for line in (*spend_lines(run), *failure_lines(run), *result_lines(mapping(run.get("result")))):
        yield f"  {line}"
    for warning in listed(run.get("warnings")):
        where, said = (str(mapping(warning).get(key) or "") for key in ("where", "message"))
        yield f"  warning    {one_line(f'{where}: {said}' if where and said else said or str(warning))}"
    message = run.get("error_message")
    if isinstance(message, str) and message.strip():
        first, *rest = message.strip().splitlines()
        yield f"  error      {first}"
        yield from (f"             {line}" for line in rest)
    if run.get("targets_imported") is not None:
        yield f"  declared   {dumps(run.get('targets'))}"
        yield f"  imported   {dumps(run['targets_imported'])}"


def result_lines(result: Mapping[str, Any]) -> list[str]:
    """What a completed run found on TEST."""
    test = mapping(result.get("test"))
    if not test:
        return []
    lines = [
        f"baseline   {score(test.get('baseline'))} on TEST",
        f"winner     {score(test.get('winner'))} on TEST ({one_line(str(result.get('winner_id')))})",
    ]
    if test.get("difference") is not None:
        interval = f"{signed(test.get('low'))} to {signed(test.get('high'))}"
        lines.append(f"difference {signed(test['difference'])}, 95 % interval {interval}, n {test.get('n')}")
        if doubts := doubts_of(test, of=result):
            lines.append(f"doubtful   {doubts}")
    if test.get("failed_baseline") or test.get("failed_winner"):
        lines.append(f"failed     baseline {test.get('failed_baseline')}, winner {test.get('failed_winner')}")
    return lines


def doubts_of(test: Mapping[str, Any], *, of: Mapping[str, Any]) -> str:
    """Why the difference on TEST says little, in words; empty when it says enough, or the baseline is the winner."""
    from beaker.core.certainty import stated_doubt

    if of.get("winner_id") is not None and of.get("winner_id") == of.get("baseline_id"):
        return ""
    return stated_doubt(test.get("n"), test.get("low"), test.get("high"))


def score(value: object) -> str:
    """A score with three decimals, `-` when there is none."""
    return f"{value:.3f}" if isinstance(value, int | float) else "-"


def money(value: object) -> str:
    """An amount in US dollars, `-` when it is not known."""
    if not isinstance(value, int | float):
        return "-"
    return f"${value:.2f}" if value >= 0.1 or not value else f"${value:.2g}" if value >= 0.0001 else "under $0.0001"


def signed(value: object) -> str:
    """A difference with its sign, `-` when there is none."""
    return f"{value:+.3f}" if isinstance(value, int | float) else "-"


def mapping(value: Any) -> Mapping[str, Any]:
    """`value` when it is an object, else an empty one: answers are shown, not judged."""
    return value if isinstance(value, Mapping) else {}


def listed(value: Any) -> Sequence[Any]:
    """`value` when it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def _counted(part: Mapping[str, Any], key: str, noun: str) -> str:
    """`3 rollouts of 100`, `1 rollout`."""
    count, limit = part.get(key, 0), part.get("limit")
    return counted(count, noun) if limit is None else f"{count} of {counted(limit, noun)}"
