"""The pytest plugin in projects of its own, and what it costs the others."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from textwrap import dedent

import pytest

pytestmark = pytest.mark.processes

CONFIG = """\
integrations:
  app: {entrypoint: "app:integration"}
  other: {entrypoint: "lib.other:integration"}
default_integration: app
config_defaults: {local_dataset_path: data}
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path, write: Callable[..., Path]) -> Run:
    """Runs pytest in a project with two Integrations, a dataset, and the test file that is given."""
    write()
    write("NAME = 'other'", "lib/other.py")
    (tmp_path / ".beaker").mkdir()
    (tmp_path / ".beaker" / "beaker.yaml").write_text(CONFIG)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.jsonl").write_text('{"id": "a", "x": 1}\n')
    (tmp_path / "data" / "test.jsonl").write_text('{"id": "b", "x": 2}\n')
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\nfilterwarnings = error\n")
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}

    def start(test: str, *argv: str, cwd: Path = tmp_path, alone: bool = True) -> "subprocess.CompletedProcess[str]":
        (tmp_path / "test_app.py").write_text(dedent(test))
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *plugin(alone), *argv],
            cwd=cwd,
            env=environment | ({"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} if alone else {}),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return start


def plugin(alone: bool) -> list[str]:
    """How it is loaded: by itself, as it is installed with Beaker, which an editable install of long ago does not know;
    by its name where no other plugin is to be."""
    if not entry_points(group="pytest11", name="beaker"):
        return ["-p", "beaker.testing.plugin"]
    return ["-p", "beaker"] if alone else []


CASES = """
    from beaker.testing import run_case_once, score_once

    def test_cases(beaker_integration, beaker_cases):
        assert [case.id for case in beaker_cases] == ["a", "b"]
        for case in beaker_cases:
            assert score_once(beaker_integration, case, run_case_once(beaker_integration, case)).objective == 1
    """


def test_fixtures__of_the_configured_integration__need_no_option(run: Run, tmp_path: Path) -> None:
    """The project's configuration says the Integration and the dataset, also from a folder below."""
    done = run(CASES)
    assert done.returncode == 0, done.stdout
    done = run(CASES, "..", cwd=tmp_path / "lib")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("target", ["other", "lib/other.py", "lib/other.py:integration", "lib.other:integration"])
def test_option__id_file_or_entry_point__chooses(run: Run, target: str) -> None:
    """The Integration is named in any of the ways in which one is named elsewhere."""
    test = "def test_module(beaker_integration): assert beaker_integration.run_case.__module__ == 'lib.other'"
    done = run(test, "--beaker-integration", target)
    assert done.returncode == 0, done.stdout


def test_fixtures__without_configuration__say_what_to_do(run: Run, tmp_path: Path) -> None:
    """One message, without the inside of Beaker."""
    (tmp_path / ".beaker" / "beaker.yaml").unlink()
    done = run(CASES)
    assert done.returncode == 1
    assert "BK119" in done.stdout
    assert "pass --beaker-integration FILE.py" in done.stdout
    assert "BK405" in run(CASES, "--beaker-integration", "app.py").stdout
    (tmp_path / ".beaker" / "beaker.yaml").write_text("integrations: [")
    assert "beaker.yaml:1" in run(CASES).stdout


def test_dataset__of_a_project__replaces_the_configured_one(run: Run) -> None:
    """A fixture `beaker_dataset` gives a folder or rows."""
    done = run("""
        import pytest

        @pytest.fixture(scope="session")
        def beaker_dataset():
            return [{"id": "mine", "x": 1}]

        def test_cases(beaker_cases, beaker_setup):
            assert [case.id for case in beaker_cases] == ["mine"] and beaker_setup.test == ()
        """)
    assert done.returncode == 0, done.stdout


def test_failure__in_a_hook__shows_the_customers_line(run: Run, write: Callable[..., Path]) -> None:
    """A report shows the test and the hook, and none of Beaker's own frames between them."""
    write("async def run_case(*, case_input, runtime):\n    assert case_input == {'a': 1}, 'theirs'\n")
    done = run(CASES, "--tb=short")
    assert done.returncode == 1
    assert "theirs" in done.stdout
    assert "raised by run_case" in done.stdout
    assert "beaker/testing/" not in done.stdout


def test_plugin__unused__loads_nothing_of_beaker(run: Run) -> None:
    """A project that does not use it pays for four small modules, and sees an option in the help."""
    test = """
        import sys

        def test_nothing():
            loaded = {name for name in sys.modules if name.partition(".")[0] == "beaker"}
            assert loaded == {"beaker", "beaker.sdk", "beaker.testing", "beaker.testing.plugin"}
        """
    done = run(test, alone=False)
    assert done.returncode == 0, done.stdout
    assert "--beaker-integration=TARGET" in run("", "--help", alone=False).stdout


def test_plugin__in_a_process_that_imported_beaker__changes_nothing(run: Run, tmp_path: Path) -> None:
    """A hook may itself run pytest; that Beaker was imported before is no warning, which may be an error there."""
    run("def test_nothing(): pass")
    program = "import sys, beaker, pytest; sys.exit(pytest.main(['-q', '-W', 'error', 'test_app.py']))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
