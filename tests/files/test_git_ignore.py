"""Laws of asking Git what a `.gitignore` names."""

from pathlib import Path

import pytest

from beaker.files.git_ignore import ignored_paths


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
