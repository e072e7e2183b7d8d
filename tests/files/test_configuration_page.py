"""The configuration page says what the code does."""

import re
from pathlib import Path

import pytest

from beaker.core import config, config_entry
from beaker.core.environment import BASE_ENVIRONMENT
from beaker.core.launch import LAUNCH_KEYS, plan_launch
from beaker.core.optimizer import parse_launch_settings, settings_to_json
from beaker.core.selection import select
from beaker.files.project import read_config

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the pages are not here")


def section(title: str) -> str:
    """The page's text below a heading, up to the next heading."""
    text = PAGE.read_text(encoding="utf-8")
    return re.split(r"^#+ ", text.split(f"# {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def first_cells(title: str) -> set[str]:
    """The names in the first column of the table in a section."""
    rows = re.findall(r"^\| (`[^|]*) \|", section(title), flags=re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def test_example__is_a_configuration_that_launches() -> None:
    """The example has no problem and no warning, and its defaults make a launch on this machine."""
    text = PAGE.read_text(encoding="utf-8")
    block = text.split("```{code-block} yaml\n", 1)[1].split("```", 1)[0].split("\n\n", 1)[1]
    read = read_config(block.encode(), "beaker.yaml").unwrap()
    assert read.warnings == ()
    assert read.api == "local"
    entry = select(read, None).unwrap()
    assert entry is not None
    plan = plan_launch(read, entry, {}).unwrap()
    assert plan.dataset.reference == "invoices"
    assert parse_launch_settings(dict(plan.config)).unwrap().optimizer.max_rollouts == 400


def test_tables__name_every_key__and_no_other() -> None:
    """A key that exists is documented, and one that is documented exists."""
    assert first_cells("The top of the file") == set(config.TOP_KEYS)
    assert first_cells("An entry of `integrations`") == set(config_entry.ENTRY_KEYS) - {"project_key"}
    launch = section("Launch settings")
    assert all(f"`{key}`" in launch for key in LAUNCH_KEYS)
    settings = settings_to_json(parse_launch_settings({"harness_optimization": {"command": ["x"]}}).unwrap())
    assert first_cells("Launch settings") == set(settings)
    assert first_cells("The optimizer") == set(settings["harness_optimization"])
    for stage, seconds in settings["harness_optimization"]["timeouts"].items():
        assert re.search(rf"`{stage}` \({seconds:g}\)", section("The optimizer"))


def test_defaults__in_the_tables__are_the_code_s() -> None:
    """The stated default of every numeric setting is the one that is used."""
    settings = settings_to_json(parse_launch_settings({"harness_optimization": {"command": ["x"]}}).unwrap())
    for title, values in (("Launch settings", settings), ("The optimizer", settings["harness_optimization"])):
        for key, default in values.items():
            if isinstance(default, int | float):
                written = str(default).lower()
                assert re.search(rf"^\| `{key}` \| {re.escape(written)} \|", section(title), flags=re.MULTILINE), key


def test_base_environment__is_listed() -> None:
    """Everything that passes is on the page."""
    assert " ".join(BASE_ENVIRONMENT) in section("Environment variables")
