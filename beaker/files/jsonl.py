"""Datasets on disk: a folder with `train.jsonl`, `test.jsonl` and perhaps `manifest.json`, read strictly, row by row.

One JSON object per line. LF, CRLF and a lone CR end a line; blank lines are skipped but counted, so a row's number is
the line an editor shows. A byte-order mark at the start is accepted. Rows are streamed: memory does not grow with them,
whatever ends them, nor with a line that is too long to be one.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.datasets import HELD_OUT_NAMES, SPLITS
from beaker.core.problems import Problem, Problems
from beaker.core.strict_json import JsonObject, parse
from beaker.files.atomic import os_problem
from beaker.files.reading import open_regular, read_regular

Row: TypeAlias = dict[str, Any]

MAX_LINE = 256 << 20
"""Bytes of the longest line that is read."""

_BLOCK = 1 << 16
_BOM = b"\xef\xbb\xbf"
_MANIFEST = "manifest.json"

# What a file that is no UTF-8 text begins with, and what to say about it. UTF-32 before UTF-16: same first bytes.
_FOREIGN = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"PAR1", "Parquet"),
)


def read_rows(path: Path) -> Iterator[tuple[int, Row | Problem]]:
    """Every row of one split as `(line number from 1, row)`, or `(line number, Problem)` for a line that is none.

    A bad line never hides a later one. A file that cannot be read at all gives one problem with line number 0, or 1
    when its first bytes show that it is no UTF-8 text.
    """
    for number, line in read_lines(path):
        yield number, line if isinstance(line, Problem) else read_row(path, number, line)


def read_lines(path: Path) -> Iterator[tuple[int, bytes | Problem]]:
    """As `read_rows`, with the bytes of each line that is not blank, without its end, in place of the row."""
    try:
        with open_regular(path) as file:
            foreign = _foreign_problem(path, file)
            if foreign is not None:
                yield 1, foreign
                return
            for number, line in enumerate(_lines(file), start=1):
                if line is None:
                    yield number, _too_long(path, number)
                elif not _blank(line):
                    yield number, line.rstrip(b"\r\n")
    except OSError as error:
        yield 0, os_problem(error, "read the rows", path)


def count_rows(path: Path) -> Result[int, Problem]:
    """How many lines of `path` are not blank. Their JSON is not read."""
    try:
        with open_regular(path) as file:
            foreign = _foreign_problem(path, file)
            if foreign is not None:
                return Failure(foreign)
            return Success(sum(line is None or not _blank(line) for line in _lines(file)))
    except OSError as error:
        return Failure(os_problem(error, "count the rows", path))


def read_split_counts(directory: Path) -> Result[dict[str, int], Problems]:
    """The rows of each split that `directory` holds, as `beaker.core.datasets.validate_splits` takes them.

    A split without a file is absent. A file under another name of a held-out split (`val.jsonl`) is counted too, for
    the hint it is worth. Refused: a path that is no folder, and files that cannot be read or are no UTF-8 text.
    """
    if (problem := _folder_problem(directory)) is not None:
        return Failure((problem,))
    counts: dict[str, int] = {}
    problems: list[Problem] = []
    for name in (*SPLITS, *sorted(HELD_OUT_NAMES)):
        path = directory / f"{name}.jsonl"
        if not path.exists() and not path.is_symlink():
            continue
        counted = count_rows(path)
        if is_successful(counted):
            counts[name] = counted.unwrap()
        elif name in SPLITS:
            problems.append(counted.failure())
    return Failure(tuple(problems)) if problems else Success(counts)


def read_manifest(directory: Path) -> Result[JsonObject, Problem]:
    """The object in `manifest.json`, `{}` when there is none."""
    path = directory / _MANIFEST
    try:
        data = read_regular(path)
    except FileNotFoundError:
        return Success({})
    except OSError as error:
        return Failure(os_problem(error, "read the manifest", path))
    read = parse(data, _MANIFEST)
    if not is_successful(read):
        found = read.failure()
        where = f"{path}: {found.where}" if found.where else str(path)
        return Failure(Problem(found.code, found.message, where, "correct the file, or remove it: it is optional"))
    if not isinstance(read.unwrap(), dict):
        hint = "it is optional; its 'metadata' reaches setup as dataset.metadata"
        return Failure(Problem("BK215", "the manifest must be a JSON object", str(path), hint))
    return Success(read.unwrap())


def _folder_problem(directory: Path) -> Problem | None:
    hint = "give the folder that holds train.jsonl and test.jsonl"
    if directory.is_dir():
        return None
    if directory.exists():
        return Problem("BK216", "a dataset is a folder, and this is a file", str(directory), hint)
    return Problem("BK216", "no such folder", str(directory), hint)


def _foreign_problem(path: Path, file: BinaryIO) -> Problem | None:
    """What the first bytes say against the file; otherwise `file` stands behind a byte-order mark, if any."""
    head = file.read(4)
    for prefix, kind in _FOREIGN:
        if head.startswith(prefix):
            return _foreign(path, kind)
    if b"\x00" in head:
        return _foreign(path, "UTF-16")
    file.seek(len(_BOM) if head.startswith(_BOM) else 0)
    return None


def _foreign(path: Path, kind: str) -> Problem:
    hint = "save the file as UTF-8" if kind.startswith("UTF") else "unpack or convert it to JSON Lines in UTF-8"
    return Problem("BK201", f"the file is {kind}, not UTF-8 text", f"{path}:1", hint)


def _too_long(path: Path, number: int) -> Problem:
    hint = "write one JSON object per line; what a row refers to can lie in a file of its own"
    return Problem("BK221", f"the line has more than {MAX_LINE} bytes", f"{path}:{number}", hint)


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """The lines of a file with their ends, `None` for one that is too long; at most that much is held of it."""
    held: list[bytes] = []  # of a line that began in an earlier block
    size = 0
    while block := file.read(_BLOCK):
        while block.endswith(b"\r") and (next_byte := file.read(1)):  # an LF behind it belongs to the same end
            block += next_byte
        lines = block.splitlines(keepends=True)
        unfinished = lines.pop() if not lines[-1].endswith((b"\n", b"\r")) else b""
        if held and lines:
            size += len(lines[0])
            first = lines.pop(0)
            yield None if size > MAX_LINE else b"".join((*held, first))
            held, size = [], 0
        yield from lines
        if unfinished:
            size += len(unfinished)
            if size > MAX_LINE:
                held = [b""]  # it is none that is handed on
            else:
                held.append(unfinished)
    if held:
        yield None if size > MAX_LINE else b"".join(held)


def _blank(line: bytes) -> bool:
    return not line.strip() or (not line.isascii() and not line.decode("utf-8", "replace").strip())


def read_row(path: Path, number: int, line: bytes) -> Row | Problem:
    """One line as a row, or what is wrong with it as JSON."""
    where = f"{path}:{number}"
    if number > 1 and line.startswith(_BOM):
        hint = "remove it, as where files that each began with one were joined"
        return Problem("BK202", "the row begins with a byte order mark, which only the file may", where, hint)
    read = parse(line, "the row")
    if is_successful(read):
        row = read.unwrap()
        if isinstance(row, dict):
            return row
        hint = "write one JSON object per line"
        return Problem("BK214", f"a row is a JSON object, not {_KINDS.get(type(row), 'a number')}", where, hint)
    found = read.failure()
    if found.code == "BK201":
        hint = "the file looks like Latin-1 or Windows-1252; save it as UTF-8"
        return Problem("BK201", found.message, where, hint)
    column = found.where.partition(" column ")[2]
    return Problem(found.code, f"{found.message} (column {column})" if column else found.message, where, _hint(line))


_KINDS: dict[type, str] = {list: "a list", str: "a string", bool: "true or false", type(None): "null"}


def _hint(line: bytes) -> str:
    stripped = line.strip()
    if stripped.endswith((b",}", b"},")):
        return "remove the comma at the end"
    if stripped.startswith(b"{'"):
        return "JSON strings stand in double quotes"
    if stripped in (b"{", b"[", b"[{") or (stripped.startswith(b"{") and not stripped.endswith(b"}")):
        return "every line must hold one whole JSON object; this one looks spread over several lines"
    return "every line must hold one whole JSON object"
