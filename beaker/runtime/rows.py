"""Reading and validating the rows of a dataset inside a child, one at a time, collecting every fault of both splits."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from returns.pipeline import is_successful

from beaker.core.datasets import HELD_OUT_NAMES, SPLITS
from beaker.core.problems import Problem
from beaker.core.row_ids import RowField
from beaker.files.atomic import os_problem
from beaker.files.jsonl import read_lines, read_manifest, read_row
from beaker.runtime.failures import StageFailed, StageProblem, said, traced
from beaker.runtime.repeated_ids import RepeatedIds
from beaker.sdk.rows import InvalidRow, RowAdapter

STAGE = "check_rows"

MAX_ROW_PROBLEMS = 50
"""Faults of rows that are told; the rest is counted."""


class CheckedDataset:
    """A dataset whose rows are all valid: how many there are, its metadata, and how to read them again.

    `ids` are the fields of which the id of a row's only case is made, where that is known: no two rows may have the
    same ones then.
    """

    def __init__(self, directory: Path, adapter: RowAdapter[Any], ids: tuple[RowField, ...] = ()) -> None:
        self.directory = directory
        self._ids = RepeatedIds(ids)
        self.row_counts: dict[str, int] = {}
        self.metadata: dict[str, Any] = {}
        self._adapter = adapter
        self._state: dict[str, tuple[int, int, int]] = {}

    def check(self) -> None:
        """Read and validate every row of both splits; `StageFailed` with all faults, up to `MAX_ROW_PROBLEMS`."""
        problems = self._missing_files()
        if not self.directory.is_dir():
            raise StageFailed(problems)
        hidden = bad_rows = 0
        for split in SPLITS:
            self._state[split] = self._look(split)
            count = 0
            for number, line in read_lines(self.path(split)) if self.path(split).exists() else ():
                count += 1
                found = [_problem(line)] if isinstance(line, Problem) else self._faults(split, number, line)
                bad_rows += bool(found)
                room = MAX_ROW_PROBLEMS - len(problems)
                problems += found[:room]
                hidden += len(found[room:])
            self.row_counts[split] = count
        problems += self._read_metadata()
        if not problems:
            problems += self._repeated()
        if hidden:
            message = f"{hidden} more faults; {bad_rows} lines are wrong altogether"
            problems.append(StageProblem("BK241", message, str(self.directory), stage=STAGE))
        if problems:
            raise StageFailed(problems)

    def rows(self, split: str, limit: int | None = None) -> Iterator[tuple[str, Any]]:
        """(`file:line`, row as the row model) of the first `limit` rows; `StageFailed` when the file has changed."""
        if self._look(split) != self._state[split]:
            self._changed(split)
        for count, (number, line) in enumerate(read_lines(self.path(split))):
            if count == limit:
                return
            if isinstance(line, Problem):
                self._changed(split)
            try:
                row = self._adapter.validate_json(line)
            except InvalidRow:
                if self._look(split) != self._state[split]:
                    self._changed(split)
                raise
            yield f"{split}.jsonl:{number}", row
        if self._look(split) != self._state[split]:
            self._changed(split)

    def path(self, split: str) -> Path:
        """The file of a split."""
        return self.directory / f"{split}.jsonl"

    def _faults(self, split: str, number: int, line: bytes) -> list[StageProblem]:
        where = f"{self.path(split)}:{number}"
        try:
            self._ids.note(self._adapter.validate_json(line))
        except InvalidRow as error:
            if isinstance(row := read_row(self.path(split), number, line), Problem):
                return [_problem(row)]
            hint, named = "the row must match the row model of the Integration's setup", self._ids.named(row)
            return [StageProblem("BK240", f"{fault}{named}", where, hint, STAGE) for fault in error.faults]
        except BaseException as error:  # a validator of the customer's
            hint = "a converter or validator of the row model raised it; correct it, or the row"
            return [
                StageProblem("BK240", f"validating the row raised {said(error)}", where, hint, STAGE, traced(error))
            ]
        return []

    def _repeated(self) -> list[StageProblem]:
        """A problem for each row that is bound to give the id of an earlier row's case, up to the limit."""
        if not self._ids.may_repeat():
            return []
        rows = ((place, row) for split in SPLITS for place, row in self.rows(split))
        hint = (
            "load_cases makes the id of a case of that alone: remove the row, or make it of what differs in every row"
        )
        found = [
            StageProblem(
                "BK222", f"{said}, as in {earlier}: both give one case id", f"{self.directory / place}", hint, STAGE
            )
            for place, earlier, said in self._ids.repeated(rows)
        ]
        hidden = len(found) - MAX_ROW_PROBLEMS
        if hidden > 0:
            message = f"{hidden} more rows give an id again"
            found[MAX_ROW_PROBLEMS:] = [StageProblem("BK241", message, str(self.directory), stage=STAGE)]
        return found

    def _missing_files(self) -> list[StageProblem]:
        if not self.directory.is_dir():
            hint = "name the folder that holds train.jsonl and test.jsonl (local_dataset_path)"
            if self.directory.suffix == ".jsonl":
                hint = (
                    f"a dataset is a folder with train.jsonl and test.jsonl; name the folder: {self.directory.parent}"
                )
            message = "is not a folder" if self.directory.exists() else "there is no such dataset folder"
            return [StageProblem("BK210", message, str(self.directory), hint, STAGE)]
        try:
            there = sorted(path.name for path in self.directory.iterdir() if path.suffix == ".jsonl")
        except OSError as error:
            return [_problem(os_problem(error, "list the dataset's folder", self.directory))]
        hint = f"a dataset has train.jsonl and test.jsonl; here is {', '.join(there) or 'no .jsonl file'}"
        others = [name for name in there if name.removesuffix(".jsonl").lower() in HELD_OUT_NAMES]
        hints = dict.fromkeys(SPLITS, hint)
        if others:
            hints["test"] = f"the held-out split is called test: rename {others[0]} to test.jsonl"
        found = (self.path(split) for split in SPLITS)
        return [
            StageProblem(
                "BK210",
                f"the split {path.stem!r} is a symbolic link that leads to no file",
                str(path),
                "give it a target that exists, or put the file there",
                STAGE,
            )
            if path.is_symlink()
            else StageProblem("BK210", f"the split {path.stem!r} is missing", str(path), hints[path.stem], STAGE)
            for path in found
            if not path.exists()
        ]

    def _read_metadata(self) -> list[StageProblem]:
        manifest = read_manifest(self.directory)
        if not is_successful(manifest):
            return [_problem(manifest.failure())]
        metadata = manifest.unwrap().get("metadata")
        self.metadata = metadata if isinstance(metadata, dict) else {}
        return []

    def _look(self, split: str) -> tuple[int, int, int]:
        try:
            found = os.stat(self.path(split))
        except OSError:
            return (0, 0, 0)
        return (found.st_ino, found.st_size, found.st_mtime_ns)

    def _changed(self, split: str) -> NoReturn:
        message = "the file changed while it was used"
        raise StageFailed(StageProblem("BK242", message, str(self.path(split)), "start again", STAGE))


def _problem(problem: Problem) -> StageProblem:
    return StageProblem(problem.code, problem.message, problem.where, problem.hint, STAGE)
