"""Answers on record: what a decision says for each row of a table, words included.

What a refusal says is what people see, so a change of it is a change of the product. Where it is meant, run the tests
with BEAKER_RECORD=1, which writes the record anew, and read the difference before it is committed.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from returns.result import Failure, Result

from beaker.core.problems import Problem

RECORDS = Path(__file__).parents[1] / "vectors" / "record"

OnRecord = Callable[[str, Callable[..., object], Sequence[Sequence[Any]]], None]


@pytest.fixture
def on_record(request: pytest.FixtureRequest) -> OnRecord:
    """Asserts that a table, by its name, with its decision and the arguments of each row, answers as on record."""
    path = RECORDS / f"{request.path.stem.removeprefix('test_record_')}.json"

    def check(name: str, decide: Callable[..., object], rows: Sequence[Sequence[Any]]) -> None:
        found = [answer(decide, row) for row in rows]
        recorded = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if os.environ.get("BEAKER_RECORD"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(written({**recorded, name: found}), encoding="utf-8")
        else:
            assert found == recorded[name]

    return check


def answer(decide: Callable[..., object], arguments: Sequence[Any]) -> list[str]:
    """What a decision gives; a refusal of a constructor is an answer too."""
    try:
        return lines(decide(*arguments))
    except (TypeError, ValueError) as error:
        return [f"{type(error).__name__}: {error}"]


def lines(found: object) -> list[str]:
    """An answer as lines of text: a value, or each problem with its code, place and hint."""
    match found:
        case Result():
            return lines(found.failure() if isinstance(found, Failure) else found.unwrap())
        case Problem(code=code, message=message, where=where, hint=hint):
            extra = {name: getattr(found, name) for name in ("status", "detail", "problems") if hasattr(found, name)}
            return [f"{type(found).__name__} {code} | {where} | {message} | {hint}" + (f" | {extra}" if extra else "")]
        case tuple() | list():
            return [line for one in found for line in lines(one)]
        case _ if isinstance(found, Iterator):
            return lines(list(found))
        case _:
            return [shortened(repr(found))]


def shortened(line: str) -> str:
    """A long line by its beginning and its hash."""
    return line if len(line) <= 600 else f"{line[:500]}... sha256 {sha256(line.encode()).hexdigest()}"


def written(record: dict[str, list[list[str]]]) -> str:
    """The record as JSON, a line for each row."""
    tables = []
    for name, rows in record.items():
        listed = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in rows)
        tables.append(f" {json.dumps(name)}: [\n  {listed}\n ]")
    return "{\n" + ",\n".join(tables) + "\n}\n"
