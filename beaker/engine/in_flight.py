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
    name, lost = _lost(path, journal)
    facts = journal.facts()
    if name is None or facts.get("lost_counted") == name:
        return
    before = facts.get("rollouts_lost", 0)
    journal.set_facts(rollouts_lost=(before if isinstance(before, int) else 0) + len(lost), lost_counted=name)


def lost_cases(path: Path, journal: Journal) -> list[str]:
    """The ids of the cases that the note names and the journal does not have, in the order in which they began.

    A note that cannot be read names none.
    """
    try:
        return list(dict.fromkeys(case_id for _, case_id in _lost(path, journal)[1]))
    except OSError:
        return []


def forget(path: Path) -> None:
    """Remove the note, once what it names is counted."""
    path.unlink(missing_ok=True)


def _lost(path: Path, journal: Journal) -> tuple[Any, list[tuple[str, str]]]:
    """The name of the note (`None`: there is none), and (tree, case id) of everything begun that is not stored."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return None, []
    name, *entries = [read for line in lines if (read := _read(line)) is not None] or [None]
    begun = list(dict.fromkeys((str(tree), str(case_id)) for tree, case_id in entries))
    by_tree: dict[str, list[str]] = {}
    for tree, case_id in begun:
        by_tree.setdefault(tree, []).append(case_id)
    stored = {(tree, case_id) for tree, ids in by_tree.items() for case_id in journal.evaluations(tree, ids)}
    return name, [one for one in begun if one not in stored]


def _line(data: object) -> bytes:
    return json.dumps(data).encode("ascii") + b"\n"


def _read(line: bytes) -> Any:
    """What a line says; `None` for one that a kill or a full disk cut short."""
    try:
        return json.loads(line)
    except ValueError:
        return None
