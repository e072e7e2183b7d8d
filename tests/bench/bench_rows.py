"""Figures of reading rows: rows per second for each kind of row model, from text as a dataset holds it and from decoded
JSON, with and without the extra `speed`, beside `json.loads` of the same lines."""

import dataclasses
import json
import subprocess
import sys
import timeit
from collections.abc import Callable, Iterator
from typing import Any, TypedDict

import attrs

from beaker.core.strict_json import JsonValue
from beaker.sdk.rows import row_adapter

ROWS = 3_000


@dataclasses.dataclass
class DataclassLine:
    sku: str
    count: int
    price: float


@dataclasses.dataclass
class DataclassRow:
    id: str
    text: str
    count: int
    tags: list[str]
    lines: list[DataclassLine]
    note: str | None = None


@attrs.define
class AttrsLine:
    sku: str
    count: int
    price: float


@attrs.define
class AttrsRow:
    id: str
    text: str
    count: int
    tags: list[str]
    lines: list[AttrsLine]
    note: str | None = None


class TypedDictLine(TypedDict):
    sku: str
    count: int
    price: float


class TypedDictRow(TypedDict):
    id: str
    text: str
    count: int
    tags: list[str]
    lines: list[TypedDictLine]


@dataclasses.dataclass
class JsonValueRow:
    id: str
    text: str
    count: int
    tags: list[str]
    lines: JsonValue


def models() -> Iterator[Any]:
    """One row model of each kind; pydantic's where it is installed."""
    yield from (DataclassRow, AttrsRow, TypedDictRow, JsonValueRow, dict)
    try:
        import pydantic
    except ImportError:
        return

    class PydanticLine(pydantic.BaseModel):
        sku: str
        count: int
        price: float

    class PydanticRow(pydantic.BaseModel):
        id: str
        text: str
        count: int
        tags: list[str]
        lines: list[PydanticLine]
        note: str | None = None

    yield PydanticRow


def lines() -> list[bytes]:
    """Rows of about 400 bytes with two nested objects each."""
    return [
        json.dumps(
            {
                "id": f"r{index}",
                "text": "some words " * 20,
                "count": index,
                "tags": ["a", "b"],
                "lines": [{"sku": "x", "count": 1, "price": 1.5}, {"sku": "y", "count": 2, "price": 0.5}],
            }
        ).encode()
        for index in range(ROWS)
    ]


def rate(function: Callable[[Any], Any], rows: list[Any]) -> float:
    """Rows a second at best."""
    return len(rows) / min(timeit.repeat(lambda: [function(row) for row in rows], number=1, repeat=5))


def measure() -> None:
    """Print the figures of this process."""
    texts = lines()
    parsed = [json.loads(text) for text in texts]
    floor = rate(json.loads, texts)
    print(f"json.loads: {floor:,.0f} rows/s")
    for model in models():
        adapter = row_adapter(model)
        from_text, decoded = rate(adapter.validate_json, texts), rate(adapter.validate_python, parsed)
        print(
            f"{model.__name__:14} text: {from_text:9,.0f} rows/s, {floor / from_text:5.1f}x the time of json.loads; "
            f"decoded: {decoded:9,.0f} rows/s, {floor / decoded:5.1f}x"
        )


WITHOUT = """
import runpy, sys
sys.modules["msgspec"] = None
sys.argv = [sys.argv[1], "here"]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure()
    else:
        print("with speed", flush=True)
        subprocess.run([sys.executable, __file__, "here"], check=True)
        print("without", flush=True)
        subprocess.run([sys.executable, "-c", WITHOUT, __file__], check=True)
