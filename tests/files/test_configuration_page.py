"""The configuration page says what the code does."""

import io
import re
from pathlib import Path
from typing import Any

import pytest

from beaker.cli.__main__ import run
from beaker.cli.shell import Io
from beaker.core import config, config_entry
from beaker.core.environment import BASE_ENVIRONMENT
from beaker.core.launch import LAUNCH_KEYS, plan_launch
from beaker.core.limits import LIMIT_RULES
from beaker.core.optimizer import parse_launch_settings, settings_to_json
from beaker.core.selection import select
from beaker.files.config_edit import AddEntry, Edit, SetEntryValue, edit_config
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
    assert first_cells("What a process may take") == set(LIMIT_RULES)
    for key, default in settings["harness_optimization"]["limits"].items():
        assert f"| `{key}` | {'none' if default is None else default} |" in section("What a process may take")
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


def test_edits__example__comes_out_as_shown() -> None:
    """The file before and after, as the page shows it."""
    before, after = re.findall(r"```yaml\n(.*?)```", section("How commands edit it"), flags=re.DOTALL)
    edits: list[Edit] = [SetEntryValue("invoices", "agent_key", "inv-agent"), AddEntry("bills", {"entrypoint": "m:y"})]
    assert edit_config(before.encode(), edits, file="f").unwrap().decode() == after


def test_from_python__example__works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script reads the example of the page."""
    text = PAGE.read_text(encoding="utf-8")
    block = text.split("```{code-block} yaml\n", 1)[1].split("```", 1)[0].split("\n\n", 1)[1]
    (tmp_path / ".beaker").mkdir()
    (tmp_path / ".beaker" / "beaker.yaml").write_text(block, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    (script,) = re.findall(r"```python\n(.*?)```", section("From Python"), flags=re.DOTALL)
    exec(script, names)
    assert names["config"].integration_id == "invoices"
    assert names["config"].run_config(config={"max_concurrency": 8})["max_concurrency"] == 8


def test_show__example__is_what_is_printed(tmp_path: Path) -> None:
    """The lines of the example are among those that the command prints for the file of the page."""
    text = PAGE.read_text(encoding="utf-8")
    block = text.split("```{code-block} yaml\n", 1)[1].split("```", 1)[0].split("\n\n", 1)[1]
    (tmp_path / ".git").mkdir()
    (tmp_path / ".beaker").mkdir()
    (tmp_path / ".beaker" / "beaker.yaml").write_text(block, encoding="utf-8")
    out = io.StringIO()
    shell = Io(stdout=out, stderr=out, stdin=io.StringIO(), environ={"HOME": str(tmp_path)}, cwd=tmp_path)
    assert run(("config", "show", "--origin"), shell) == 0
    (shown,) = re.findall(r"```console\n(.*?)```", section("Checking and showing it"), flags=re.DOTALL)
    lines = [line for line in shown.splitlines()[1:] if line.strip() != "..."]
    assert [line for line in out.getvalue().splitlines() if line in lines] == lines
