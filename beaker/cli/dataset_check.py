"""Rows that are to be uploaded, shown to the configured Integration first."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from beaker.cli.shell import Io, one_line

if TYPE_CHECKING:
    from beaker.cli.place import Surroundings

NOT_CHECKED = "rows are not checked against an Integration: "


def check_rows(arguments: argparse.Namespace, io: Io, around: "Surroundings", directory: Path) -> None:
    """Have the Integration read every row of both splits, in a process of its own; `Refused` with every bad row.

    Without a configuration, or with --no-check, nothing is done; where it is unclear which Integration is meant, or
    none can be run here, that is said.
    """
    if arguments.no_check or around.project is None:
        return
    from returns.pipeline import is_successful

    from beaker.core.selection import choose

    selected = choose(around.config, arguments.integration_id, arguments.spec_id)
    named = arguments.integration_id is not None or arguments.spec_id is not None
    if not is_successful(selected) and not named:
        io.note(f"{NOT_CHECKED}{selected.failure().message}; name one with --integration-id")
        return
    from beaker.cli.place import answered

    entry = answered(selected)
    if entry is None or around.config is None:
        return
    if sys.platform == "win32":
        io.note(f"{NOT_CHECKED}its code runs on Linux and macOS; use WSL, or run `beaker run smoke` elsewhere")
        return
    from beaker.cli.kept_values import granted_here
    from beaker.cli.progress import busy
    from beaker.cli.project_python import python_search, tell_python
    from beaker.cli.signals import run_async
    from beaker.core.environment import base_environment, redactor
    from beaker.core.launch import merge_config
    from beaker.core.problems import Refused
    from beaker.files.project import resolve_import_root
    from beaker.runtime.code_root import CodeRoot
    from beaker.runtime.launchable import timeouts_of
    from beaker.runtime.row_check import judge_rows

    root = around.project.git_root or around.project.root
    if entry.problems:
        raise Refused(entry.problems)
    answered(resolve_import_root(root, entry))
    granted = granted_here(arguments, io, around, entry)
    with busy(io, f"{one_line(entry.id)} reads every row"):
        judged = run_async(
            judge_rows(
                CodeRoot(root, entry.entrypoint, entry.source_dir, entry.package_import_root, kind=entry.kind),
                directory.resolve(),
                env={**base_environment(io.environ), **granted.values},
                timeouts=timeouts_of(merge_config(around.config.config_defaults, entry.config_defaults)),
                redact=redactor(granted.values.values()),
                python=python_search(arguments, io, around.project.root, around.project.git_root),
                told=lambda python: tell_python(python, io),
            )
        )
    if not is_successful(judged):
        io.note(f"the Integration {one_line(entry.id)} does not take the rows; nothing was sent (or else: --no-check)")
        raise Refused(judged.failure())
