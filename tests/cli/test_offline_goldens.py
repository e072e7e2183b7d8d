"""What the commands that ask no place print and answer, in every situation a person meets: golden.

The goldens are `vectors/golden/offline.json`; BEAKER_RECORD=1 writes them anew.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from beaker.core.changesets import change_set_to_json, derive
from beaker.core.documents import TargetDocument

pytestmark = pytest.mark.once

GOLDEN = Path(__file__).parents[1] / "vectors" / "golden" / "offline.json"
PLANTED = "planted-s3cret"

SEEDS = [
    TargetDocument(source_id="1", group="faq", name="a.md", content="old\n"),
    TargetDocument(source_id="2", group="faq", name="b.md", content="kept\n"),
]
CHANGED = derive("run_41", ["faq"], SEEDS, {("faq", "a.md"): "new\n", ("faq", "b.md"): "kept\n"}).unwrap()
NOTHING = derive("run_41", ["faq"], SEEDS, {("faq", "a.md"): "old\n", ("faq", "b.md"): "kept\n"}).unwrap()
RECEIPT = {
    "status": "complete",
    "omissions": [],
    "counts": {"model_calls": 2},
    "capabilities": dict.fromkeys(("model_inputs", "model_outputs", "model_usage"), "complete"),
}
FILES: Mapping[str, bytes] = {
    "docs/faq/a.md": b"old\n",
    "docs/faq/b.md": b"kept\n",
    "edited/faq/a.md": b"somebody else wrote this\n",
    "edited/faq/b.md": b"kept\n",
    "changed.json": json.dumps(change_set_to_json(CHANGED)).encode(),
    "nothing.json": json.dumps(change_set_to_json(NOTHING)).encode(),
    "broken.json": b'{"run_id": "run_41", ',
    "twice.json": b'{"run_id": "run_41", "run_id": "run_42"}',
    "other.json": b'{"run_id": 7, "changes": [{"op": "rename"}, 5]}',
    "list.json": b"[]",
    "latin.json": '{"run_id": "caf\xe9"}'.encode("latin-1"),
    "captures/one.receipt.json": json.dumps(RECEIPT).encode(),
    "partial.receipt.json": json.dumps(
        {"status": "error", "omissions": ["a file"], "counts": {"model_calls": 1}, "capabilities": {}}
    ).encode(),
    "silent.receipt.json": json.dumps({**RECEIPT, "counts": {"model_calls": 0}}).encode(),
    ".beaker/.env": f"BEAKER_API_KEY={PLANTED}\n".encode(),
    ".beaker/beaker.yaml": b"integrations: [this is, no mapping\n",
    "guides/README.md": b"a file of somebody\n",
    "plain/pyproject.toml": b"[project]\nname = 'plain'\n",
    "plain/app.py": b"print('hello')\n",
    "asking/pyproject.toml": b"[project]\nname = 'asking'\ndependencies = ['openai>=1']\n",
    "asking/app.py": b"import openai\n\nclient = openai.OpenAI()\n",
    "recorded/pyproject.toml": b"[project]\nname = 'recorded'\n",
    "recorded/app.py": b"async def run_case(*, case_input, runtime):\n    runtime.trace.model_call('m', {}, {})\n",
    "twisted/pyproject.toml": b"[project\n",
}
"""The project: documents, change sets and receipts, good and bad. Its configuration is broken: nobody asks for it."""

DIR = ("--dir", "docs")
SHOW, APPLY, REVERT = ("changes", "show"), ("changes", "apply"), ("changes", "revert")
DOCTOR, INSPECT = ("trace", "doctor", "--path"), ("trace", "inspect")
UNREADABLE = {
    f"a change set that {what}": file
    for what, file in {
        "is not there": "missing.json",
        "is a folder": "docs",
        "is no JSON": "broken.json",
        "says a thing twice": "twice.json",
        "is none": "other.json",
        "is a list": "list.json",
        "is not UTF-8": "latin.json",
    }.items()
}

Lines = tuple[tuple[str, ...], ...]
SITUATIONS: Mapping[str, Mapping[str, Lines]] = {
    "changes show": {
        "success": ((*SHOW, "changed.json"),),
        "success --json": ((*SHOW, "changed.json", "--json"),),
        "beside the documents": ((*SHOW, "changed.json", *DIR),),
        "beside documents that somebody edited": ((*SHOW, "changed.json", "--dir", "edited"),),
        "beside no folder": ((*SHOW, "changed.json", "--dir", "nowhere"),),
        "empty": ((*SHOW, "nothing.json"),),
        "empty --json": ((*SHOW, "nothing.json", "--json"),),
        **{name: ((*SHOW, file),) for name, file in UNREADABLE.items()},
        "refused --json": ((*SHOW, "broken.json", "--json"),),
        "no file named": (SHOW,),
    },
    "changes apply": {
        "success": ((*APPLY, "changed.json", *DIR),),
        "success --json": ((*APPLY, "changed.json", *DIR, "--json"),),
        "quiet": ((*APPLY, "changed.json", *DIR, "--quiet"),),
        "twice": ((*APPLY, "changed.json", *DIR), (*APPLY, "changed.json", *DIR)),
        "dry run": ((*APPLY, "changed.json", *DIR, "--dry-run"),),
        "dry run --json": ((*APPLY, "changed.json", *DIR, "--dry-run", "--json"),),
        "empty": ((*APPLY, "nothing.json", *DIR),),
        "empty --json": ((*APPLY, "nothing.json", *DIR, "--json"),),
        "documents that somebody edited": ((*APPLY, "changed.json", "--dir", "edited"),),
        "documents that somebody edited --json": ((*APPLY, "changed.json", "--dir", "edited", "--json"),),
        "no folder": ((*APPLY, "changed.json", "--dir", "nowhere"),),
        "a file as folder": ((*APPLY, "changed.json", "--dir", "list.json"),),
        **{name: ((*APPLY, file, *DIR),) for name, file in UNREADABLE.items()},
        "no folder named": ((*APPLY, "changed.json"),),
    },
    "changes revert": {
        "success": ((*APPLY, "changed.json", *DIR), (*REVERT, "changed.json", *DIR)),
        "success --json": ((*APPLY, "changed.json", *DIR), (*REVERT, "changed.json", *DIR, "--json")),
        "twice": ((*APPLY, "changed.json", *DIR), (*REVERT, "changed.json", *DIR), (*REVERT, "changed.json", *DIR)),
        "dry run": ((*APPLY, "changed.json", *DIR), (*REVERT, "changed.json", *DIR, "--dry-run")),
        "never applied": ((*REVERT, "changed.json", *DIR),),
        "never applied --json": ((*REVERT, "changed.json", *DIR, "--json"),),
        "documents that somebody edited": ((*REVERT, "changed.json", "--dir", "edited"),),
        "empty": ((*REVERT, "nothing.json", *DIR),),
        **{name: ((*REVERT, file, *DIR),) for name, file in UNREADABLE.items()},
    },
    "trace doctor": {
        "success": ((*DOCTOR, "captures/one.receipt.json"),),
        "success --json": ((*DOCTOR, "captures/one.receipt.json", "--json"),),
        "model calls": ((*DOCTOR, "captures/one.receipt.json", "--require-model-calls"),),
        "no model calls": ((*DOCTOR, "silent.receipt.json", "--require-model-calls"),),
        "partial": ((*DOCTOR, "partial.receipt.json"),),
        "partial --json": ((*DOCTOR, "partial.receipt.json", "--json"),),
        "a folder of captures": ((*DOCTOR, "."),),
        "empty": (("trace", "doctor"),),
        "empty --json": (("trace", "doctor", "--json"),),
        "not there": ((*DOCTOR, "missing.json"),),
        "no JSON": ((*DOCTOR, "broken.json"),),
        "a list": ((*DOCTOR, "list.json"),),
        "not UTF-8": ((*DOCTOR, "latin.json"),),
        "another object": ((*DOCTOR, "other.json"),),
    },
    "trace inspect": {
        "success": ((*INSPECT, "captures/one.receipt.json"),),
        "success --json": ((*INSPECT, "captures/one.receipt.json", "--json"),),
        "empty": ((*INSPECT, "docs"),),
        "not there": ((*INSPECT, "missing.json"),),
        "no JSON": ((*INSPECT, "broken.json"),),
        "a list": ((*INSPECT, "list.json"),),
        "a list --json": ((*INSPECT, "list.json", "--json"),),
        "not UTF-8": ((*INSPECT, "latin.json"),),
        "nothing named": (("trace", "inspect"),),
    },
    "trace instrument": {
        f"{name}{' --check' * check}{' --json' * as_json}": (
            ("trace", "instrument", "--dir", name, *["--check"] * check, *["--json"] * as_json),
        )
        for name in ("plain", "asking", "recorded", "twisted", "docs", "nowhere")
        for check in (False, True)
        for as_json in (False, True)
    },
    "skills": {
        "a guide that is none": (("skills", "show", "nonsense"),),
        "a guide that is none --json": (("skills", "show", "nonsense", "--json"),),
        "install one that is none": (("skills", "install", "guides", "nonsense"),),
        "install where a file stands": (("skills", "install", "list.json"),),
        "no action": (("skills",),),
    },
    "schema": {
        "success": (("schema", "error"),),
        "success --json": (("schema", "error", "--json"),),
        "no command": (("schema", "run", "nonsense"),),
        "no command --json": (("schema", "run", "nonsense", "--json"),),
    },
    "explain": {
        "success": (("explain", "BK803"),),
        "success --json": (("explain", "BK803", "--json"),),
        "several": (("explain", "BK803", "BK133"),),
        "small letters": (("explain", "bk803"),),
        "no code": (("explain", "BK000"),),
        "no code --json": (("explain", "nonsense", "--json"),),
    },
    "help": {
        "exit codes": (("help", "exit-codes"),),
        "exit codes --json": (("help", "exit-codes", "--json"),),
        "no command": (("help", "nonsense"),),
        "no command --json": (("help", "nonsense", "--json"),),
        "no action": (("help", "run", "nonsense"),),
    },
    "the command line": {
        "no command": ((),),
        "an unknown command": (("nonsense",),),
        "an unknown command --json": (("nonsense", "--json"),),
        "an action of a group that has none": (("dataset", "nonsense"),),
        "a global option in the wrong place": (("run", "list", "--base-url", "https://a.example"),),
        "an option that is ambiguous": (("run", "trigger", "--datas", "d"),),
        "a number that is none": (("run", "list", "--limit", "many"),),
        "a number out of bounds": (("run", "list", "--limit", "101"),),
        "a configuration path that leads out": (("--config-file", "../beaker.yaml", "run", "list"),),
        "a configuration that is broken": (("run", "list"),),
        "a configuration that is broken --json": (("run", "list", "--json"),),
    },
}
"""Command -> situation -> command lines; what the last of them does is golden, the ones before it succeed."""


@attrs.frozen
class Table:
    """A place to work in, made anew for each situation."""

    beaker: Callable[..., Any]
    folder: Path

    def run(self, lines: Lines) -> dict[str, Any]:
        """What the last line does: exit code, streams, and the documents afterwards where they differ."""
        project = self.folder / "project"
        shutil.rmtree(project, ignore_errors=True)
        for name, data in FILES.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_bytes(data)
        (project / ".git").mkdir()
        for line in lines[:-1]:
            assert self.beaker(*line, cwd=project).code == 0
        done = self.beaker(*lines[-1], cwd=project)
        out, err = (steady(text.replace(str(project), "{project}")) for text in (done.out, done.err))
        found: dict[str, Any] = {"code": done.code, "out": out, "err": err}
        documents = {
            name: (project / name).read_bytes().decode()
            for name, data in FILES.items()
            if name.endswith(".md") and (project / name).read_bytes() != data
        }
        return found | {"documents": documents} if documents else found


def steady(text: str) -> str:
    """`text` without what Python words anew from version to version, and without lists of all that there is."""
    text = re.sub(r"usage: [^\n\\\"]*", "usage: ...", text)
    return re.sub(r"(choose from|known here:) [^\n\\\";]*", r"\1 ...", text)


@pytest.mark.parametrize("name", SITUATIONS)
def test_command__every_situation__is_golden(name: str, beaker: Callable[..., Any], tmp_path: Path) -> None:
    """Exit code, both streams, JSON and documents are as recorded; nothing secret appears, and nothing is our error."""
    table = Table(beaker, tmp_path)
    found = {situation: table.run(lines) for situation, lines in SITUATIONS[name].items()}
    for situation, done in found.items():
        assert PLANTED not in done["out"] + done["err"], situation
        assert "BK949" not in done["err"], f"{situation}: {done['err']}"
    golden = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
    if os.environ.get("BEAKER_RECORD"):
        golden[name] = found
        GOLDEN.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    else:
        assert found == golden[name]
