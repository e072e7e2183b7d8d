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
from beaker.core.selection import InvalidEntry, choose, select

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
