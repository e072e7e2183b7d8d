"""What a launch on this machine would warn of about the proposer's command, told before anything is launched."""

import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from returns.pipeline import is_successful

from beaker.core.config_entry import Kind
from beaker.core.launch import split_config
from beaker.core.optimizer import parse_launch_settings
from beaker.core.problems import Problem, Problems
from beaker.core.proposer_command import CommandWorld, command_warnings
from beaker.files.git import present_files

WHERE = "config.harness_optimization.command"


def judge_command(
    root: Path, config: Mapping[str, Any], environ: Mapping[str, str], *, local: bool, kind: Kind = "integration"
) -> Problems:
    """What of the configured command cannot start or finds no file, by the checkout as it stands (BK480).

    Files that Git ignores are none, and others need not be committed yet: that is told for all of them at once.
    `environ` has the `PATH`. Nothing is said of wrong settings, nor outside a Git repository. Unless runs on this
    machine are meant (`local`), the problems say that they are about these.
    """
    parsed = parse_launch_settings(split_config(config)[0], kind=kind)
    if not is_successful(parsed) or not (command := parsed.unwrap().optimizer.command):
        return ()
    present = present_files(root)
    if not is_successful(present):
        return ()
    world = CommandWorld(
        files={path: _is_executable(root / path) for path in present.unwrap()},
        first_bytes=lambda path: (root / path).read_bytes()[:8],
        program=lambda name: shutil.which(name, path=environ.get("PATH", os.defpath)) is not None,
    )
    found = tuple(command_warnings(command, world, where=WHERE))
    return found if local else tuple(_about_here(one) for one in found)


def _is_executable(path: Path) -> bool | None:
    try:
        mode = path.lstat().st_mode
    except OSError:
        return None
    return bool(mode & 0o100) if stat.S_ISREG(mode) else None


def _about_here(problem: Problem) -> Problem:
    message = f"{problem.message}; a run on this machine would be warned of it"
    return Problem(problem.code, message, problem.where, problem.hint)
