"""Cases side by side: what each gave under the baseline and under another candidate, and what differs."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

from beaker.core.report.reading import mapping, number, objects, share, words
from beaker.core.values import value

Standing: TypeAlias = Literal["worse", "better", "open", "solved"]
"""How a case stands: changed for the worse or the better, or the same and either still open or solved."""

STANDINGS: tuple[Standing, ...] = ("worse", "better", "open", "solved")

SHOWN_REMARK = 240
"""Characters of one remark that a page shows."""

EQUAL = 1e-9
"""Scores nearer than this are the same."""


@value
class Remark:
    """One thing to say of a case; `tone` is `good`, `bad` or empty."""

    tone: str
    text: str


@value
class Side:
    """What one candidate gave on a case. `objective` is `None` when it failed, and `error` then says how."""

    objective: float | None
    error: str
    fields: Mapping[str, float]
    checks: Mapping[str, Mapping[str, Any]]
    duration_ms: float | None
    attempts: float | None


@value
class Pair:
    """A case under the baseline (`before`) and under another candidate (`after`)."""

    id: str
    before: Side
    after: Side

    @property
    def change(self) -> float:
        """The difference of the objectives, a failed case counting 0."""
        return (self.after.objective or 0.0) - (self.before.objective or 0.0)

    @property
    def standing(self) -> Standing:
        """How the case stands."""
        if abs(self.change) >= EQUAL:
            return "better" if self.change > 0 else "worse"
        return "solved" if self.after.objective == 1.0 else "open"


def sides(report: Mapping[str, Any]) -> dict[str, Side]:
    """The cases of an eval report by id, in its order."""
    return {words(case.get("id")): _side(case) for case in objects(report.get("cases"))}


def pairs(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Pair, ...]:
    """The cases that both reports have, in the order of the first."""
    others = sides(after)
    return tuple(Pair(name, side, others[name]) for name, side in sides(before).items() if name in others)


def standing_pairs(paired: tuple[Pair, ...], standing: Standing) -> tuple[Pair, ...]:
    """The cases that stand so, the largest change first."""
    return tuple(sorted((one for one in paired if one.standing == standing), key=lambda one: -abs(one.change)))


def differences(pair: Pair) -> Iterator[Remark]:
    """What tells the two sides apart, and what is still wrong with the second."""
    before, after = pair.before, pair.after
    if before.error and before.error != after.error:
        yield Remark("good" if not after.error else "", f"before: {before.error}")
    if after.error:
        yield Remark("bad", after.error)
    for name in sorted(before.fields.keys() | after.fields.keys()):
        yield from _field_remarks(name, before.fields.get(name), after.fields.get(name))
    for name, check in after.checks.items():
        yield from _check_remarks(name, before.checks.get(name), check)


def faults(side: Side) -> Iterator[Remark]:
    """What is wrong with a case."""
    if side.error:
        yield Remark("bad", side.error)
    for name in sorted(side.fields):
        yield from _field_remarks(name, side.fields[name], side.fields[name])
    for name, check in side.checks.items():
        yield from _check_remarks(name, check, check)


def _side(case: Mapping[str, Any]) -> Side:
    error = mapping(case.get("error"))
    told = ": ".join(filter(None, (words(error.get("kind")), words(error.get("message"), SHOWN_REMARK))))
    scores = {
        name: read for name, item in mapping(case.get("field_scores")).items() if (read := share(item)) is not None
    }
    checks = {
        " / ".join(filter(None, (words(check.get("group")), words(check.get("name"))))): check
        for check in objects(case.get("checks"))
    }
    objective = share(case.get("objective"))
    failed = told or ("" if objective is not None else "failed")
    return Side(objective, failed, scores, checks, number(case.get("duration_ms")), number(case.get("attempts")))


def _field_remarks(name: str, before: float | None, after: float | None) -> Iterator[Remark]:
    if before is not None and after is not None and abs(after - before) >= EQUAL:
        yield Remark("good" if after > before else "bad", f"{name} {before:.3g} → {after:.3g}")
    elif after is not None and after < 1.0:
        yield Remark("", f"{name} {after:.3g}")


def _check_remarks(name: str, before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> Iterator[Remark]:
    now, message = verdict(after), words(after.get("message"), SHOWN_REMARK)
    was = now if before is None else verdict(before)
    said = f": {message}" if message and now != 1.0 else ""
    if now is None or was is None:
        return
    if abs(now - was) >= EQUAL:
        yield Remark("good" if now > was else "bad", f"{name} {_shown(was)} → {_shown(now)}{said}")
    elif now < 1.0 and after.get("informational") is not True:
        yield Remark("", f"{name} {_shown(now)}{said}")


def verdict(check: Mapping[str, Any]) -> float | None:
    """The verdict of a check as a score: 1 for a pass, 0 for a fail; `None` for one that says nothing."""
    found = check.get("verdict")
    return {"pass": 1.0, "fail": 0.0}.get(found) if isinstance(found, str) else share(found)


def _shown(score: float) -> str:
    return {1.0: "pass", 0.0: "fail"}.get(score, f"{score:.3g}")
