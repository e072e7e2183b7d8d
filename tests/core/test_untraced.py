"""When code is warned of that asks models and records none of it."""

import attrs
import pytest

from beaker.core.frameworks import FRAMEWORKS, Detection, RepoScan
from beaker.core.untraced import untraced

OPENAI, LITELLM = (
    Detection(framework=one, declared=True, evidence=(f"declares {one.name}",))
    for one in FRAMEWORKS
    if one.name in ("litellm", "openai-sdk")
)
SCAN = RepoScan(root="/", declared_distributions=frozenset(), imported_modules=frozenset(), detections=())


def scan(*detections: Detection, **more: tuple[str, ...]) -> RepoScan:
    """What was found in the code."""
    made: RepoScan = attrs.evolve(SCAN, detections=detections, **more)  # type: ignore[misc]  # a value is an attrs class
    return made


def test_untraced__models_are_asked__frameworks_and_first_place_are_named() -> None:
    """Every framework is named, and the first place in code where one is used."""
    used: Detection = attrs.evolve(LITELLM, call_sites=("app.py:3", "app.py:9"))  # type: ignore[misc]  # a value
    (problem,) = untraced(scan(OPENAI, used))
    assert (problem.code, problem.where) == ("BK353", "app.py:3")
    assert problem.message.startswith(f"models are asked with {OPENAI.name}, {used.name}, and no call is recorded")
    assert "beaker trace instrument" in problem.hint
    assert untraced(scan(OPENAI))[0].where == ""


@pytest.mark.parametrize("recorded", [{"model_call_sites": ("a.py:1",)}, {"adapter_sites": ("a.py:1",)}])
def test_untraced__calls_are_recorded_or_none_are_made__nothing_is_said(recorded: dict[str, tuple[str, ...]]) -> None:
    """One place that records is enough, and without a framework there may be nothing to record."""
    assert untraced(scan(OPENAI, **recorded)) == ()
    assert untraced(scan()) == ()
