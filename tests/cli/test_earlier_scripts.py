"""Scripts that were written for earlier generations do what they did: exit code, output, and what is sent.

The table is `vectors/scripts.json`. Whatever differs is a row of docs/generations.md, and every row there is held here.
"""

import json
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

pytestmark = pytest.mark.once

TABLE = json.loads((Path(__file__).parents[1] / "vectors" / "scripts.json").read_text(encoding="utf-8"))
PAGE = Path(__file__).parents[2] / "docs" / "generations.md"
SCRIPTS = [pytest.param(row, id=f"{name}-{at}") for name in ("0.6.5", "0.4.9") for at, row in enumerate(TABLE[name])]
CONFIG = "integrations:\n  invoices:\n    entrypoint: m:i\n    agent_key: inv-agent\n"
LOGIN = {"token": "bkr_cli_hosted_1", "expires_at": "2099-01-01T00:00:00Z", "saved_at": "2026-01-01T10:00:00"}
ROWS = {"train": '{"id": "t1"}\n{"id": "t2"}\n', "test": '{"id": "h1"}\n'}


@attrs.frozen(kw_only=True)
class Script:
    """A command line behind `beaker --base-url API`, in a project with one Integration, with somebody logged in.

    What it does: exit `code`, `out` and `err` as patterns that are found, `json` as what is printed; `calls` as all
    that is asked but signed addresses, `asked` as part of the queries, `body` as the last body, the paths of the `sent`
    files, the `bearer` of every call, the idempotency `key` of the launch; the `written` files below `out` with their
    JSON.

    What it finds: `answers` of the service, or in turn those of `steps` about a run; `config` instead of the usual one,
    none in a `bare_folder`; `files`; a `dataset` in data; a login unless `stored` is false, or says `elsewhere`; `env`
    and `stdin`. A `bare` line names its service itself.
    """

    line: str
    code: int
    out: str = ""
    err: str = ""
    json: Any = None
    calls: list[str] | None = None
    asked: Mapping[str, str] = {}
    body: Mapping[str, Any] | None = None
    sent: list[str] | None = None
    bearer: str | None = None
    key: str | None = None
    written: Mapping[str, Any] | None = None
    answers: Mapping[str, Any] = {}
    steps: Sequence[Any] = ()
    config: str = CONFIG
    bare_folder: bool = False
    files: Mapping[str, str] = {}
    dataset: bool = False
    stored: bool | str = True
    env: Mapping[str, str] = {}
    stdin: str = ""
    bare: bool = False
    differs: str = ""


def prepare(desk: Any, script: Script) -> None:
    """What the script finds."""
    elsewhere = {"base_url": "https://elsewhere.example"} if script.stored == "elsewhere" else {}
    desk.begin(LOGIN | elsewhere if script.stored else None)
    if script.bare_folder:
        shutil.rmtree(desk.project / ".beaker")
    else:
        (desk.project / ".beaker/beaker.yaml").write_text(script.config)
    texts = {f"data/{split}.jsonl": text for split, text in ROWS.items()} if script.dataset else {}
    for name, text in {**texts, **script.files}.items():
        (desk.project / name).parent.mkdir(parents=True, exist_ok=True)
        (desk.project / name).write_text(text)
    for route, (status, body) in script.answers.items():
        desk.hosted.answer(*route.split(" ", 1), status, body)
    for status, body in script.steps:
        desk.hosted.answer("GET", "/v1/optimization-runs/{run_id}", status, body, times=1)


def held(desk: Any, script: Script) -> Iterator[tuple[str, object, object]]:
    """What the script asked and wrote, each beside what it should have: what it is, what was found, what is meant."""
    requests = [one for one in desk.hosted.requests if not one.path.startswith("/store/")]
    if script.calls is not None:
        yield "calls", [f"{one.method} {one.path}" for one in requests], script.calls
    if script.asked:
        asked = {name: text for one in requests for name, text in one.query.items()}
        yield "asked", {name: asked.get(name) for name in script.asked}, script.asked
    bodies = [one.body for one in requests if one.body]
    if script.body is not None:
        body = bodies[-1] if bodies else None
        yield "body", {name: text for name, text in (body or {}).items() if name != "files"}, script.body
    if script.sent is not None:
        yield "sent", [one["path"] for one in bodies[-1]["files"]], script.sent
    if script.bearer is not None:
        yield "bearer", {one.headers["authorization"] for one in requests}, {f"Bearer {script.bearer}"}
    if script.key is not None:
        yield "key", requests[-1].headers.get("idempotency-key"), script.key
    if script.written is not None:
        folder = desk.project / "out"
        found = {f"out/{one.relative_to(folder).as_posix()}": one.read_text() for one in folder.rglob("*.json")}
        for name, meant in script.written.items():
            yield name, found.get(name) if meant else meant, json.dumps(meant, indent=2) if meant else meant
            assert name in found
        if not script.written:
            yield "written", found, {}


@pytest.mark.parametrize("row", SCRIPTS)
def test_script_of_an_earlier_generation__does_what_it_did(row: dict[str, Any], desk: Any) -> None:
    """Exit code, output, calls and bodies are those of the table; standard output is empty after a refusal."""
    script = Script(**row)
    prepare(desk, script)
    argv = shlex.split(script.line.replace("{api}", desk.hosted.url))
    environ = {name: text.replace("{api}", desk.hosted.url) for name, text in script.env.items()}
    done = desk.run(*argv, place=() if script.bare else None, environ=environ, stdin=script.stdin, foreign=True)
    assert done["code"] == script.code, done["err"]
    assert re.search(script.out, done["out"]), done["out"]
    assert re.search(script.err, done["err"]), done["err"]
    if script.json is not None:
        assert json.loads(done["out"]) == script.json
    if script.code == 2:
        assert done["out"] == "" or script.out
        assert done["err"]
    for what, found, meant in held(desk, script):
        assert found == meant, what


def test_page__names_whatever_differs() -> None:
    """What scripts of the table do otherwise than they did are the rows of the page, each of them, and nothing else."""
    text = PAGE.read_text(encoding="utf-8").partition("## What scripts find different\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")][1:]
    assert sorted(rows) == sorted(
        {row["differs"] for name in ("0.6.5", "0.4.9") for row in TABLE[name] if "differs" in row}
    )
