"""Reading answers of an API for a page: what is there is shown, what is missing or odd is left out."""

from collections.abc import Mapping, Sequence
from typing import Any

from beaker.core.options import LARGEST
from beaker.core.strict_json import dumps
from beaker.core.values import value

MISSING = "–"
"""What stands where an answer says nothing."""

SHOWN_TEXT = 600
"""Characters of one message or value that a page shows."""


def mapping(found: Any) -> Mapping[str, Any]:
    """`found` when it is an object, else an empty one."""
    return found if isinstance(found, Mapping) else {}


def listed(found: Any) -> Sequence[Any]:
    """`found` when it is a list, else an empty one."""
    return found if isinstance(found, list | tuple) else ()


def objects(found: Any) -> tuple[Mapping[str, Any], ...]:
    """The objects in a list."""
    return tuple(item for item in listed(found) if isinstance(item, Mapping))


def number(found: Any) -> float | None:
    """`found` when it is a number of a size that means something."""
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return found if -LARGEST <= found <= LARGEST else None


def share(found: Any) -> float | None:
    """`found` when it is a score in [0, 1]."""
    read = number(found)
    return read if read is not None and 0 <= read <= 1 else None


def words(found: Any, most: int = SHOWN_TEXT) -> str:
    """Text as it is, anything else as JSON (or as Python shows what is none), nothing for `None`; cut to `most`
    characters."""
    if found is None:
        return ""
    try:
        text = found if isinstance(found, str) else dumps(found)
    except ValueError:
        text = repr(found)
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"


def score(found: Any) -> str:
    """A score with three decimals."""
    read = number(found)
    return MISSING if read is None else f"{read:.3f}"


def signed(found: Any) -> str:
    """A difference with its sign, a true minus among them."""
    read = number(found)
    return MISSING if read is None else f"{read:+.3f}".replace("-", "−")


def count(found: Any) -> str:
    """A whole number with its thousands apart; from ten million on in millions."""
    read = number(found)
    if read is None:
        return MISSING
    return f"{read:,.0f}" if read < 10_000_000 else f"{read / 1_000_000:,.1f} M"


def money(found: Any) -> str:
    """US dollars, to four digits where there are few."""
    read = number(found)
    if read is None:
        return MISSING
    return f"${read:,.2f}" if read >= 1 or read == 0 else f"${read:.4f}"


def duration(milliseconds: Any) -> str:
    """A time in the unit that fits it."""
    read = number(milliseconds)
    if read is None:
        return MISSING
    if read < 1_000:
        return f"{read:.0f} ms" if read >= 10 else f"{read:.1f} ms"
    if read < 60_000:
        return f"{read / 1_000:.1f} s"
    minutes, seconds = divmod(int(read / 1_000), 60)
    return f"{minutes} min {seconds} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


@value(kw_only=True)
class Node:
    """One candidate. `objective` is its mean on the selection set, `None` unless it was scored on all of it.

    `rollouts` is how many the run had issued when it was decided, `None` when the answer does not say.
    """

    id: str
    label: str
    parent: str | None
    status: str
    reason: str
    objective: float | None
    test: float | None
    rollouts: float | None
    changed: tuple[str, ...]


def candidates(answer: Mapping[str, Any]) -> tuple[Node, ...]:
    """The candidates of `GET .../candidates`, in order of decision; those without an id are none."""
    return tuple(_node(item) for item in objects(answer.get("candidates")) if isinstance(item.get("id"), str))


def label(candidate_id: str) -> str:
    """`#4` for the fourth candidate of a run; an id of another making as it is."""
    end = candidate_id.rpartition(".")[2]
    return f"#{end}" if end.isdecimal() else candidate_id


def _node(item: Mapping[str, Any]) -> Node:
    status, scores = words(item.get("status")), mapping(item.get("scores"))
    parent, summary = item.get("parent_id"), mapping(item.get("summary"))
    return Node(
        id=item["id"],
        label=label(item["id"]),
        parent=parent if isinstance(parent, str) else None,
        status=status,
        reason=words(item.get("reason")),
        # A child that was stopped midway has a mean too, over other cases than the rest.
        objective=None if status == "rejected" else share(mapping(scores.get("train")).get("objective")),
        test=share(mapping(scores.get("test")).get("objective")),
        rollouts=number(item.get("rollouts")),
        changed=tuple(
            f"{mark} {words(path)}"
            for mark, kind in (("+", "created"), ("~", "updated"), ("−", "deleted"))
            for path in listed(summary.get(kind))
        ),
    )


def report_of(answer: Mapping[str, Any], candidate_id: str | None, split: str) -> Mapping[str, Any]:
    """The eval report of a candidate on a split in `GET .../eval-reports`, empty without one.

    A candidate's report over its minibatch alone is none: other candidates ran on other cases.
    """
    found = (
        one
        for one in objects(answer.get("eval_reports"))
        if one.get("candidate_id") == candidate_id and one.get("split") == split and one.get("set") != "minibatch"
    )
    return {} if candidate_id is None else next(found, {})
