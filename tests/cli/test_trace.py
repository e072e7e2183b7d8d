"""`beaker trace doctor` and `trace inspect` on files."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RECEIPT = {"status": "complete", "omissions": [], "counts": {"model_calls": 0}, "capabilities": {}}


@pytest.fixture
def captures(tmp_path: Path) -> Callable[..., Path]:
    """Write a receipt; later ones are newer."""
    folder = tmp_path / ".beaker/traces/captures"
    folder.mkdir(parents=True)

    def write(name: str, receipt: Any) -> Path:
        path = folder / f"{name}.receipt.json"
        path.write_text(json.dumps(receipt))
        os.utime(path, (0, len(list(folder.iterdir()))))
        return path

    return write


def test_doctor__newest_capture__is_judged(
    captures: Callable[..., Path], beaker: Callable[..., Any], conforms: Callable[[object, str], None]
) -> None:
    """The newest receipt counts, or the one that is named; an incomplete one is the answer no."""
    first, second = captures("b", RECEIPT), captures("a", RECEIPT | {"status": "error"})
    done = beaker("trace", "doctor")
    assert (done.code, done.out, f"BK750 {second}" in done.err) == (1, "", True)
    done = beaker("trace", "doctor", "--path", str(first))
    assert (done.code, done.out) == (0, f"beaker trace doctor: the capture is whole: {first}\n")
    conforms(json.loads(beaker("trace", "doctor", "--path", str(first), "--json").out), "cli-trace-doctor.json")
    assert beaker("trace", "doctor", "--path", str(first), "--require-model-calls").code == 1


def test_inspect__file_or_folder__is_printed_in_order(
    captures: Callable[..., Path], beaker: Callable[..., Any]
) -> None:
    """Keys sorted and indented for people, one line for scripts."""
    path = captures("a", {"z": 1, "a": {"é": 2}})
    done = beaker("trace", "inspect", ".beaker/traces")
    assert (done.code, done.out) == (0, '{\n  "a": {\n    "é": 2\n  },\n  "z": 1\n}\n')
    assert json.loads(beaker("trace", "inspect", str(path), "--json").out) == {"z": 1, "a": {"é": 2}}


@pytest.mark.parametrize(
    ("text", "code"),
    [(None, "BK751"), ("[1]", "BK752"), ('{"a": 1}\n{"b": 2}\n', "BK752"), ("", "BK752"), ('{"a": NaN}', "BK752")],
)
@pytest.mark.parametrize("words", [("inspect",), ("doctor", "--path")])
def test_receipt__missing_or_malformed__is_refused(
    words: tuple[str, ...], text: str | None, code: str, beaker: Callable[..., Any], tmp_path: Path
) -> None:
    """Anything but one JSON object in a file is exit code 2 with its place."""
    if text is not None:
        (tmp_path / "r.json").write_text(text)
    done = beaker("trace", *words, "r.json")
    assert (done.code, done.out, f"error: {code} " in done.err) == (2, "", True)


def test_receipt__folder_without_one__is_refused(beaker: Callable[..., Any], tmp_path: Path) -> None:
    """A folder of captures that holds none says so, and so does a receipt that cannot be read."""
    (tmp_path / "captures" / "a.receipt.json").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    assert "error: BK751" in beaker("trace", "inspect", "empty").err
    assert "error: BK701" in beaker("trace", "inspect", ".").err
