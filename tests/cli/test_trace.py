"""`beaker trace instrument`, `trace doctor` and `trace inspect` on files."""

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


def project(folder: Path, code: str) -> Path:
    (folder / "pyproject.toml").write_text('[project]\nname = "p"\ndependencies = ["litellm", "openai", "logfire"]\n')
    (folder / "app.py").write_text(f"import litellm\nimport openai\n{code}\n")
    return folder


def test_instrument__project__tells_what_is_used_and_left_to_do(beaker: Callable[..., Any], tmp_path: Path) -> None:
    """Each framework with its adapter, evidence and places; nothing is changed, whatever the options."""
    folder = project(tmp_path, "openai.OpenAI()\nlitellm.completion()")
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    done = beaker("trace", "instrument")
    assert done.code == 0
    assert done.out.splitlines() == [
        "beaker trace instrument: litellm, openai-sdk",
        "  litellm  beaker.tracing.integrations.litellm",
        "    declares litellm; imports litellm at app.py:1",
        "    used at app.py:4",
        "  openai-sdk  by hand: runtime.trace.model_call",
        "    declares openai; imports openai at app.py:2",
        "    used at app.py:3",
        "  records elsewhere, and stays: logfire",
    ]
    assert "Next:\n  1. Have calls of models recorded: use beaker.tracing.integrations.litellm" in done.err
    for more in ("--print", "--no-install"):
        assert beaker("trace", "instrument", "--dir", ".", more).out == done.out
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    ("code", "wired"),
    [
        ("litellm.completion()", False),
        ("from beaker.tracing.integrations.verifiers import instrument\ninstrument(env)", False),
        ("from beaker.tracing.integrations.litellm import registered\nwith registered(trace): pass", True),
        ("runtime.trace.model_call()", True),
    ],
)
def test_instrument__check__answers_with_its_exit_code(
    code: str, wired: bool, beaker: Callable[..., Any], tmp_path: Path, conforms: Callable[[object, str], None]
) -> None:
    """0 when calls of models are recorded, 1 when they are not; JSON says the same on standard output."""
    project(tmp_path, code)
    done = beaker("trace", "instrument", "--check")
    assert (done.code, f"error: BK753 {tmp_path}: no call of a model is recorded" in done.err) == (not wired, not wired)
    told = beaker("trace", "instrument", "--check", "--json")
    said = json.loads(told.out)
    conforms(said, "cli-trace-instrument.json")
    assert (told.code, said["instrumented"], told.err) == (not wired, wired, "")
    assert [one["name"] for one in said["frameworks"]] == ["litellm", "openai-sdk"]


def test_instrument__no_python_project__is_refused(beaker: Callable[..., Any], tmp_path: Path) -> None:
    """The folder itself must be a project; one above does not count."""
    project(tmp_path, "")
    (tmp_path / "below").mkdir()
    done = beaker("trace", "instrument", "--dir", "below")
    assert (done.code, "error: BK122" in done.err, "holds no pyproject.toml" in done.err) == (2, True, True)
