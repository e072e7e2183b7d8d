"""Laws of `beaker changes`: what it prints, its exit codes, and that bad input changes nothing."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from beaker.core.changesets import change_set_to_json, derive
from beaker.core.documents import TargetDocument
from beaker.files.change_journal import STAGING

Conforms = Callable[[object, str], None]

SEEDS = (
    TargetDocument(source_id="p-2", group="faq", name="refund.md", content="Return within\nZwölf Tage.\n", version="7"),
    TargetDocument(source_id="p-1", group="faq", name="old.md", content="gone"),
)
FILES = {("faq", "refund.md"): "Return within\n14 days.\n", ("faq", "new.md"): "x"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The working directory: a change set `set.json`, and the documents it was made from in `docs/`."""
    change_set = derive("run-1", ["faq"], SEEDS, FILES).unwrap()
    (tmp_path / "set.json").write_text(json.dumps(change_set_to_json(change_set)), encoding="utf-8")
    (tmp_path / "docs/faq").mkdir(parents=True)
    for seed in SEEDS:
        (tmp_path / "docs/faq" / seed.name).write_bytes(seed.content.encode())
    return tmp_path


def documents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_bytes().decode() for path in (folder / "docs/faq").iterdir()}


def edited(folder: Path, edit: Callable[[Any], object]) -> None:
    data = json.loads((folder / "set.json").read_text(encoding="utf-8"))
    edit(data)
    (folder / "set.json").write_text(json.dumps(data))


def test_show__change_set__is_a_diff(beaker: Any, folder: Path) -> None:
    """Without a folder, `show` prints what the set itself carries."""
    done = beaker("changes", "show", "set.json")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[:2] == [
        "beaker changes show: 3 changes (1 create, 1 update, 1 delete) in faq",
        "run run-1",
    ]
    assert "+14 days." in done.out
    assert "Zwölf" not in done.out


def test_show__beside_documents__shows_old_lines(beaker: Any, folder: Path) -> None:
    """With a folder, old and new lines are compared; nothing is written."""
    before = documents(folder)
    done = beaker("changes", "show", "set.json", "--dir", "docs")
    assert done.code == 0
    assert "-Zwölf Tage.\n+14 days." in done.out
    assert documents(folder) == before


@pytest.mark.parametrize("wrong", ["docs/faq", "."])
@pytest.mark.parametrize("action", ["show", "apply"])
def test_dir__without_the_groups__is_no_good(beaker: Any, folder: Path, action: str, wrong: str) -> None:
    """A folder that holds no group is a mistake of the command line, named once, not a conflict of each document."""
    done = beaker("changes", action, "set.json", "--dir", wrong)
    assert done.code == 2
    assert done.out == ""
    assert done.err.count("error:") == 1
    assert "error: BK620 " in done.err
    assert ".." not in beaker("changes", "apply", "set.json", "--dir", "docs/faq/..", "--dry-run").out


def test_show__json__obeys_its_schema(beaker: Any, folder: Path, conforms: Conforms) -> None:
    """`--json` prints one line with the diff and its numbers."""
    done = beaker("changes", "show", "set.json", "--json")
    conforms(json.loads(done.out), "cli-changes-show.json")
    assert json.loads(done.out)["counts"] == {"create": 1, "update": 1, "delete": 1}
    assert done.out.count("\n") == 1


def test_show__control_characters__are_made_visible(beaker: Any, folder: Path) -> None:
    """Text of a change set cannot move the cursor or colour the terminal."""
    edited(folder, lambda data: data["changes"][0].update(content="\x1b[31mred\u202e\r\n"))
    edited(folder, lambda data: data.update(run_id="run\x1b]0;x\x07\nfake"))
    for terminal in (False, True):
        done = beaker("changes", "show", "set.json", terminal=terminal, environ={"NO_COLOR": "1"})
        assert "\x1b" not in done.out
        assert "\x07" not in done.out
        assert "\u202e" not in done.out
        assert "\\x1b[31mred\\u202e\\r" in done.out
        assert "run run\\x1b]0;x\\x07\\nfake" in done.out


def test_show__terminal__is_coloured(beaker: Any, folder: Path) -> None:
    """Added lines are green on a terminal, and plain without one."""
    assert "\x1b[1;32m+14 days." in beaker("changes", "show", "set.json", terminal=True).out
    assert "\x1b" not in beaker("changes", "show", "set.json").out


def test_show__empty_set__says_so(beaker: Any, folder: Path) -> None:
    """A set without changes is shown as that."""
    edited(folder, lambda data: data.update(changes=[], groups=[]))
    assert beaker("changes", "show", "set.json").out == "beaker changes show: 0 changes in no groups named\nrun run-1\n"


def test_apply__dry_run_then_apply_then_again(beaker: Any, folder: Path) -> None:
    """A dry run writes nothing, an apply does it, a second one finds nothing left to do."""
    before = documents(folder)
    dry = beaker("changes", "apply", "set.json", "--dir", "docs", "--dry-run")
    assert (dry.code, documents(folder)) == (0, before)
    assert f"3 changes would be applied to {folder / 'docs'}; nothing was written" in dry.out
    done = beaker("changes", "apply", "set.json", "--dir", "docs")
    assert done.code == 0
    assert documents(folder) == {"refund.md": "Return within\n14 days.\n", "new.md": "x"}
    assert "  create  faq/new.md\n" in done.out
    again = beaker("changes", "apply", "set.json", "--dir", "docs")
    assert again.code == 0
    assert "nothing left to do" in again.out
    assert "  update  faq/refund.md  (done already)" in again.out


def test_revert__applied_set__restores_the_documents_and_says_so(beaker: Any, folder: Path) -> None:
    """`revert` takes back what `apply` did; before that, and after, there is nothing to take back."""
    before = documents(folder)
    never = beaker("changes", "revert", "set.json", "--dir", "docs")
    assert (never.code, never.out) == (2, "")
    assert "error: BK624 " in never.err
    beaker("changes", "apply", "set.json", "--dir", "docs")
    dry = beaker("changes", "revert", "set.json", "--dir", "docs", "--dry-run")
    assert f"3 changes would be reverted in {folder / 'docs'}; nothing was written" in dry.out
    done = beaker("changes", "revert", "set.json", "--dir", "docs")
    assert (done.code, documents(folder)) == (0, before)
    assert "  delete  faq/new.md\n" in done.out
    assert done.out.endswith(f"beaker changes revert: 3 changes reverted in {folder / 'docs'}\n")
    assert beaker("changes", "revert", "set.json", "--dir", "docs").code == 2


def test_revert__foreign_edit__exits_1(beaker: Any, folder: Path) -> None:
    """A conflict is an answer, not a failure."""
    beaker("changes", "apply", "set.json", "--dir", "docs")
    (folder / "docs/faq/new.md").write_text("mine")
    done = beaker("changes", "revert", "set.json", "--dir", "docs")
    assert (done.code, done.out) == (1, "")
    assert documents(folder)["new.md"] == "mine"


def test_revert__json__obeys_its_schema(beaker: Any, folder: Path, conforms: Conforms) -> None:
    """`--json` prints one line that says what became of each document."""
    beaker("changes", "apply", "set.json", "--dir", "docs")
    answer = json.loads(beaker("changes", "revert", "set.json", "--dir", "docs", "--json").out)
    conforms(answer, "cli-changes-revert.json")
    assert (answer["reverted"], answer["already_reverted"]) == (3, 0)


@pytest.mark.parametrize("extra", [(), ("--dry-run",)])
def test_apply__json__obeys_its_schema(beaker: Any, folder: Path, conforms: Conforms, extra: tuple[str, ...]) -> None:
    """`--json` prints one line that says what was done to each document."""
    done = beaker("changes", "apply", "set.json", "--dir", "docs", "--json", *extra)
    answer = json.loads(done.out)
    conforms(answer, "cli-changes-apply.json")
    assert (answer["applied"], answer["already_applied"], answer["dry_run"]) == (3, 0, bool(extra))
    assert (done.code, done.err, answer["recovery"]) == (0, "", None)


@pytest.mark.parametrize("extra", [(), ("--dry-run",), ("--json",)])
def test_apply__foreign_edit__is_a_no(beaker: Any, folder: Path, conforms: Conforms, extra: tuple[str, ...]) -> None:
    """A document that is no longer the base refuses everything with exit 1."""
    (folder / "docs/faq/refund.md").write_text("mine")
    before = documents(folder)
    done = beaker("changes", "apply", "set.json", "--dir", "docs", *extra)
    assert (done.code, done.out, documents(folder)) == (1, "", before)
    assert "BK616" in done.err
    assert "faq/refund.md" in done.err
    if extra == ("--json",):
        conforms(json.loads(done.err), "cli-error.json")


@pytest.mark.parametrize(
    "data, words",
    [
        (b"", "set.json: line 1 column 1"),
        (b"{", "not valid JSON"),
        (b"[]", "set.json: $"),
        (b'{"format": 1, "format": 2}', "stands twice"),
        (b'{"format": NaN}', "NaN"),
        (b"\xff\xfe{", "not UTF-8"),
        (b"[" * 100_000, "nested deeper"),
        (b'{"format": "beaker.document-changes/9"}', "install a newer Beaker"),
        (b'{"run_id": "r", "changes": []}', "format"),
    ],
)
def test_bad_file__is_said_with_its_place(beaker: Any, folder: Path, data: bytes, words: str) -> None:
    """A file that is no change set is refused with exit 2, for both commands, and no document is touched."""
    (folder / "set.json").write_bytes(data)
    before = documents(folder)
    for argv in (("show", "set.json"), ("apply", "set.json", "--dir", "docs")):
        done = beaker("changes", *argv)
        assert (done.code, done.out) == (2, "")
        assert words in done.err
        assert "set.json" in done.err
    assert documents(folder) == before


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data["changes"][0].update(name="../../escape"),
        lambda data: data["changes"][0].update(name="/etc/passwd"),
        lambda data: data["changes"][0].update(name="..\\escape"),
        lambda data: data["changes"][0].update(name="C:escape"),
        lambda data: data["changes"][0].update(group=".."),
        lambda data: data["changes"][0].update(group="../.."),
        lambda data: data["changes"][0].update(group=".git"),
        lambda data: data["changes"][0].update(group=STAGING),
        lambda data: data["changes"][0].update(group="other"),
        lambda data: data["changes"][0].update(name="a\0b"),
        lambda data: data["changes"][0].update(content="x" * 1_000_001),
        lambda data: data["changes"].append(data["changes"][0]),
    ],
)
def test_hostile_set__leads_nowhere(beaker: Any, folder: Path, edit: Callable[[Any], object]) -> None:
    """A change set cannot leave its folder, its groups or its limits."""
    edited(folder, edit)
    before = sorted(str(path) for path in folder.rglob("*"))
    done = beaker("changes", "apply", "set.json", "--dir", "docs")
    assert done.code == 2
    assert done.err.startswith("error: BK6")
    assert sorted(str(path) for path in folder.rglob("*")) == before


def test_file__missing_or_a_folder__is_said(beaker: Any, folder: Path) -> None:
    """A wrong path gets the right words."""
    missing = beaker("changes", "show", "none.json")
    assert missing.code == 2
    assert "none.json: cannot read the change set: No such file" in missing.err
    assert "give one of the files in it" in beaker("changes", "show", ".").err
    assert "give a file that holds a change set" in beaker("changes", "show", "docs").err


def test_file__endless__is_given_up(beaker: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without end is not read to its end."""
    monkeypatch.setattr("beaker.cli.changes.MAX_FILE_BYTES", 1_000)
    done = beaker("changes", "show", "/dev/zero")
    assert done.code == 2
    assert "BK618" in done.err


def test_folder__wrong__is_said(beaker: Any, folder: Path) -> None:
    """A missing folder, and one that holds none of the groups, get the right words."""
    missing = beaker("changes", "apply", "set.json", "--dir", "none")
    assert (missing.code, "no such folder" in missing.err) == (2, True)
    assert beaker("changes", "show", "set.json", "--dir", "none").code == 2
    below = beaker("changes", "apply", "set.json", "--dir", "docs/faq")
    assert "none of the change set's groups (faq) is here" in below.err


def test_show__documents_unreadable__is_said(beaker: Any, folder: Path) -> None:
    """A document that is no text cannot be compared."""
    (folder / "docs/faq/refund.md").write_bytes(b"\xff")
    done = beaker("changes", "show", "set.json", "--dir", "docs")
    assert done.code == 2
    assert "faq/refund.md: is not UTF-8" in done.err


def test_apply__no_folder_given__is_usage(beaker: Any, folder: Path) -> None:
    """`--dir` has no default: nothing is applied to a folder nobody named."""
    done = beaker("changes", "apply", "set.json")
    assert done.code == 2
    assert "--dir" in done.err


@pytest.mark.parametrize("argv", [("show",), ("apply", "--dry-run")])
def test_interrupted_apply__is_told_by_what_only_looks(beaker: Any, folder: Path, argv: tuple[str, ...]) -> None:
    """Nothing is written; what the next command will do is said."""
    (folder / "docs" / STAGING).mkdir()
    done = beaker("changes", *argv, "set.json", "--dir", "docs")
    assert done.code == 0
    assert "An earlier apply was interrupted here; the next command that writes will undo it first." in done.err
    assert (folder / "docs" / STAGING).exists()


def test_interrupted_apply__is_ended_by_the_next_command_that_writes(beaker: Any, folder: Path) -> None:
    """It says so."""
    (folder / "docs" / STAGING).mkdir()
    done = beaker("changes", "apply", "set.json", "--dir", "docs")
    assert done.code == 0
    assert "An earlier apply that had been interrupted here was undone first." in done.err
    assert not (folder / "docs" / STAGING).exists()


def test_interrupted_apply__foreign_edit__is_reported(beaker: Any, folder: Path) -> None:
    """Documents that the recovery left alone are named, in JSON too; a damaged journal is refused by both commands."""
    staging = folder / "docs" / STAGING
    staging.mkdir()
    step = {"group": "kb", "name": "mine.md", "old": "0" * 64, "new": "1" * 64}
    journal = {"format": "beaker.changes-journal/1", "steps": [step], "folders": []}
    (folder / "docs/kb").mkdir()
    (folder / "docs/kb/mine.md").write_text("mine")
    for extra in ((), ("--json",)):
        staging.mkdir(exist_ok=True)
        (staging / "journal.json").write_text(json.dumps(journal))
        done = beaker("changes", "apply", "set.json", "--dir", "docs", *extra)
        assert done.code == 0
        if extra:
            assert json.loads(done.out)["recovery"] == {"outcome": "undone", "kept": ["kb/mine.md"]}
        else:
            assert "left as it is, since something else changed it: kb/mine.md" in done.err
    staging.mkdir()
    (staging / "journal.json").write_text("{")
    for argv in (("show", "set.json", "--dir", "docs"), ("apply", "set.json", "--dir", "docs")):
        done = beaker("changes", *argv)
        assert (done.code, "BK622" in done.err) == (2, True)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_process__any_locale__prints_and_ends_clean(folder: Path, encoding: str) -> None:
    """As a process, whatever the stream can carry, a diff prints and exits 0."""
    done = subprocess.run(
        [sys.executable, "-m", "beaker.cli", "changes", "show", "set.json", "--dir", "docs"],
        cwd=folder,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (b"Zw\\xf6lf" if encoding == "ascii" else "Zwölf".encode(encoding)) in done.stdout


PAGE = Path(__file__).parents[2] / "docs" / "changesets.md"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """The project that the page about change sets works on, with the page's own change set."""
    (example,) = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes/faq.json").write_text(example, encoding="utf-8")
    (tmp_path / "documents/faq").mkdir(parents=True)
    (tmp_path / "documents/faq/refund.md").write_text(
        "# Refunds\n\nYou can return goods within\nZwölf Tage.\n", encoding="utf-8"
    )
    return tmp_path


def test_page__sessions__are_what_the_commands_print(beaker: Any, shop: Path) -> None:
    """Every session on the page runs as it stands there, in its order."""
    sessions = re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for session in sessions:
        for step in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
            command, _, expected = step.partition("\n")
            refund = shop / "documents/faq/refund.md"
            kept = refund.read_bytes()
            if "error:" in expected:
                refund.write_text("mine")
            done = beaker(*command.split()[1:], cwd=shop)
            if "error:" in expected:
                refund.write_bytes(kept)
            printed = (done.out + done.err).replace(str(shop), "/home/me/shop")
            assert [line.rstrip() for line in printed.splitlines()] == expected.splitlines()
            if command == "beaker changes apply changes/faq.json --dir documents" and "error:" not in expected:
                assert (shop / "documents/faq/shipping.md").read_text() == "We ship on weekdays.\n"
    assert [path.name for path in (shop / "documents/faq").iterdir()] == ["refund.md"]
    assert "Zwölf Tage." in (shop / "documents/faq/refund.md").read_text(encoding="utf-8")


def test_page__example__runs(shop: Path, conforms: Conforms, capsys: pytest.CaptureFixture[str]) -> None:
    """The page's change set obeys the schema, and its program plans it against a store of rows."""
    text = (shop / "changes/faq.json").read_text(encoding="utf-8")
    conforms(json.loads(text), "document_changes.json")
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    content = (shop / "documents/faq/refund.md").read_text(encoding="utf-8")
    row = SimpleNamespace(id="p-2", path="refund.md", text=content, version=7)
    exec(compile(example, str(PAGE), "exec"), {"text": text, "rows": [row]})
    assert capsys.readouterr().out == "update faq refund.md 7\ncreate faq shipping.md -\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_process__output_full__is_no_success(folder: Path) -> None:
    """A diff that could not be written is not reported as shown."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "beaker.cli", "changes", "show", "set.json"],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 2
    assert b"No space left on device" in done.stderr


@pytest.mark.skipif(shutil.which("head") is None, reason="needs head")
def test_process__reader_gone__ends_quietly(folder: Path) -> None:
    """A closed pipe ends the command without a traceback."""
    edited(folder, lambda data: data["changes"][0].update(content="line\n" * 190_000))
    script = f"{sys.executable} -m beaker.cli changes show set.json | head -n 1"
    done = subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True)
    assert done.stdout.startswith(b"beaker changes show: 3 changes")
    assert done.stderr == b""
