"""The examples of docs/testing.md are executed, in the project of docs/writing-an-integration.md."""

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import beaker.testing

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```\{code-block\} \w+\n:caption: (?P<path>\S+)\n\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def test_page__examples__pass(tmp_path: Path) -> None:
    """Every test of the page passes, and its first one has ten lines beside the blank ones."""
    for page in ("writing-an-integration.md", "testing.md"):
        for block in BLOCK.finditer((DOCS / page).read_text(encoding="utf-8")):
            path = tmp_path / block["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block["text"], encoding="utf-8")
    first = (tmp_path / "test_tickets.py").read_text(encoding="utf-8")
    assert sum(bool(line.strip()) for line in first.splitlines()) <= 10
    name = "beaker" if entry_points(group="pytest11", name="beaker") else "beaker.testing.plugin"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", name, "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout


def test_page__names_every_helper() -> None:
    """What `beaker.testing` gives is told on its page, but for the class that `beaker_setup` has."""
    page = (DOCS / "testing.md").read_text(encoding="utf-8")
    assert [name for name in beaker.testing.__all__ if f"`{name}" not in page] == ["PreparedRun"]
