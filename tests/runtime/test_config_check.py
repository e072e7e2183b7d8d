"""Judging a configuration file whole: every fault of every entry, in the order of the file, with its line."""

from pathlib import Path

import pytest

from beaker.files.project import find_project
from beaker.runtime.config_check import ConfigReport, check_config

GOOD = """\
integrations:
  app:
    entrypoint: m:x
    package_import_root: src
config_defaults:
  dataset_ref: d
  harness_optimization: {command: ['true']}
"""


def checked(root: Path, text: str | bytes, *, local: bool = False) -> ConfigReport:
    """The report about a project with this file, whose module `m` lies in `src`."""
    (root / ".git").mkdir(exist_ok=True)
    (root / "src").mkdir(exist_ok=True)
    (root / "src" / "m.py").touch()
    config = root / ".beaker" / "beaker.yaml"
    config.parent.mkdir(exist_ok=True)
    config.write_bytes(text if isinstance(text, bytes) else text.encode())
    project = find_project(root).unwrap()
    assert project is not None
    return check_config(project, local=local)


def told(report: ConfigReport) -> list[tuple[str, str]]:
    return [(one.code, one.where.removeprefix(".beaker/beaker.yaml")) for one in report.problems]


def doubted(report: ConfigReport) -> list[tuple[str, str]]:
    return [(one.code, one.where.removeprefix(".beaker/beaker.yaml")) for one in report.warnings]


@pytest.mark.parametrize("local", [True, False])
def test_check_config__good_file__has_nothing_to_tell(tmp_path: Path, local: bool) -> None:
    """A file that can be launched as it stands has neither problems nor warnings."""
    assert checked(tmp_path, GOOD, local=local) == ConfigReport(file=".beaker/beaker.yaml", integrations=("app",))
    assert checked(tmp_path, "", local=local) == ConfigReport(file=".beaker/beaker.yaml")


def test_check_config__faults_everywhere__are_told_together_in_order(tmp_path: Path) -> None:
    """Problems of entries, settings, folders, builds and the choice stand in the order of the lines, each once."""
    text = """\
default_integration: ap
integrations:
  app:
    entrypoint: m:x
    source_dir: gone
  b:
    entrypoint: m.py:x
    requird_env: [A]
  c.d:
    entrypoint: n:x
    package_import_root: src
    environment_base: debian_slim:3.11
    config_defaults: {max_concurrency: 0}
config_defaults:
  max_concurency: 3
  dataset_ref: d
  dataset_id: e
  local_dataset_path: nowhere
"""
    report = checked(tmp_path, text)
    assert told(report) == [
        ("BK111", ":1"), ("BK117", ":5"), ("BK102", ":7"), ("BK140", ":12"), ("BK410", ":13"), ("BK402", ":15"),
        ("BK404", ":17"),
    ]  # fmt: skip
    assert [one for one in doubted(report) if one[0] != "BK410"] == [
        ("BK106", ":8"),
        ("BK108", ":10"),
        ("BK404", ":18"),
    ]
    hints = {one.code: one.hint for one in (*report.problems, *report.warnings)}
    assert hints["BK111"] == "did you mean 'app'?"
    assert hints["BK106"] == "did you mean 'required_env'?"
    assert "max_concurrency" in hints["BK402"]
    assert (report.integrations, report.specs) == (("app", "b", "c.d"), ())


def test_check_config__place__decides_how_far_settings_are_judged(tmp_path: Path) -> None:
    """What only a run on this machine refuses is a warning elsewhere; what only a build refuses is one here."""
    text = GOOD.replace("    package", "    environment_base: x:3.11\n    package").replace(
        "command: ['true']", "seed: 1"
    )
    assert (told(checked(tmp_path, text)), doubted(checked(tmp_path, text))) == (
        [("BK140", ":4")],
        [("BK410", ":8")],
    )
    here = checked(tmp_path, text, local=True)
    assert (told(here), doubted(here)) == ([("BK410", ":8")], [("BK140", ":4")])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: b: c\n", [("BK101", ":1:5")]),
        ("integrations:\n\t- x\n", [("BK101", ":2:1")]),
        (b"a: \xff\n", [("BK101", ":1")]),
        ("[1]\n", [("BK102", ":1")]),
        ("integrations: [1]\nagent_key: k\napi: https://h\n", [("BK102", ":1"), ("BK105", ":2"), ("BK102", ":3")]),
        ("integrations: {a: {}, a: {}}\n", [("BK101", ":1")]),
    ],
)
def test_check_config__unusable_file__names_every_line(
    tmp_path: Path, text: str | bytes, expected: list[tuple[str, str]]
) -> None:
    """A file that cannot be read as a configuration is reported with all that is wrong with it."""
    report = checked(tmp_path, text)
    assert told(report) == expected
    assert (report.integrations, report.specs) == ((), ())


def test_check_config__several_entries__are_no_fault(tmp_path: Path) -> None:
    """Without a default such a file works with an id, so that is a warning; a dangling default of none is told."""
    several = GOOD.replace("config_d", "  b: {entrypoint: 'm:y', package_import_root: src}\nconfig_d")
    report = checked(tmp_path, several)
    assert (told(report), doubted(report)) == ([], [("BK112", "")])
    assert told(checked(tmp_path, "default_integration: gone\n")) == []


def test_check_config__specs__are_judged_like_integrations(tmp_path: Path) -> None:
    """Entries of the Spec generation are looked for by their target, and a wrong default is told at its line."""
    text = (
        "specs:\n  s:\n    target: m:Box.build\n    package_import_root: src\n  t:\n    target: n:x\ndefault_spec: z\n"
    )
    report = checked(tmp_path, text)
    assert told(report) == [("BK111", ":7")]
    assert ("BK108", ":6") in doubted(report)
    assert ("BK108", ":3") not in doubted(report)
    assert ("BK108", ":2") in doubted(checked(tmp_path, "spec:\n  target: n:x\n"))


def test_check_config__variables__are_told_when_they_count_for_nothing(tmp_path: Path) -> None:
    """The dotenv file beside the configuration is looked at by its names alone; one that stops commands is a fault."""
    text = GOOD.replace("    package", "    required_env: [TOKEN]\n    package")
    checked(tmp_path, text)
    variables = tmp_path / ".beaker" / ".env"
    variables.write_text("TOKEN=hush\nBEAKER_AGENT_KEY=k\nBEAKER_API_KEY=hush\nOTHER=hush\n")
    report = checked(tmp_path, text)
    assert [(one.code, one.where, one.message.split()[0]) for one in report.warnings] == [
        ("BK134", ".beaker/.env", "BEAKER_API_KEY"),
        ("BK134", ".beaker/.env", "OTHER"),
    ]
    assert "hush" not in repr(report)
    variables.write_bytes(b"A=\xff\n")
    assert [one.code for one in checked(tmp_path, text).problems] == ["BK130"]


def test_check_config__file_that_cannot_be_read__is_told(tmp_path: Path) -> None:
    """A file that goes away is a problem, no traceback."""
    checked(tmp_path, GOOD)
    project = find_project(tmp_path).unwrap()
    assert project is not None
    project.config_path.unlink()
    assert [one.code for one in check_config(project, local=True).problems] == ["BK701"]
