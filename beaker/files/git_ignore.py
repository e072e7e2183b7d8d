"""Which paths `.gitignore` files name, asked of Git itself: its pattern rules are nobody's to write again."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from returns.pipeline import is_successful

from beaker.files.git import init_repository
from beaker.files.git_process import run_git
from beaker.files.patience import Patience


def ignored_paths(rules: bytes, paths: Sequence[str]) -> set[str]:
    """Those of `paths` (relative, with `/`, existing or not) that a `.gitignore` with the content `rules` ignores.

    Neither the user's own excludes nor any repository around take part. Without Git nothing is ignored.
    """
    if not rules.strip() or not paths:
        return set()
    with tempfile.TemporaryDirectory(prefix="beaker-ignore-") as folder:
        root = Path(folder)
        if not is_successful(init_repository(root)):
            return set()
        (root / ".gitignore").write_bytes(rules)
        return _ignored(root, paths)


def ignored_below(root: Path, paths: Sequence[str], *, patience: Patience | None = None) -> set[str]:
    """Those of `paths` below `root` that the `.gitignore` files in `root` and its folders ignore.

    A repository that lies in `root` takes no part, nor do its settings: whoever works there may write them. Without Git
    nothing is ignored. Raises `OutOfPatience`.
    """
    if not paths:
        return set()
    with tempfile.TemporaryDirectory(prefix="beaker-ignore-") as folder:
        if not is_successful(init_repository(Path(folder))):
            return set()
        return _ignored(root, paths, f"--git-dir={folder}/.git", f"--work-tree={root}", patience=patience)


def _ignored(root: Path, paths: Sequence[str], *options: str, patience: Patience | None = None) -> set[str]:
    # `./` keeps a name that begins with `:` from being read as a pathspec.
    asked = b"".join(b"./" + os.fsencode(path) + b"\0" for path in paths)
    settings = ("-c", "core.excludesFile=")
    question = (*options, *settings, "check-ignore", "--no-index", "-z", "--stdin")
    found = run_git(root, *question, given=asked, patience=patience)
    if not is_successful(found):
        return set()
    done = found.unwrap()
    # 0: some are ignored, 1: none is, anything else: Git could not say.
    if done.returncode != 0:
        return set()
    return {os.fsdecode(path).removeprefix("./") for path in done.stdout.split(b"\0")[:-1]}
