"""The folder a run's worker works in, and its removal whatever became of the worker."""

import os
import secrets
import tempfile
from pathlib import Path

from beaker.engine.folders import remove_tree


class WorkFolder:
    """The working space of one run's worker, outside any repository: a proposer that looks upwards for a Git
    repository or instructions must not find the user's own.

    `note` is a file that names it, so that a later process removes what a killed worker left. Methods raise `OSError`.
    """

    def __init__(self, note: Path, run_id: str) -> None:
        self._note = note
        self._prefix = f"beaker-{run_id}-"
        self._made: Path | None = None

    def make(self) -> Path:
        """A new, private folder, as a real path."""
        folder = Path(os.path.realpath(tempfile.gettempdir())) / f"{self._prefix}{secrets.token_hex(8)}"
        # Named before it exists: between the two a kill leaves a name without a folder, never the reverse.
        self._note.write_text(f"{folder}\n", encoding="utf-8")
        folder.mkdir(mode=0o700)
        self._made = folder
        return folder

    def remove(self) -> None:
        """Remove the folder that was made here, and the one that the note names, if there is one; no other worker of
        the run may live."""
        if self._made is not None:
            remove_tree(self._made)  # the note may be gone, with the whole place
        try:
            named = Path(self._note.read_text(encoding="utf-8").strip())
        except FileNotFoundError:
            return
        if named.is_absolute() and named.name.startswith(self._prefix):
            remove_tree(named)
        self._note.unlink(missing_ok=True)
