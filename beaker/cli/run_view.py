"""A run's answer as text: its status, how far it is, what it found, what went wrong."""

from collections.abc import Iterator, Mapping
from typing import Any

from beaker.cli.shell import Styled, one_line

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
    text = one_line(str(status)) if status else "UNKNOWN"
    return Styled(text, _ROLES.get(text.upper(), "key"))


def progress_text(run: Mapping[str, Any]) -> str:
    """How far a run is, in one line; empty when its answer says nothing of it."""
    return ", ".join(filter(None, (rollouts_text(run), search_text(run))))


def rollouts_text(run: Mapping[str, Any]) -> str:
    """How many cases have been run."""
    rollouts = mapping(mapping(run.get("progress")).get("rollouts"))
    parts = [f"{rollouts.get('done', 0)} rollouts{_of(rollouts)}"] if rollouts else []
    parts += [f"{rollouts[kind]} {kind}" for kind in ("failed", "retried", "lost") if rollouts.get(kind)]
    return ", ".join(parts)


def search_text(run: Mapping[str, Any]) -> str:
    """What has been proposed, and how good the best candidate is."""
    progress = mapping(run.get("progress"))
    proposals, best = mapping(progress.get("proposals")), mapping(progress.get("best"))
    parts = []
    if proposals.get("made"):
        kinds = [f"{proposals[kind]} {kind}" for kind in ("accepted", "rejected", "failed") if proposals.get(kind)]
        parts.append(f"{proposals['made']} proposals{_of(proposals)}" + (f" ({', '.join(kinds)})" if kinds else ""))
    if best.get("train") is not None:
        parts.append(f"best on TRAIN {score(best['train'])}")
    return ", ".join(parts)


def details(run: Mapping[str, Any]) -> Iterator[str]:
    """Indented lines under a run's status: progress, result, warnings, what went wrong, and a targets mismatch."""
    from beaker.core.strict_json import dumps

    if text := progress_text(run):
        yield f"  progress   {text}"
    if run.get("finish_reason"):
        yield f"  ended by   {one_line(str(run['finish_reason']))}"
    for line in result_lines(mapping(run.get("result"))):
        yield f"  {line}"
    for warning in run.get("warnings") or ():
        yield f"  warning    {one_line(str(mapping(warning).get('message') or warning))}"
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
    if test.get("failed_baseline") or test.get("failed_winner"):
        lines.append(f"failed     baseline {test.get('failed_baseline')}, winner {test.get('failed_winner')}")
    return lines


def score(value: object) -> str:
    """A score with three decimals, `-` when there is none."""
    return f"{value:.3f}" if isinstance(value, int | float) else "-"


def signed(value: object) -> str:
    """A difference with its sign, `-` when there is none."""
    return f"{value:+.3f}" if isinstance(value, int | float) else "-"


def mapping(value: Any) -> Mapping[str, Any]:
    """`value` when it is an object, else an empty one: answers are shown, not judged."""
    return value if isinstance(value, Mapping) else {}


def _of(part: Mapping[str, Any]) -> str:
    return f" of {part['limit']}" if part.get("limit") is not None else ""
