"""A note of the evaluations that were begun, so that a resumed run can say how many a kill has cost.

The note is a file beside the run's log of processes: one line per evaluation begun. What it names and the journal does
not have was lost. It is counted once, whatever moment a second kill comes at: the file's first line names it, and the
facts remember which file was counted.
"""

import json
import secrets
from pathlib import Path
from typing import Any

from beaker.engine.journal import Journal


class InFlight:
    """Writes the note of this attempt. Raises `OSError` when the disk refuses."""

    def __init__(self, path: Path) -> None:
        # Unbuffered: a line reaches the system before the evaluation begins.
        self._file = path.open("wb", buffering=0)
        self._file.write(_line(secrets.token_hex(8)))

    def begin(self, tree: str, case_id: str) -> None:
        """Note that this case of this candidate begins now."""
        self._file.write(_line([tree, case_id]))

    def close(self) -> None:
        """Stop writing."""
        self._file.close()


def count_lost(path: Path, journal: Journal) -> None:
    """Add to the fact `rollouts_lost` what the note of an earlier attempt names and the journal does not have."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return
    name, *begun = [read for line in lines if (read := _read(line)) is not None] or [None]
    facts = journal.facts()
    if name is None or facts.get("lost_counted") == name:
        return
    by_tree: dict[str, set[str]] = {}
    for entry in begun:
        by_tree.setdefault(entry[0], set()).add(entry[1])
    lost = sum(len(ids) - len(journal.evaluations(tree, sorted(ids))) for tree, ids in by_tree.items())
    before = facts.get("rollouts_lost", 0)
    journal.set_facts(rollouts_lost=(before if isinstance(before, int) else 0) + lost, lost_counted=name)


def _line(data: object) -> bytes:
    return json.dumps(data).encode("ascii") + b"\n"


def _read(line: bytes) -> Any:
    """What a line says; `None` for one that a kill or a full disk cut short."""
    try:
        return json.loads(line)
    except ValueError:
        return None
