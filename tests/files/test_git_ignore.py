"""Laws of asking Git what a `.gitignore` names."""

from pathlib import Path

import pytest

from beaker.files.git import init_repository
from beaker.files.git_ignore import ignored_below, ignored_paths


def test_ignored_paths__patterns__follow_git() -> None:
    """Folders, negation, anchors and globs mean what they mean to Git, for paths that need not exist."""
    rules = b"build/\n*.log\n!keep.log\n/only-here.txt\n"
    paths = ["build/a/b.txt", "src/build/c", "x.log", "keep.log", "only-here.txt", "sub/only-here.txt", "src/a.py"]
    assert ignored_paths(rules, paths) == {"build/a/b.txt", "src/build/c", "x.log", "only-here.txt"}


def test_ignored_paths__odd_names__are_taken_literally() -> None:
    """A name that looks like an option, a pathspec or a line break is still a name."""
    paths = ["-x.log", ":(top).log", "a\nb.log", "é.log", "plain"]
    assert ignored_paths(b"*.log\n", paths) == set(paths) - {"plain"}


def test_ignored_paths__user_excludes__take_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user ignores everywhere is not the project's rule."""
    (tmp_path / ".config" / "git").mkdir(parents=True)
    (tmp_path / ".config" / "git" / "ignore").write_text("*.txt\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert ignored_paths(b"*.log\n", ["a.txt", "a.log"]) == {"a.log"}


def test_ignored_paths__no_rules_or_paths__ignore_nothing() -> None:
    """Without rules, or without paths, there is nothing to ask."""
    assert ignored_paths(b"  \n", ["a"]) == set()
    assert ignored_paths(b"*\n", []) == set()


def test_ignored_below__files_of_every_folder__count(tmp_path: Path) -> None:
    """Each `.gitignore` speaks for its own folder; one that ignores everything, itself included, does so."""
    for path, rules in {".gitignore": "*.log\n", "sub/.gitignore": "!keep.log\nx\n", ".venv/.gitignore": "*\n"}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(rules)
    paths = ["a.log", "sub/keep.log", "sub/x", "x", ".venv/.gitignore", ".venv/lib/y.py", ":(top).log", "é.log"]
    assert ignored_below(tmp_path, paths) == set(paths) - {"sub/keep.log", "x"}
    assert ignored_below(tmp_path, []) == set()


def test_ignored_below__repository_and_its_settings__take_no_part(tmp_path: Path) -> None:
    """Neither what it excludes by itself, nor a program that it names."""
    init_repository(tmp_path).unwrap()
    (tmp_path / ".git" / "info").mkdir(exist_ok=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("*\n")
    with (tmp_path / ".git" / "config").open("a") as file:
        file.write(f"[core]\n\tfsmonitor = touch {tmp_path}/ran\n\tbare = true\n")
    assert ignored_below(tmp_path, ["a.py"]) == set()
    assert not (tmp_path / "ran").exists()
