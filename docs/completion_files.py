"""Writes the completion scripts that the wheel carries, from the parsers of the command line itself.

They lie in the package, where `beaker completion` reads them, and below `share/` of the environment, where shells look.
"""

import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHARED = {
    "bash": "share/bash-completion/completions/beaker",
    "zsh": "share/zsh/site-functions/_beaker",
    "fish": "share/fish/vendor_completions.d/beaker.fish",
}


class CompletionHook(BuildHookInterface):
    """Adds `beaker/completions/` and the files for shells to a wheel; an editable install makes scripts when asked."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        try:
            # The parsers need the standard library alone, so no dependency has to be there to build.
            from beaker.cli.completion import completion_script
        finally:
            sys.path.remove(self.root)
        folder = Path(mkdtemp(prefix="beaker-completions-"))
        for shell, place in SHARED.items():
            file = folder / f"beaker.{shell}"
            file.write_text(completion_script(shell) + "\n", encoding="utf-8")
            build_data["force_include"][str(file)] = f"beaker/completions/{file.name}"
            build_data["shared_data"][str(file)] = place
        self._folder = folder

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        from shutil import rmtree

        if version != "editable":
            rmtree(self._folder, ignore_errors=True)
