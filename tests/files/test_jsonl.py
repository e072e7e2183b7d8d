"""Laws of reading datasets: strict rows, every bad line named, nothing hidden, memory flat."""

import gzip
import json
import os
import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from returns.result import Success

from beaker.core.problems import Problem
from beaker.files.jsonl import MAX_LINE, count_rows, read_lines, read_manifest, read_rows, read_split_counts

rows = st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=8), max_size=3)
blanks = st.sampled_from(["", " ", "\t", "\u00a0", "\x0b"])
ends = st.sampled_from(["\n", "\r\n", "\r"])


@pytest.fixture
def split(tmp_path: Path) -> Path:
    return tmp_path / "train.jsonl"


def problems(path: Path) -> list[Problem]:
    return [row for _, row in read_rows(path) if isinstance(row, Problem)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(rows | blanks, ends)), st.booleans(), st.booleans())
def test_read_rows__rows_and_blank_lines__come_with_their_line_numbers(
    split: Path, lines: list[tuple[Any, str]], mark: bool, last_end: bool
) -> None:
    """Whatever ends the lines, rows come in order with the line an editor shows; blank lines only count."""
    # A lone CR and an empty line that ends with LF would be one CRLF.
    assume(not any(end == "\r" and (line, other) == ("", "\n") for (_, end), (line, other) in pairwise(lines)))
    text = "".join(
        (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)) + end for line, end in lines
    )
    if not last_end:
        text = text.removesuffix("\n").removesuffix("\r")
    split.write_bytes((b"\xef\xbb\xbf" if mark else b"") + text.encode())
    assert list(read_rows(split)) == [(n, row) for n, (row, _) in enumerate(lines, 1) if not isinstance(row, str)]
    assert count_rows(split).unwrap() == sum(not isinstance(row, str) for row, _ in lines)


def test_read_rows__separators_inside_strings__end_no_line(split: Path) -> None:
    """U+2028 and U+2029 are text."""
    split.write_text('{"a":"x\u2028y\u2029z"}\n', encoding="utf-8")
    assert list(read_rows(split)) == [(1, {"a": "x\u2028y\u2029z"})]


@pytest.mark.parametrize(
    "line, code, message, hint",
    [
        (b"[1]", "BK214", "not a list", "one JSON object per line"),
        (b'"x"', "BK214", "not a string", ""),
        (b"7", "BK214", "not a number", ""),
        (b"7.5", "BK214", "not a number", ""),
        (b"true", "BK214", "not true or false", ""),
        (b"null", "BK214", "not null", ""),
        (b"{", "BK202", "column 2", "spread over several lines"),
        (b'{"a": 1,', "BK202", "column 9", "spread over several lines"),
        (b"{'a': 1}", "BK202", "column 2", "double quotes"),
        (b'{"a": 1},', "BK202", "column 9", "remove the comma"),
        (b'{"a": 1,}', "BK202", "column", "remove the comma"),
        (b'{"a": 1} {"b": 2}', "BK202", "column 10", "one whole JSON object"),
        (b'{"a": NaN}', "BK202", "NaN", ""),
        (b'{"a": [-Infinity]}', "BK202", "-Infinity", ""),
        (b'{"a": 1e999}', "BK202", "row.a must be a finite number", ""),
        (b'{"a": 1, "a": 2}', "BK202", "'a' stands twice", ""),
        (b'{"a": {"b": 1, "b": 2}}', "BK202", "'b' stands twice", ""),
        (b'{"a": "\\ud800"}', "BK202", "lone surrogate", ""),
        (b'{"\\udfff": 1}', "BK202", "lone surrogate", ""),
        (b'{"a": ' + b"[" * 300 + b"]" * 300 + b"}", "BK202", "nested deeper than 200", ""),
        (b'{"a": ' + b"[" * 100_000, "BK202", "nested deeper than 200", ""),
        (b'{"a": ' + b"1" * 5_000 + b"}", "BK202", "4300", ""),
        (b'{"a": "\xe4"}', "BK201", "not UTF-8", "Latin-1"),
        (b'{"a": "\xed\xa0\x80"}', "BK201", "not UTF-8", ""),
        (b'{"a": "\x01"}', "BK202", "column 8", ""),
        (b'\xef\xbb\xbf{"a": 1}', "BK202", "byte order mark", "remove it"),
    ],
)
def test_read_rows__bad_line__is_named_and_hides_no_other(
    split: Path, line: bytes, code: str, message: str, hint: str
) -> None:
    """A line that is no row is one problem at its place; the lines around it are read."""
    split.write_bytes(b'{"id": 1}\n\n' + line + b'\n{"id": 4}\n')
    first, (number, bad), last = read_rows(split)
    assert (first, number, last) == ((1, {"id": 1}), 3, (4, {"id": 4}))
    assert isinstance(bad, Problem)
    assert (bad.code, bad.where) == (code, f"{split}:3")
    assert message in bad.message
    assert hint in bad.hint
    assert bad.hint


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_read_rows__wide_encoding__is_recognised(split: Path, encoding: str) -> None:
    """A UTF-16 or UTF-32 file is called that, once, with what to do."""
    split.write_bytes('{"id": "a"}\n{"id": "b"}\n'.encode(encoding))
    (problem,) = problems(split)
    assert problem.code == "BK201"
    assert "UTF-" in problem.message
    assert problem.where == f"{split}:1"
    assert problem.hint == "save the file as UTF-8"
    assert count_rows(split).failure() == problem


def test_read_rows__compressed__is_recognised(split: Path) -> None:
    """A gzip file under a JSONL name is called that."""
    split.write_bytes(gzip.compress(b'{"id": "a"}\n'))
    (problem,) = problems(split)
    assert "gzip" in problem.message
    assert "unpack" in problem.hint


def test_read_rows__latin_1__names_every_line(split: Path) -> None:
    """Each line that is not UTF-8 is named; pure ASCII lines of the same file are read."""
    split.write_bytes('{"a": "ä"}\n{"a": "x"}\n{"a": "ö"}\n'.encode("latin-1"))
    assert [problem.where for problem in problems(split)] == [f"{split}:1", f"{split}:3"]
    assert (2, {"a": "x"}) in list(read_rows(split))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_read_rows__any_bytes__are_judged(split: Path, data: bytes) -> None:
    """No file makes the reader raise, and the count is that of lines that are rows or problems."""
    split.write_bytes(data)
    read = list(read_rows(split))
    assert all(isinstance(row, dict | Problem) for _, row in read)
    assert [number for number, _ in read] == sorted({number for number, _ in read})
    counted = count_rows(split)
    assert counted.value_or(1) == len(read)


def test_read_rows__unreadable__is_a_problem(tmp_path: Path) -> None:
    """A missing file and a folder are said, with line 0."""
    for path, words in ((tmp_path / "none", "No such file"), (tmp_path, "directory")):
        ((number, problem),) = read_rows(path)
        assert number == 0
        assert isinstance(problem, Problem)
        assert words in problem.message
        assert problem.where == str(path)
        assert words in count_rows(path).failure().message


def test_read_rows__many_rows__memory_stays_flat(split: Path) -> None:
    """Reading ten times the rows needs no more memory."""
    peaks = []
    for count in (2_000, 20_000):
        split.write_text("".join(f'{{"id": "{n}", "text": "{"x" * 200}"}}\n' for n in range(count)))
        tracemalloc.start()
        for _ in read_rows(split):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.5


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"], ids=["CR", "CRLF", "LF"])
def test_read_lines__any_end__memory_stays_flat(split: Path, end: str) -> None:
    """Ten times the rows take the same memory, whichever end their lines have."""
    peaks = []
    for rows in (2_000, 20_000):
        split.write_bytes(f'{{"text": "{"x" * 180}"}}{end}'.encode() * rows)
        tracemalloc.start()
        assert sum(1 for _ in read_lines(split)) == rows
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + (1 << 16)


@given(
    st.lists(st.sampled_from([b"a" * 65_534, b"a" * 65_535, b"a" * 65_536, b"a", b""]), min_size=1, max_size=4),
    st.sampled_from([b"\n", b"\r", b"\r\n"]),
    st.booleans(),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_read_lines__ends_at_the_edge_of_a_block__are_one_end(
    split: Path, parts: list[bytes], end: bytes, ends: bool
) -> None:
    """Lines are those that splitlines gives, wherever the file happens to be cut while it is read."""
    split.write_bytes(end.join(parts) + (end if ends else b""))
    expected = [(at, line) for at, line in enumerate(split.read_bytes().splitlines(), start=1) if line]
    assert list(read_lines(split)) == expected


def test_read_lines__line_that_is_too_long__is_named_and_hides_no_other(split: Path) -> None:
    """A line beyond the limit is a fault at its number, and is not held in memory; the lines around it are read."""
    with split.open("wb") as file:
        file.write(b'{"a": 1}\n{"b": "')
        file.seek(MAX_LINE, 1)
        file.write(b'"}\n{"c": 1}\n')
    first, second, third = read_lines(split)
    assert (first, third) == ((1, b'{"a": 1}'), (3, b'{"c": 1}'))
    assert second[0] == 2
    assert isinstance(second[1], Problem)
    assert (second[1].code, second[1].where) == ("BK221", f"{split}:2")
    assert count_rows(split) == Success(3)


def test_read_split_counts__folder__counts_what_is_there(tmp_path: Path) -> None:
    """Rows are counted per split; other held-out names count for the hint, anything else is ignored."""
    (tmp_path / "train.jsonl").write_text('{}\n\n{"broken\n')
    (tmp_path / "val.jsonl").write_text("{}\n")
    (tmp_path / "notes.jsonl").write_text("{}\n")
    assert read_split_counts(tmp_path).unwrap() == {"train": 2, "val": 1}


def test_read_split_counts__foreign_encoding__is_refused(tmp_path: Path) -> None:
    """A split that is no UTF-8 text is not counted; an unreadable bystander does not matter."""
    (tmp_path / "train.jsonl").write_text("{}\n", encoding="utf-16")
    (tmp_path / "test.jsonl").symlink_to("nowhere")
    (tmp_path / "val.jsonl").mkdir()
    assert [problem.code for problem in read_split_counts(tmp_path).failure()] == ["BK201", "BK701"]


def test_read_split_counts__linked_split__is_followed(tmp_path: Path) -> None:
    """Links to files are followed."""
    (tmp_path / "rows").write_text("{}\n")
    (tmp_path / "train.jsonl").symlink_to("rows")
    assert read_split_counts(tmp_path).unwrap() == {"train": 1}


def test_read_split_counts__no_folder__gets_the_right_words(split: Path) -> None:
    """A `.jsonl` path where a folder is meant, and a missing folder, are said as such."""
    assert "no such folder" in read_split_counts(split).failure()[0].message
    split.write_text("{}\n")
    (problem,) = read_split_counts(split).failure()
    assert "is a folder, and this is a file" in problem.message
    assert "the folder that holds train.jsonl" in problem.hint


def test_read_manifest__object_or_nothing(tmp_path: Path) -> None:
    """The manifest is optional; a byte-order mark is accepted."""
    assert read_manifest(tmp_path).unwrap() == {}
    (tmp_path / "manifest.json").write_bytes(b'\xef\xbb\xbf{"metadata": {"k": 1}}')
    assert read_manifest(tmp_path).unwrap() == {"metadata": {"k": 1}}


@pytest.mark.parametrize(
    "data, code",
    [(b"[]", "BK215"), (b"{", "BK202"), (b'{"a": NaN}', "BK202"), (b'{"a":1,"a":2}', "BK202"), (b"\xff", "BK201")],
)
def test_read_manifest__faulty__is_refused_with_its_place(tmp_path: Path, data: bytes, code: str) -> None:
    """A manifest is a strict JSON object in UTF-8."""
    path = tmp_path / "manifest.json"
    path.write_bytes(data)
    problem = read_manifest(tmp_path).failure()
    assert problem.code == code
    assert problem.where.startswith(str(path))
    assert problem.hint


def test_read_manifest__unreadable__is_a_problem(tmp_path: Path) -> None:
    """A manifest that is a folder is said, not raised."""
    os.mkdir(tmp_path / "manifest.json")
    assert read_manifest(tmp_path).failure().code == "BK701"


def test_read_lines__gives_the_bytes_of_each_row(split: Path) -> None:
    """Lines come as they stand, without their end, and with the number that `read_rows` gives them."""
    split.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\n  {"b":2} \r{broken\n')
    assert [*read_lines(split)] == [(1, b'{"a": 1}'), (3, b'  {"b":2} '), (4, b"{broken")]
    assert [number for number, _ in read_rows(split)] == [1, 3, 4]
