"""`beaker skills`: guides for coding agents, listed, shown, and put where agents look."""

import os
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml

import beaker as package
from beaker.core.skills import sealed
from beaker.files import skill_files
from beaker.files.skill_files import shipped_skills

SOURCE = Path(__file__).parents[2] / "beaker" / "skills"
NAMES = ["beaker-apply", "beaker-ci", "beaker-diagnose", "beaker-integration", "beaker-run", "beaker-setup"]
Beaker = Callable[..., Any]


def test_guides__of_this_version__are_about_this_version() -> None:
    """SDK and guides are released together: every guide says the version of the package."""
    assert [(one.name, one.version) for one in shipped_skills()] == [(name, package.__version__) for name in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_guide__front_matter__is_what_agents_read(name: str) -> None:
    """The front matter is YAML with the keys and limits that agents go by, and says what we read from it."""
    text = (SOURCE / name / "SKILL.md").read_text(encoding="utf-8")
    (skill,) = shipped_skills([name])
    assert yaml.safe_load(text.split("---\n")[1]) == {
        "name": name,
        "description": skill.description,
        "metadata": {"version": skill.version},
    }
    assert re.fullmatch(r"[a-z-]{1,64}", name)
    assert 50 <= len(skill.description) <= 1024
    assert len(text.splitlines()) <= 200
    assert skill.text == text


def test_wheel__carries_the_guides() -> None:
    """What is installed has the guides of this checkout."""
    installed = Path(str(files("beaker"))) / "skills"
    assert {one.relative_to(installed): one.read_bytes() for one in installed.rglob("*.md")} == {
        one.relative_to(SOURCE): one.read_bytes() for one in SOURCE.rglob("*.md")
    }


def test_list__guides__with_what_they_are_for(beaker: Beaker) -> None:
    """Names and versions on lines of their own; --json has the whole purpose."""
    done = beaker("skills", "list")
    assert done.code == 0
    assert re.findall(r"^(\S+)  (\S+)$", done.out, re.MULTILINE) == [(name, package.__version__) for name in NAMES]
    assert "skills install .claude/skills" in done.err
    assert beaker("skills", "list", "--json").code == 0


def test_show__guide__is_printed_as_it_is(beaker: Beaker) -> None:
    """What is printed is the file, which could be saved as one."""
    done = beaker("skills", "show", "beaker-ci")
    assert (done.code, done.out) == (0, (SOURCE / "beaker-ci" / "SKILL.md").read_text(encoding="utf-8"))
    assert beaker("skills", "show", "beaker-ci", "--json").code == 0


def test_show__unknown_guide__is_refused_with_the_nearest(beaker: Beaker) -> None:
    """A name that is none says which was meant."""
    done = beaker("skills", "show", "beaker-setp")
    assert (done.code, done.out) == (2, "")
    assert "BK911 there is no skill 'beaker-setp'" in done.err
    assert "did you mean 'beaker-setup'?" in done.err


def contents(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}


def test_install__new_folder__holds_every_guide(beaker: Beaker, tmp_path: Path) -> None:
    """Folders are made, and a second time nothing changes."""
    done = beaker("skills", "install", ".claude/skills")
    assert done.code == 0
    assert done.out.endswith(f"beaker skills install: 6 guides in {tmp_path / '.claude/skills'}\n")
    before = contents(tmp_path)
    assert before == {f".claude/skills/{one.name}/SKILL.md": sealed(one).encode() for one in shipped_skills()}
    again = beaker("skills", "install", ".claude/skills", "--json")
    assert again.out.count('"action":"unchanged"') == 6
    assert contents(tmp_path) == before


def test_install__named_guides__alone_are_written(beaker: Beaker, tmp_path: Path) -> None:
    """Those that are named, each once."""
    assert beaker("skills", "install", "here", "beaker-run", "beaker-ci", "beaker-run").code == 0
    assert sorted(one.name for one in (tmp_path / "here").iterdir()) == ["beaker-ci", "beaker-run"]


def test_install__dry_run__writes_nothing(beaker: Beaker, tmp_path: Path) -> None:
    """It says what would be done."""
    done = beaker("skills", "install", "here", "--dry-run")
    assert done.out.count("  would create  ") == 6
    assert list(tmp_path.iterdir()) == []


def test_install__guide_of_an_earlier_version__is_brought_up_to_date(beaker: Beaker, tmp_path: Path) -> None:
    """What we wrote and nobody changed is ours to replace."""
    (skill,) = shipped_skills(["beaker-ci"])
    path = tmp_path / "here" / "beaker-ci" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(sealed(type(skill)(skill.name, "d", "0.1", skill.text + "older\n")))
    assert "  update  " in beaker("skills", "install", "here", "beaker-ci").out
    assert path.read_text() == sealed(skill)


@pytest.mark.parametrize("there", ["mine\n", "\udcff"])
def test_install__foreign_file__stays_and_nothing_is_written(beaker: Beaker, tmp_path: Path, there: str) -> None:
    """One file in the way leaves all of them as they are; --force replaces it."""
    path = tmp_path / "here" / "beaker-run" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(there.encode(errors="surrogateescape"))
    before = contents(tmp_path)
    done = beaker("skills", "install", "here")
    assert (done.code, done.out) == (2, "")
    assert f"BK761 {path}" in done.err
    assert contents(tmp_path) == before
    assert "  replace  " in beaker("skills", "install", "here", "--force").out
    assert path.read_text() == sealed(shipped_skills(["beaker-run"])[0])


@pytest.mark.parametrize("link", ["folder", "file", "dangling"])
def test_install__link_in_the_way__is_never_written_through(beaker: Beaker, tmp_path: Path, link: str) -> None:
    """A link for a guide or its folder is refused, with --force too, wherever it leads."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "SKILL.md").write_text("precious")
    folder = tmp_path / "here" / "beaker-run"
    folder.parent.mkdir()
    if link == "folder":
        folder.symlink_to(elsewhere)
    else:
        folder.mkdir()
        (folder / "SKILL.md").symlink_to(elsewhere / ("SKILL.md" if link == "file" else "nothing"))
    done = beaker("skills", "install", "here", "--force")
    assert done.code == 2
    assert "BK762" in done.err
    assert contents(elsewhere) == {"SKILL.md": b"precious"}
    assert not (tmp_path / "here" / "beaker-ci").exists()


def test_install__link_out_of_the_repository__is_refused(
    beaker: Beaker, tmp_path: Path, git: Callable[..., str]
) -> None:
    """A repository does not decide that something is written outside of it."""
    repository, outside = tmp_path / "repository", tmp_path / "outside"
    repository.mkdir()
    outside.mkdir()
    git("init", "-q", cwd=repository)
    (repository / ".claude").symlink_to(outside)
    done = beaker("skills", "install", ".claude/skills", "--force", cwd=repository)
    assert done.code == 2
    assert "BK116" in done.err
    assert list(outside.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_install__folder_that_cannot_be_written__leaves_nothing(beaker: Beaker, tmp_path: Path) -> None:
    """What the disk refuses is one problem, and no folder stays behind."""
    tmp_path.chmod(0o500)
    try:
        done = beaker("skills", "install", "here")
    finally:
        tmp_path.chmod(0o700)
    assert done.code == 2
    assert list(tmp_path.iterdir()) == []


def test_install__file_where_the_folder_belongs__is_refused(beaker: Beaker, tmp_path: Path) -> None:
    """A file in the place of a folder stays."""
    (tmp_path / "here").write_text("mine")
    done = beaker("skills", "install", "here")
    assert (done.code, done.out) == (2, "")
    assert (tmp_path / "here").read_text() == "mine"


def test_guides__one_that_is_damaged__is_named(beaker: Beaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that lost something says so, instead of installing it."""
    (tmp_path / "skills" / "broken").mkdir(parents=True)
    (tmp_path / "skills" / "broken" / "SKILL.md").write_text("# no front matter\n")
    monkeypatch.setattr(skill_files, "SHIPPED", tmp_path / "skills")
    done = beaker("skills", "list")
    assert done.code == 2
    assert "BK760 broken/SKILL.md" in done.err


def test_doctor__installed_guides__are_compared_with_this_version(beaker: Beaker, tmp_path: Path) -> None:
    """Nothing is said where none are; those of another version, or of none that can be told, are named."""
    assert " guides " not in beaker("--local", "doctor").out
    beaker("skills", "install", ".claude/skills")
    assert (
        f"OK    guides         those in {tmp_path}/.claude/skills are of this version"
        in beaker("--local", "doctor").out
    )
    old, broken = (tmp_path / ".claude/skills" / name / "SKILL.md" for name in ("beaker-ci", "beaker-run"))
    old.write_text(old.read_text().replace(package.__version__, "0.1"))
    broken.write_text("no front matter")
    done = beaker("--local", "doctor", "--json")
    assert f"{tmp_path}/.claude/skills has guides of another version: beaker-ci, beaker-run" in done.out
