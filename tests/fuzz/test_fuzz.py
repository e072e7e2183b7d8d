"""Random bytes as JSONL, YAML, worker messages and change sets: read or refused with a reason, never a crash."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.changesets import change_set_from_json, change_set_to_json
from beaker.core.documents import CreateDocumentChange, DeleteDocumentChange, DocumentChangeSet
from beaker.core.problems import Problem
from beaker.core.strict_json import dumps, parse
from beaker.files.jsonl import read_rows
from beaker.files.yaml_tree import parse_yaml
from beaker.runtime.protocol import Lines, ProtocolError, decode, encode

HASH = "0" * 64
CHANGE_SET = DocumentChangeSet(
    "run",
    HASH,
    HASH,
    (
        CreateDocumentChange(group="g", name="a.md", content="x"),
        DeleteDocumentChange(source_id="s", group="g", name="b/c.md", base_sha256=HASH),
    ),
    ("g",),
)
WRITTEN: dict[str, Any] = change_set_to_json(CHANGE_SET)
SEEDS = {
    "jsonl": [b'{"id": "a", "x": [1, 2.5, null]}\n', b"\xef\xbb\xbf{}\r\n\n[1]\n", '{"ä": "\\ud800"}\n'.encode()],
    "yaml": [
        b"version: 1\nintegrations:\n  app: &a\n    entrypoint: a:b\n  other: *a\n",
        b"a: {b: [1, 'x', ]}\n--- |\n x\n",
    ],
    "messages": [b'{"id": 1, "op": "run"}\n{"id": 1, "ok": {}}\n', b'{"event": "last_words", "problems": []}\n[NaN]\n'],
    "change_sets": [dumps(WRITTEN).encode(), dumps({**WRITTEN, "changes": [{}, 1]}).encode()],
}


def jsonl(data: bytes) -> None:
    """Every line that is not blank comes as a row of JSON or as a problem, with its number."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "train.jsonl"
        path.write_bytes(data)
        found = list(read_rows(path))
    numbers = [number for number, _ in found]
    assert numbers == sorted(numbers)
    for _, row in found:
        if isinstance(row, Problem):
            assert row.message
        else:
            assert parse(dumps(row)).unwrap() == row
    if data.decode("utf-8", "replace").replace("\ufeff", "").strip():
        assert found, "something stood there, and nothing was said of it"


def yaml(data: bytes) -> None:
    """A tree, or at least one problem that says where."""
    read = parse_yaml(data, "beaker.yaml")
    if not is_successful(read):
        assert read.failure()
        assert all(problem.message and problem.where for problem in read.failure())


def messages(data: bytes) -> None:
    """Whole lines are objects that encode again, or a protocol error; arriving in pieces changes nothing."""

    def read(pieces: list[bytes]) -> list[Any]:
        lines = Lines()
        found: list[Any] = []
        for piece in pieces:
            for line in lines.feed(piece):
                try:
                    found.append(decode(line))
                except ProtocolError as error:
                    found.append(str(error))
        return found

    whole = read([data])
    assert whole == read([data[at : at + 3] for at in range(0, len(data), 3)])
    assert len(whole) == data.count(b"\n")
    for message in whole:
        if isinstance(message, dict):
            encode(message)


def change_sets(data: bytes) -> None:
    """A change set that says the same when it is written again, or problems."""
    decoded = parse(data)
    if not is_successful(decoded):
        assert decoded.failure().message
        return
    read = change_set_from_json(decoded.unwrap())
    if is_successful(read):
        assert change_set_from_json(change_set_to_json(read.unwrap())) == read
    else:
        assert all(problem.message for problem in read.failure())


READERS: dict[str, Callable[[bytes], None]] = {
    "jsonl": jsonl,
    "yaml": yaml,
    "messages": messages,
    "change_sets": change_sets,
}


def spoilt(seeds: list[bytes]) -> st.SearchStrategy[bytes]:
    """A good text with a piece of it replaced, or bytes of no meaning."""
    edit = st.tuples(st.sampled_from(seeds), st.integers(0, 400), st.integers(0, 12), st.binary(max_size=12))
    return st.binary(max_size=200) | edit.map(lambda one: one[0][: one[1]] + one[3] + one[0][one[1] + one[2] :])


def test_read__what_is_spoilt_below__is_read_where_it_is_whole() -> None:
    """So the bytes get past the first look of each reader."""
    assert change_set_from_json(WRITTEN).unwrap() == CHANGE_SET
    assert is_successful(parse_yaml(SEEDS["yaml"][0], "beaker.yaml"))
    assert [decode(line) for line in Lines().feed(SEEDS["messages"][0])][1] == {"id": 1, "ok": {}}


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.timeout(240)
def test_read__any_bytes__are_read_or_refused(kind: str) -> None:
    """No crash, no hang, and nothing passes without a word."""
    given(spoilt(SEEDS[kind]))(READERS[kind])()
