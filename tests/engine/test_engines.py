"""Engines and proposers that other packages register."""

from pathlib import Path
from typing import Any

import pytest
from returns.pipeline import is_successful

from beaker.core.problems import Refused
from beaker.core.search import SearchSettings, Started, entries_to_json, start, step
from beaker.engine.engines import PARETO_ENGINE, Engine, engine_of, engine_of_settings
from beaker.runtime.extensions import ENGINES, PROPOSERS, load, registered

PLUGIN = """
import attrs
from beaker.core.search import start, step
from beaker.engine.engines import Engine

def short(options):
    return Engine(lambda settings, *rest: start(attrs.evolve(settings, max_proposals=options["most"]), *rest), step)

def wrong(options):
    return options

def broken(options):
    raise RuntimeError("it never worked")
"""

ENTRY_POINTS = """[beaker.engines]
short = {0}:short
wrong = {0}:wrong
broken = {0}:broken
gone = {0}:nothing
missing = no_such_module_here:x

[beaker.proposers]
mine = {0}:mine
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that registers engines, and a proposer."""
    name = "engines_of_a_test"
    (tmp_path / f"{name}-1.dist-info").mkdir()
    (tmp_path / f"{name}.py").write_text(PLUGIN)
    (tmp_path / f"{name}-1.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (tmp_path / f"{name}-1.dist-info" / "entry_points.txt").write_text(ENTRY_POINTS.format(name))
    monkeypatch.syspath_prepend(tmp_path)


def test_registered__names_of_a_group__are_listed_without_an_import(plugin: None) -> None:
    """What cannot be imported is listed as well: metadata alone is read."""
    assert {"broken", "gone", "missing", "short", "wrong"} <= set(registered(ENGINES))
    assert "mine" in registered(PROPOSERS)
    assert registered("beaker.nothing") == ()
    with pytest.raises(LookupError):
        load(ENGINES, "nobody")


def test_engine_of__registered__gets_its_options_and_replays_its_own_logs(plugin: None) -> None:
    """A log of one engine is replayed by it, and does not follow for another."""
    engine = engine_of_settings({"harness_optimization": {"engine": "short", "engine_options": {"most": 3}}})
    state = engine.start(SearchSettings(1000, max_proposals=9), ["a", "b"], ["t"], "base").unwrap()
    assert state.settings.max_proposals == 3
    state, entries = engine.step(state, Started())
    log = entries_to_json(entries)
    assert engine.replay(log).unwrap() == state
    other = engine_of("short", {"most": 4})
    assert not is_successful(other.replay(log))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nobody", "is not installed here"),
        ("wrong", "is no beaker.engine.engines.Engine, but dict"),
        ("broken", "RuntimeError: it never worked"),
        ("gone", "AttributeError"),
        ("missing", "ModuleNotFoundError"),
    ],
)
def test_engine_of__no_engine__is_refused_saying_why(plugin: None, name: str, words: str) -> None:
    """Whatever is wrong with it."""
    with pytest.raises(Refused, match=words) as refused:
        engine_of(name, {})
    assert refused.value.problems[0].code == "BK564"


def test_engine_of__settings_of_any_build__give_the_search_of_beaker() -> None:
    """Early builds named no engine."""
    given: list[Any] = [{}, {"harness_optimization": {}}, {"harness_optimization": {"engine": "pareto"}}]
    assert [engine_of_settings(settings) for settings in given] == [PARETO_ENGINE] * 3
    assert Engine(start, step) == PARETO_ENGINE
