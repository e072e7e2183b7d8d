"""Which integration is meant: the decision table, and its laws."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.config import ProjectConfig
from beaker.core.config_entry import IntegrationEntry
from beaker.core.problems import Problem
from beaker.core.selection import InvalidEntry, choose, overshadowed, select

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "selection.json").read_text("utf-8")
)


def config_of(entries: list[str], default: str | None, problems: tuple[Problem, ...] = ()) -> ProjectConfig:
    made = {name: IntegrationEntry(id=name, entrypoint="a:b", problems=problems) for name in entries}
    return ProjectConfig(file="f", integrations=made, default_integration=default)


@pytest.mark.parametrize("row", VECTORS)
def test_select__decision_table__as_listed(row: dict[str, Any]) -> None:
    """Each row selects the entry, nothing, or refuses with its code and the ids."""
    config = None if row["config"] is None else config_of(row["config"]["entries"], row["config"]["default"])
    found = select(config, row["explicit"])
    if "code" in row:
        problem = found.failure()
        assert problem.code == row["code"]
        assert row["says"] in problem.message
        assert problem.hint
    else:
        entry = found.unwrap()
        assert (entry.id if entry else None) == row["result"]


IDS = st.sampled_from(["a", "b", "c", "", "A"])


@given(st.lists(IDS, unique=True), IDS | st.none(), IDS | st.none())
def test_select__any_input__gives_one_of_entry_nothing_or_problem(
    entries: list[str], default: str | None, explicit: str | None
) -> None:
    """Total, an explicit id always wins, and only an open question or a wrong name is refused."""
    found = select(config_of(entries, default), explicit)
    if explicit is not None:
        assert is_successful(found) == (explicit in entries)
        assert not is_successful(found) or found.unwrap() == IntegrationEntry(id=explicit, entrypoint="a:b")
    elif not entries:
        assert found.unwrap() is None
    elif default is not None:
        assert is_successful(found) == (default in entries)
    else:
        assert is_successful(found) == (len(entries) == 1)
    assert select(config_of(entries[::-1], default), explicit) == found


def test_select__entry_with_problems__is_refused_with_all_of_them() -> None:
    """One problem is handed on as it is, several come together; its agent key can still be asked for."""
    one, two = Problem("BK103", "no entrypoint", "f:3"), Problem("BK120", "bad name", "f:5")
    assert select(config_of(["a"], None, (one,)), None).failure() == one
    both = select(config_of(["a"], None, (one, two)), None).failure()
    assert isinstance(both, InvalidEntry)
    assert both.problems == (one, two)
    assert "f:3: no entrypoint" in both.message
    assert "f:5: bad name" in both.message
    assert is_successful(choose(config_of(["a"], None, (one, two)), None))
    assert is_successful(select(ProjectConfig(file="f"), None))


@pytest.mark.parametrize(
    ("config", "message", "hint"),
    [
        ({"integrations": ["new"]}, None, None),
        ({"integrations": ["old", "new"], "default_integration": "new"}, None, None),
        ({"integrations": []}, None, None),
        (
            {"integrations": ["old", "new"]},
            "from now on commands need --integration-id: which integration is meant is open; known are new, old",
            "pass --integration-id, or set default_integration",
        ),
        (
            {"integrations": ["new"], "default_integration": "gone"},
            "from now on commands need --integration-id: default_integration is 'gone', which names no integration; "
            "known are new",
            "correct default_integration, or pass --integration-id",
        ),
        (
            {"integrations": ["old", "new"], "default_integration": "old"},
            "commands without --integration-id mean the integration 'old', not 'new'",
            "pass --integration-id new, or change default_integration",
        ),
        (
            {"integrations": ["new"], "specs": ["new"]},
            "commands without --integration-id mean the Spec 'new', not 'new'",
            "pass --integration-id new",
        ),
    ],
)
def test_overshadowed__added_integration__is_meant_or_told(config: Any, message: str | None, hint: str | None) -> None:
    """Whoever adds one knows whether commands mean it: alone or as the default, and never beside a Spec."""
    made = ProjectConfig(
        file="b.yaml",
        integrations={one: IntegrationEntry(id=one) for one in config["integrations"]},
        default_integration=config.get("default_integration"),
        specs={one: IntegrationEntry(id=one, section="specs") for one in config.get("specs", ())},
    )
    wanted = None if message is None else Problem("BK158", message, "b.yaml", hint or "")
    assert overshadowed(made, "new") == wanted
