"""What a hosted build would refuse of an entry, found in the files of a checkout."""

from pathlib import Path
from typing import Any

import pytest

from beaker.core.config_entry import IntegrationEntry
from beaker.files.build_files import judge_build


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def told(root: Path, **fields: Any) -> list[tuple[str, str]]:
    return [(one.code, one.where) for one in judge_build(root, IntegrationEntry(id="a", entrypoint="m:x", **fields))]


PYTHON = '[project]\nname = "p"\nrequires-python = "{}"\n'


def test_judge_build__no_metadata__takes_any_supported_python(tmp_path: Path) -> None:
    """Without a project the default Python is taken; an image with one that no build has is refused at its key."""
    assert told(tmp_path) == []
    assert told(tmp_path, environment_base="debian_slim:3.13") == []
    assert told(tmp_path, environment_base="debian_slim:3.11") == [("BK140", "integrations.a.environment_base")]


@pytest.mark.parametrize(
    ("requirement", "base", "expected"),
    [
        (">=3.12", None, []),
        (">3.12.10", None, []),
        ("<3.12", None, [("BK141", "svc/pyproject.toml [project] requires-python")]),
        ("<3.13", "debian_slim:3.13", [("BK141", "integrations.a.environment_base")]),
        ("three", None, [("BK142", "svc/pyproject.toml [project] requires-python")]),
    ],
)
def test_judge_build__requirement_of_source_dir__is_held(
    tmp_path: Path, requirement: str, base: str | None, expected: list[tuple[str, str]]
) -> None:
    """The project of source_dir says which Pythons fit; its file is named as it lies in the repository."""
    put(tmp_path / "svc" / "pyproject.toml", PYTHON.format(requirement))
    fields = {"source_dir": "svc"} | ({} if base is None else {"environment_base": base})
    assert told(tmp_path, **fields) == expected


def test_judge_build__setup_cfg_alone__counts(tmp_path: Path) -> None:
    """The oldest place of a requirement is looked at too."""
    put(tmp_path / "setup.cfg", "[options]\npython_requires = <3\n")
    assert told(tmp_path) == [("BK141", "setup.cfg [options] python_requires")]


def test_judge_build__pip_install_from__is_a_file_inside_source_dir(tmp_path: Path) -> None:
    """The extra project lies below source_dir, links followed, and its requirement counts too."""
    put(tmp_path / "pyproject.toml", "")
    tmp_path = tmp_path / "repo"
    put(tmp_path / "svc" / "sub" / "pyproject.toml", PYTHON.format("<3.13"))
    put(tmp_path / "svc" / "pyproject.toml", PYTHON.format(">=3.13"))
    put(tmp_path / "other" / "pyproject.toml", "")
    (tmp_path / "svc" / "out").symlink_to(tmp_path.parent)
    assert told(tmp_path, source_dir="svc", pip_install_from="svc/sub/pyproject.toml") == [
        (
            "BK141",
            "svc/pyproject.toml [project] requires-python and svc/sub/pyproject.toml [project] requires-python",
        )
    ]
    for bad in ("other/pyproject.toml", "svc/none/pyproject.toml", "svc/out/pyproject.toml", "svc/sub"):
        assert told(tmp_path, source_dir="svc", pip_install_from=bad) == [
            ("BK143", "integrations.a.pip_install_from")
        ], bad
