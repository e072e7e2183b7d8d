"""How much memory checking rows takes: a few bytes a row, so that a million rows need far less than 300 MiB."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from beaker.core.row_ids import RowField
from beaker.runtime.rows import CheckedDataset
from beaker.sdk.rows import row_adapter

BYTES_A_ROW = 150
"""At most; 1,000,000 rows then take 143 MiB beside what the process takes anyway."""


def peak(folder: Path, rows: int, ids: tuple[RowField, ...]) -> int:
    """The most memory that checking so many rows of 200 bytes takes, in bytes."""
    for split, count in ("train", rows - 1), ("test", 1):
        with (folder / f"{split}.jsonl").open("w") as file:
            for at in range(count):
                file.write(json.dumps({"id": f"{split}-{at:08}", "text": "x" * 160}) + "\n")
    adapter: Any = row_adapter(dict)
    dataset = CheckedDataset(folder, adapter, ids)
    tracemalloc.start()
    try:
        dataset.check()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("ids", [(), (RowField("id", False),)], ids=["alone", "with ids"])
def test_check__more_rows__take_little_more_memory(tmp_path: Path, ids: tuple[RowField, ...]) -> None:
    """Rows are let go as they are read; of their ids eight bytes are kept, and more for the while of comparing them."""
    few, many = peak(tmp_path, 2_000, ids), peak(tmp_path, 12_000, ids)
    assert many - few < 10_000 * (BYTES_A_ROW if ids else 1)
