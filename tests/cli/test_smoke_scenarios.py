"""The scenarios of `run smoke`: what a project does, how the command ends, which hooks ran, and what is told.

Every row is one command line in this process, with real children. Hooks write what they do into a file: `I` imported,
`C` constructed, `P`/`p` prepare_run entered and left, `L` a loader started, `O`/`o` open_candidate entered and left.
`open_candidate` runs in a process of its own, so that `I` comes once more before `O`. Numbers are those of the
contract's table; `ours` says where Beaker does otherwise on purpose.
"""

import hashlib
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import attrs
import pytest

pytestmark = [pytest.mark.once, pytest.mark.processes]

BASE = """\
import asyncio, contextlib, os, sys
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from beaker import *


def note(step):
    with (Path(__file__).parent / "steps").open("a") as file:
        file.write(step)


note("I")
TARGETS = repository()
open_candidate = None


def results():
    return {"repository": RepositoryRunSetupResult()}


def opening():
    pass


def closing():
    pass


async def cases(row, runtime):
    yield Case(id=row["id"], input={}, expected=None)


def documents_of(*seeds):
    made = [TargetDocument(**{"source_id": str(at), "content": "x", **seed}) for at, seed in enumerate(seeds)]
    return {"documents": DocumentRunSetupResult(target_documents=made)}


class Setup(RunSetup[dict]):
    row_model = dict

    def __init__(self):
        note("C")

    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        note("P")
        try:
            opening()
            yield results()
        finally:
            note("p")
            closing()

    async def load_cases(self, row, *, runtime):
        note("L")
        async for case in cases(row, runtime):
            yield case


async def run_case(*, case_input, runtime):
    return CaseResult(case_input)


async def score_case(*, case, result, case_files_dir):
    return CaseScore(1.0, {})
"""
END = """
integration = Integration(
    targets=TARGETS, run_setup=Setup, run_case=run_case, score_case=score_case, open_candidate=open_candidate
)
"""
ROWS = {"train": ['{"id": "a"}', '{"id": "b"}'], "test": ['{"id": "c"}']}

OPENING = """
@asynccontextmanager
async def open_candidate(*, targets_dir, scratch_dir):
    note("O")
    try:
        yield 1
    finally:
        note("o")
"""
DOCUMENTS = """
TARGETS = documents(groups=("kb", "empty"))
def results():
    return documents_of(SEEDS)
"""
FILE = """
async def cases(row, runtime):
    folder = runtime.case_files_dir(row["id"])
    file = folder / "f"
    file.write_bytes(b"hello")
    more = {"path": file, "name": "f"}
    BODY
    yield Case(id=row["id"], input={}, expected=None, files=[CaseFile(**more)])
"""
GOOD, PREPARED, LOADED = "ICPLLLp", "ICPp", "ICPLLp"
WITH_CANDIDATE = "ICPLLLIOop"


@attrs.frozen
class Scenario:
    """One row, or a variant of one: `number` of the table, what the project is, and what comes of it.

    `hooks` overrides the plain ones, `module` is the whole module instead. `rows` are the lines of the splits (bytes:
    the file as it is; `None`: no file). `entry` and `defaults` are added to the configuration, which `config` replaces.
    `files` are written besides. `steps` may hold several possible sequences, separated by `|`.
    """

    number: int
    name: str
    code: int
    stage: str
    steps: str
    told: tuple[str, ...] = ()
    hooks: str = ""
    module: str | None = None
    rows: dict[str, Any] = attrs.field(factory=dict)
    entry: str = ""
    defaults: str = "local_dataset_path: dataset"
    config: str | None = None
    files: dict[str, str] = attrs.field(factory=dict)
    argv: tuple[str, ...] = ()
    ours: str = ""


def seeds(*made: str) -> str:
    """Hooks with one document target whose seeds are these arguments."""
    return DOCUMENTS.replace("SEEDS", ", ".join(made))


def staged(body: str) -> str:
    """Hooks whose cases have one file; `body` changes `file`, `folder` and the arguments, `more`."""
    return FILE.replace("BODY", body.replace("\n", "\n    "))


def loading(body: str) -> str:
    """Hooks whose cases are what `body` yields."""
    return "async def cases(row, runtime):\n" + "".join(f"    {line}\n" for line in body.splitlines())


S = Scenario
APP = "integrations: {app: {entrypoint: 'app:integration'"
ACM = "asynchronous context manager"
SEEN = "seen in the code, before the setup class is made"
SCENARIOS = [
    S(1, "repository", 0, "", GOOD, ("Readiness: INTEGRATED",)),
    S(2, "default prepare_run", 0, "", "ICLLL", hooks="del Setup.prepare_run"),
    S(
        3, "documents and open_candidate", 0, "", WITH_CANDIDATE, ("1 seed document",),
        hooks=seeds('{"group": "kb", "name": "d/a.md"}') + OPENING.replace(
            "    try", '    assert sorted(os.listdir(targets_dir)) == ["empty", "kb"]\n    try'),
    ),
    S(
        4, "three targets, one source_id twice", 0, "", WITH_CANDIDATE, ("2 seed documents",),
        hooks="""
TARGETS = (repository(), documents(groups=("kb",)), documents(groups=("faq",)))
def results():
    seed = {"source_id": "same", "name": "a.md"}
    made = documents_of({**seed, "group": "kb"}, {**seed, "group": "faq"})
    return {"repository": RepositoryRunSetupResult(), **made}
""" + OPENING,
    ),
    S(
        5, "repository and open_candidate", 0, "", WITH_CANDIDATE,
        hooks=OPENING.replace("    try", "    assert targets_dir is None\n    try"),
    ),
    S(
        6, "staged nested file", 0, "", GOOD,
        hooks=staged(
            'import hashlib\nfile = folder / "d" / "g"\nfile.parent.mkdir()\nfile.write_bytes(b"hey")\n'
            'digest = hashlib.sha256(b"hey").hexdigest().upper()\n'
            'more = {"path": file, "name": "d/g", "expected_size_bytes": 3, "expected_sha256": digest}'
        ),
    ),
    S(7, "None", 2, "setup", PREPARED, ("repository",), hooks="def results(): return None"),
    S(7, "subclass", 2, "setup", PREPARED, ("RepositoryRunSetupResult",), hooks="""
class Mine(RepositoryRunSetupResult): pass
def results(): return {"repository": Mine()}
"""),
    S(7, "extra key", 2, "setup", PREPARED, ("repository", "more"), hooks="""
def results(): return {"repository": RepositoryRunSetupResult(), "more": 1}
"""),
    S(7, "wrong kind", 2, "setup", PREPARED, ("repository",), hooks='def results(): return {"repository": {}}'),
    S(
        7, "bare result", 0, "", GOOD, ("BK351",), ours="what an earlier generation had still works, with a warning",
        hooks="def results(): return RepositoryRunSetupResult()",
    ),
    S(
        8, "document kind missing", 2, "setup", PREPARED, ("documents", "repository"),
        hooks='TARGETS = (repository(), documents(groups=("kb",)))',
    ),
    S(9, "async def prepare_run", 2, "integration", "I", ("prepare_run", ACM), ours=SEEN, hooks="""
async def coroutine(self, *, runtime): note("P")
Setup.prepare_run = coroutine
"""),
    S(9, "sync context manager", 2, "integration", "I", ("prepare_run", ACM), ours=SEEN, hooks="""
@contextmanager
def manager(self, *, runtime):
    note("P")
    yield results()
Setup.prepare_run = manager
"""),
    S(9, "bare async generator", 2, "integration", "I", ("prepare_run", "asynccontextmanager"), ours=SEEN, hooks="""
async def generator(self, *, runtime):
    note("P")
    yield results()
Setup.prepare_run = generator
"""),
    *(
        S(9, f"prepare_run returns {name}", 2, "setup", "IC", ("prepare_run", ACM), hooks=f"""
def prepares(self, *, runtime): return {what}
async def coroutine(): note("P")
Setup.prepare_run = prepares
""")
        for name, what in {"a coroutine": "coroutine()", "a sync one": "os.scandir()", "None": "None"}.items()
    ),
    S(10, "enter raises", 2, "setup", PREPARED, ("ValueError: none",), hooks="def opening(): raise ValueError('none')"),
    S(11, "constructor raises", 2, "setup", "IC", ("ValueError: no keys",), hooks="""
def made(self):
    note("C")
    raise ValueError("no keys")
Setup.__init__ = made
"""),
    S(12, "exit raises", 2, "setup", GOOD, ("OSError: left open",), hooks="def closing(): raise OSError('left open')"),
    S(
        13, "load and exit raise", 2, "setup", LOADED, ("ValueError: no row", "OSError: left open"),
        ours="the first failure is the error; that of the teardown follows it",
        hooks=loading("raise ValueError('no row')\nyield") + "def closing(): raise OSError('left open')",
    ),
    S(
        14, "prepare_run swallows", 2, "setup", LOADED, ("ValueError: no row",), ours="what was swallowed is the error",
        hooks=loading("raise ValueError('no row')\nyield") + """
@asynccontextmanager
async def swallowing(self, *, runtime):
    note("P")
    with contextlib.suppress(ValueError):
        yield results()
    note("p")
Setup.prepare_run = swallowing
""",
    ),
    *(
        S(15, name, 2, "integration", "I", ("load_cases",), ours=SEEN, hooks=f"{how}\nSetup.load_cases = loads")
        for name, how in {
            "load_cases is a generator": "def loads(self, row, *, runtime): yield 1",
            "load_cases is a coroutine function": "async def loads(self, row, *, runtime): return 1",
        }.items()
    ),
    *(
        S(15, f"load_cases returns {name}", 2, "setup", PREPARED, ("load_cases", "asynchronous iterator"), hooks=f"""
class Half:
    def __aiter__(self): return self
async def coroutine(): return 1
def loads(self, row, *, runtime): return {what}
Setup.load_cases = loads
""")
        for name, what in {
            "a list": "[]",
            "a generator": "(at for at in range(2))",
            "a coroutine": "coroutine()",
            "__aiter__ only": "Half()",
        }.items()
    ),
    S(16, "yields a dict", 2, "setup", LOADED, ("Case values, not dict",), hooks=loading("yield {}")),
    S(17, "id twice in a row", 2, "setup", LOADED, ("'a'", "twice"), hooks=loading(
        'for _ in range(2): yield Case(id=row["id"], input={}, expected=None)')),
    S(17, "id of two rows", 2, "setup", LOADED, ("'same'", "train.jsonl:2"), hooks=loading(
        'yield Case(id="same", input={}, expected=None)')),
    S(
        17, "id of two splits", 2, "setup", GOOD, ("'a'", "train.jsonl:1", "test.jsonl:1"),
        rows={"test": ['{"id": "a"}']},
    ),
    S(
        17, "id of two splits that rows show", 2, "dataset", "I", ("test.jsonl:1", "'a', as in train.jsonl:1"),
        rows={"test": ['{"id": "a"}']}, ours="found before setup where the code makes ids of fields alone",
        hooks="""
async def loads(self, row, *, runtime):
    yield Case(id=row["id"], input={}, expected=None)
Setup.load_cases = loads
""",
    ),
    S(
        18, "first of 12 fails", 2, "setup", f"ICP{'L' * 8}p", ("ValueError: the first", "train.jsonl:1"),
        rows={"train": [json.dumps({"id": str(at)}) for at in range(12)]}, ours="eight loaders run at a time",
        hooks=loading("if row['id'] == '0': raise ValueError('the first')\nawait asyncio.sleep(300)\nyield"),
    ),
    S(19, "no cases from train", 2, "setup", GOOD, ("train",), hooks=loading(
        "if row['id'] == 'c': yield Case(id='c', input={}, expected=None)")),
    S(
        20, "no cases from test", 2, "setup", GOOD, ("test",), ours="a launch needs cases in both splits",
        hooks=loading("if row['id'] != 'c': yield Case(id=row['id'], input={}, expected=None)"),
    ),
    S(
        20, "no cases from test, which is shown", 2, "setup", GOOD, ("test",), argv=("--split", "test"),
        hooks=loading("if row['id'] != 'c': yield Case(id=row['id'], input={}, expected=None)"),
    ),
    *(
        S(number, name, 2, "dataset", "I", told, rows=rows, hooks="""
import dataclasses
@dataclasses.dataclass
class Row:
    id: str
Setup.row_model = Row
""")
        for number, name, told, rows in (
            (21, "bad row of train", ("train.jsonl:3", "id"), {"train": [*ROWS["train"], '{"id": 1}']}),
            (22, "bad row of test behind blank lines", ("test.jsonl:3", "id"), {"test": ["", "  ", '{"id": []}']}),
            (23, "broken JSON behind blank lines", ("train.jsonl:4",), {"train": [ROWS["train"][0], "", "", "{]"]}),
        )
    ),
    S(24, "no train.jsonl", 2, "dataset", "I", ("train.jsonl", "'train' is missing"), rows={"train": None}),
    S(
        24, "val.jsonl for test.jsonl", 2, "dataset", "I", ("'test' is missing", "rename val.jsonl to test.jsonl"),
        rows={"val": [], "test": None},
    ),
    S(24, "no test.jsonl", 2, "dataset", "I", ("test.jsonl", "'test' is missing"), rows={"test": None}),
    S(
        24, "a file", 2, "dataset", "I", ("train.jsonl: is not a folder", "name the folder: "),
        defaults="local_dataset_path: dataset/train.jsonl",
    ),
    S(24, "no folder", 2, "dataset", "I", ("no such dataset folder",), defaults="local_dataset_path: nowhere"),
    S(25, "test empty", 2, "dataset", "I", ("test has no rows",), rows={"test": []}, ours="a launch needs both splits"),
    S(25, "test empty, and shown", 2, "dataset", "I", ("no rows",), rows={"test": []}, argv=("--split", "test")),
    S(26, "BOM", 0, "", GOOD, rows={"train": b'\xef\xbb\xbf{"id": "a"}\r\n{"id": "b"}'}, ours="a mark is accepted"),
    S(26, "Latin-1", 2, "dataset", "I", ("train.jsonl:2", "Latin-1"), rows={"train": b'{"id": "a"}\n{"id": "\xe9"}\n'}),
    S(26, "UTF-16", 2, "dataset", "I", ("test.jsonl:1", "UTF-16"), rows={"test": '{"id": "c"}'.encode("utf-16")}),
    S(27, "no dataset", 2, "dataset", "I", ("local_dataset_path", "--dataset"), defaults="max_concurrency: 1"),
    S(28, "undeclared group", 2, "setup", PREPARED, ("'no'",), hooks=seeds('{"group": "no", "name": "a"}')),
    S(28, "other letter case", 2, "setup", PREPARED, ("'KB'",), hooks=seeds('{"group": "KB", "name": "a"}')),
    *(
        S(29, name, 2, "setup", PREPARED, (told,), hooks=seeds(
            f'{{"group": "kb", "name": {first!r}}}', f'{{"group": "kb", "name": {second!r}{more}}}'))
        for name, first, second, more, told in (
            ("path twice", "a.md", "a.md", "", "a.md"),
            ("source_id twice", "a.md", "b.md", ', "source_id": "0"', "'0'"),
            ("letter case", "a.md", "A.md", "", "A.md"),
            ("composition", "\u00e9.md", "e\u0301.md", "", ".md"),
            ("a folder's name", "a", "a/b.md", "", "a/b.md"),
        )
    ),
    S(30, "a long seed", 2, "setup", PREPARED, ("1000000",), hooks=seeds(
        '{"group": "kb", "name": "a", "content": "x" * 1_000_001}')),
    S(30, "many seeds", 2, "setup", PREPARED, ("2000",), hooks=seeds(
        '*({"group": "kb", "name": str(at)} for at in range(2_001))')),
    S(30, "21 MB of seeds", 2, "setup", PREPARED, ("20000000",), hooks=seeds(
        '*({"group": "kb", "name": str(at), "content": "x" * 1_000_000} for at in range(21))')),
    S(31, "no seeds", 2, "setup", PREPARED, ("target_documents",), hooks=seeds()),
    S(31, "a path that leaves", 2, "setup", PREPARED, ("../x.md",), hooks=seeds('{"group": "kb", "name": "../x.md"}')),
    S(31, "an absolute path", 2, "setup", PREPARED, ("/x.md",), hooks=seeds('{"group": "kb", "name": "/x.md"}')),
    S(
        32, "a long name", 2, "setup", PREPARED, ("n" * 20,), ours="no disk takes it, so it is refused at once",
        hooks=seeds('{"group": "kb", "name": "n" * 300}'),
    ),
    S(
        32, "NUL in a name", 2, "setup", PREPARED, ("kb",), ours="no disk takes it, so it is refused at once",
        hooks=seeds('{"group": "kb", "name": "a\\0b"}'),
    ),
    S(
        33, "documents without prepare_run", 2, "integration", "I", ("prepare_run",),
        hooks=seeds('{"group": "kb", "name": "a"}') + "del Setup.prepare_run",
    ),
    S(34, "open_candidate raises on enter", 2, "setup", WITH_CANDIDATE, ("ValueError: none",), hooks=OPENING.replace(
        "yield 1", "raise ValueError('none')\n        yield 1")),
    S(35, "open_candidate raises on exit", 2, "setup", WITH_CANDIDATE, ("ValueError: no end",), hooks=OPENING + """
        raise ValueError("no end")
"""),
    S(
        35, "so does prepare_run", 2, "setup", WITH_CANDIDATE, ("ValueError: no end", "OSError: left open"),
        ours="the first failure is the error; that of prepare_run follows it",
        hooks=OPENING + "        raise ValueError('no end')\ndef closing(): raise OSError('left open')\n",
    ),
    S(36, "open_candidate returns a number", 2, "setup", "ICPLLLIp", ("open_candidate", ACM), hooks="""
def open_candidate(*, targets_dir, scratch_dir): return 1
"""),
    S(36, "open_candidate returns a coroutine", 2, "setup", "ICPLLLIp", ("open_candidate", ACM), hooks="""
async def other(): return 1
def open_candidate(*, targets_dir, scratch_dir): return other()
"""),
    S(37, "open_candidate is a coroutine function", 2, "integration", "I", ("open_candidate",), hooks="""
async def open_candidate(*, targets_dir, scratch_dir): return 1
"""),
    S(37, "open_candidate lacks a parameter", 2, "integration", "I", ("open_candidate", "scratch_dir"), hooks="""
@asynccontextmanager
async def open_candidate(*, targets_dir): yield 1
"""),
    *(
        S(38, name, 2, "setup", LOADED, ("'f'", told), hooks=staged(body))
        for name, told, body in (
            ("a missing file", "", "file.unlink()"),
            ("a symbolic link", "link", "file.rename(folder / 'g')\nfile.symlink_to(folder / 'g')"),
            ("a hard link", "link", "os.link(file, folder / 'g')"),
            ("a file outside", "", "more['path'] = Path(__file__)"),
            ("another case's file", "",
             "more['path'] = runtime.case_files_dir(row['id'] + '-2') / 'f'\nmore['path'].touch()"),
        )
    ),
    S(
        38, "a folder", 0, "", GOOD, hooks=staged("file.unlink()\nfile.mkdir()\n(file / 'a').touch()"),
        ours="a folder is archived",
    ),
    *(
        S(39, name, 2, "setup", LOADED, told, hooks=staged(body))
        for name, told, body in (
            ("a wrong size", ("'f'", "6"), "more['expected_size_bytes'] = 6"),
            ("a wrong hash", ("'f'", "SHA-256"), "more['expected_sha256'] = '0' * 64"),
            ("64 MiB + 1", ("'f'", "67108864"), "os.truncate(file, (64 << 20) + 1)"),
        )
    ),
    *(
        S(39, name, 2, "setup", LOADED, (told,), hooks=loading(f"""\
folder, files = runtime.case_files_dir(row["id"]), []
for at in range({count}):
    (folder / str(at)).touch()
    os.truncate(folder / str(at), {size})
    files.append(CaseFile(path=folder / str(at), name=str(at)))
yield Case(id=row["id"], input={{}}, expected=None, files=files)"""))
        for name, told, count, size in (("129 files", "128", 129, 1), ("5 x 64 MiB", "268435456", 5, 64 << 20))
    ),
    S(40, "128 files", 0, "", GOOD, hooks=loading("""\
folder, files = runtime.case_files_dir(row["id"]), []
for at in range(128):
    (folder / str(at)).touch()
    files.append(CaseFile(path=folder / str(at), name=str(at)))
yield Case(id=row["id"], input={}, expected=None, files=files)""")),
    S(41, "an undeclared link", 2, "setup", LOADED, ("d/link",), hooks=staged(
        "(folder / 'd').mkdir()\n(folder / 'd' / 'link').symlink_to(file)")),
    S(41, "an undeclared pipe", 2, "setup", LOADED, ("pipe",), hooks=staged("os.mkfifo(folder / 'pipe')")),
    S(42, "an id that is never yielded", 2, "setup", LOADED, ("never yielded", "a-2"), hooks=staged(
        "runtime.case_files_dir(row['id'] + '-2')")),
    S(43, "case_files_dir in prepare_run", 2, "setup", PREPARED, ("inside load_cases",), hooks="""
@asynccontextmanager
async def early(self, *, runtime):
    note("P")
    try:
        runtime.case_files_dir("a")
        yield results()
    finally:
        note("p")
Setup.prepare_run = early
"""),
    *(
        S(44, " ".join(("marker in run_case", *argv)), code, "", GOOD, ("SCAFFOLD", "run_case"), argv=argv, hooks="""
async def run_case(*, case_input, runtime):
    return CaseResult(case_input)  # TODO(beaker): call the application
""")
        for argv, code in (((), 0), (("--strict",), 2))
    ),
    *(
        S(number, f"marker in {name}", 2, "", steps, ("SCAFFOLD",), argv=("--strict",), hooks=hooks, ours=ours)
        for number, name, steps, ours, hooks in (
            (45, "expected of test", GOOD, "", loading(
                "yield Case(id=row['id'], input={}, expected='TODO(' 'beaker)' * (row['id'] == 'c'))")),
            (45, "input of train", GOOD, "", loading(
                "yield Case(id=row['id'], input={'TODO(' 'beaker)': 1}, expected=None)")),
            (45, "a seed document", GOOD, "", seeds('{"group": "kb", "name": "a", "content": "TODO(" "beaker)"}')),
            (46, "open_candidate", WITH_CANDIDATE, "found everywhere", OPENING + "        # TODO(beaker)\n"),
            (46, "a constant", GOOD, "found everywhere", "PROMPT = 'TODO(beaker): write'\n"),
            (46, "a comment", GOOD, "found everywhere", "# TODO(beaker): more\n"),
            (46, "metadata", GOOD, "found everywhere", loading(
                "yield Case(id=row['id'], input={}, expected=None, metadata={'a': 'TODO(' 'beaker)'})")),
        )
    ),
    S(47, "module raises", 2, "integration", "I", ("ValueError: no module",), hooks="raise ValueError('no module')"),
    S(47, "syntax error", 2, "integration", "", ("SyntaxError",), module="def"),
    S(47, "no module", 2, "integration", "", ("app",), module=""),
    S(47, "no attribute", 2, "integration", "I", ("other",), config="integrations: {app: {entrypoint: 'app:other'}}"),
    S(47, "no Integration", 2, "integration", "I", ("note",), config="integrations: {app: {entrypoint: 'app:note'}}"),
    S(48, "sys.exit(7) at import", 2, "integration", "I", ("7",), hooks="sys.exit(7)", ours="a failed stage"),
    S(48, "sys.exit(0) at import", 2, "integration", "I", ("0",), hooks="sys.exit(0)", ours="a failed stage"),
    S(
        48, "sys.exit(5) in a loader", 2, "setup", LOADED, ("5",), ours="a failed stage",
        hooks=loading("sys.exit(5)\nyield"),
    ),
    S(
        49, "other targets", 2, "integration", "I", ("targets",), entry="targets: {kind: documents, groups: [kb]}",
        ours="a launch refuses it",
    ),
    S(49, "targets: 12", 2, "config", "", ("targets",), entry="targets: 12", ours="a launch refuses it"),
    S(49, "required_env unset", 0, "", GOOD, ("SOME_KEY",), entry="required_env: [SOME_KEY]", ours="a warning"),
    S(49, "required_env reserved", 2, "config", "", ("PATH",), entry="required_env: [PATH]", ours="so does a launch"),
    S(49, "bad pip_install", 2, "config", "", ("-r x",), entry="pip_install: ['-r x']", ours="a build refuses it"),
    *(
        S(50, name, 2, "config", "", told, entry=entry, files={"pyproject.toml": f"[project]\nname='x'\n{requires}"})
        for name, told, entry, requires in (
            ("<3.12", ("3.12", "3.13"), "", "requires-python='<3.12'"),
            ("no specifier", ("pyproject.toml",), "", "requires-python='new'"),
            ("base 3.12, >=3.13", ("3.13",), "environment_base: 'debian_slim:3.12'", "requires-python='>=3.13'"),
            ("base 3.11", ("3.12", "3.13"), "environment_base: 'debian_slim:3.11'", ""),
        )
    ),
    *(
        S(51, name, 2, "config", "", told, config=config)
        for name, told, config in (
            ("malformed YAML", (".beaker/beaker.yaml", ":1"), "integrations: [}"),
            ("a list at the top", (".beaker/beaker.yaml",), "- 1"),
            ("source_dir outside", ("source_dir",), f"{APP}, source_dir: ../x}}}}"),
            ("source_dir absolute", ("source_dir",), f"{APP}, source_dir: /x}}}}"),
            ("no import root", ("package_import_root", "src"), f"{APP}, package_import_root: src}}}}"),
        )
    ),
    *(
        S(52, name, 2, "", "", told, config=config, argv=argv, ours="every refusal is exit code 2")
        for name, told, config, argv in (
            ("unknown id", ("'other'", "app"), None, ("--integration-id", "other")),
            ("two entries", ("app", "two"), f"{APP}}}, two: {{entrypoint: 'app:b'}}}}", ()),
            ("an empty file", ("no integration",), "{}", ()),
        )
    ),
    S(
        52, "legacy keys", 2, "config", "", ("agent_key",), ours="refused with every other fault of the file",
        config=f"agent_key: x\n{APP}}}}}",
    ),
]  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Where the project of a scenario is made."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def make(folder: Path, scenario: Scenario) -> None:
    """Write the project of a scenario."""
    (folder / ".beaker").mkdir()
    entry = f"integrations:\n  app:\n    entrypoint: app:integration\n    {scenario.entry}\n"
    written = scenario.config or f"{entry}config_defaults: {{{scenario.defaults}}}\n"
    (folder / ".beaker" / "beaker.yaml").write_text(written)
    if scenario.module is None:
        (folder / "app.py").write_text(BASE + dedent(scenario.hooks) + END)
    elif scenario.module:
        (folder / "app.py").write_text(scenario.module)
    (folder / "dataset").mkdir()
    for split, lines in (ROWS | scenario.rows).items():
        if lines is not None:
            data = lines if isinstance(lines, bytes) else "".join(f"{line}\n" for line in lines).encode()
            (folder / "dataset" / f"{split}.jsonl").write_bytes(data)
    for name, text in scenario.files.items():
        (folder / name).write_text(text)


def steps(folder: Path) -> str:
    """What the hooks of a project wrote."""
    file = folder / "steps"
    return file.read_text() if file.exists() else ""


def variants() -> Iterator[Any]:
    """The first variant of each row; `soak` has the others."""
    seen: set[int] = set()
    for scenario in SCENARIOS:
        marks = [pytest.mark.soak] if scenario.number in seen else []
        seen.add(scenario.number)
        yield pytest.param(scenario, marks=marks, id=f"{scenario.number} {scenario.name}".replace("/", " "))


ENVIRON = {"PATH": os.environ["PATH"]}


@pytest.mark.parametrize("scenario", [*variants()])
def test_scenario(scenario: Scenario, project: Path, beaker: Callable[..., Any]) -> None:
    """It ends as the table says: exit code, failing stage, hooks in their order, and what is told."""
    make(project, scenario)
    done = beaker("run", "smoke", *scenario.argv, cwd=project, environ=ENVIRON)
    failed = [line.split()[1:] for line in done.out.splitlines() if line.startswith("  FAIL ")]
    assert (done.code, failed) == (scenario.code, [scenario.stage.split()] if scenario.stage else []), done
    assert steps(project) == scenario.steps
    at = 0
    for told in scenario.told:
        found = (done.out + done.err).find(told, at if "first failure" in scenario.ours else 0)
        assert found >= 0, (told, done)
        at = max(at, found)


@pytest.mark.parametrize("selected", ["--dataset", "--dataset-id", "in the configuration"])
def test_scenario_53__dataset_that_a_place_keeps__is_checked(
    project: Path, beaker: Callable[..., Any], hosted: Any, selected: str
) -> None:
    """By its reference or its id, named on the line or configured; setup learns what the place calls it."""
    hook = "def opening(): note('(')\n" + loading(
        "assert runtime.dataset.name == 'invoices'\nassert runtime.dataset.revision.startswith('sha256:')\n"
        "yield Case(id=row['id'], input={}, expected=None)"
    )
    defaults = "max_concurrency: 1" if selected.startswith("--") else "dataset_ref: invoices@production"
    argv = {"--dataset": (selected, "invoices@production"), "--dataset-id": (selected, "art_1")}.get(selected, ())
    make(project, Scenario(53, selected, 0, "", "", hooks=hook, defaults=defaults))
    done = beaker("run", "smoke", *argv, cwd=project, environ=reaching(hosted))
    assert (done.code, steps(project)) == (0, "ICP(LLp"), done


@pytest.mark.parametrize("fault", ["unknown reference", "no test.jsonl", "a path that leaves"])
def test_scenario_54__dataset_that_cannot_be_had__fails_its_stage(
    project: Path, beaker: Callable[..., Any], hosted: Any, fault: str
) -> None:
    """What the place refuses, or offers and may not, is a failure of the dataset's stage, once the code is imported."""
    offered = offer(hosted)
    if fault == "unknown reference":
        hosted.answer("GET", "/v1/datasets/resolve", 404, {"detail": "no dataset of that name"})
        told = "no dataset of that name"
    else:
        if fault == "no test.jsonl":
            offered, told = offered[1:], "test.jsonl"
        else:
            offered[0]["path"], told = "../test.jsonl", "BK812"
        hosted.answer("GET", "/v1/datasets/download-urls", 200, {"files": offered})
    make(project, Scenario(54, fault, 2, "dataset", "I", defaults="max_concurrency: 1"))
    done = beaker("run", "smoke", "--dataset", "invoices", "--junit", "r.xml", cwd=project, environ=reaching(hosted))
    assert (done.code, steps(project)) == (2, "I"), done
    assert "\n  FAIL dataset\n" in done.out
    assert told in done.err
    assert 'name="dataset"' in (project / "r.xml").read_text()


def reaching(hosted: Any) -> dict[str, str]:
    """The environment of somebody who has an account with the service."""
    return ENVIRON | {
        "BEAKER_API_BASE_URL": hosted.url,
        "BEAKER_API_KEY": hosted.api_key,
        "BEAKER_AGENT_KEY": hosted.agent_key,
    }


def offer(hosted: Any) -> list[dict[str, Any]]:
    """The files of the dataset, as the service offers them."""
    return [
        {
            "path": path.rpartition("/")[2],
            "download_url": f"{hosted.url}{path}",
            "size_bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
        for path, data in sorted(hosted.store.items())
    ]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"])
def test_scenario_55__signal_while_loading__leaves_the_setup(
    project: Path, beaker: Callable[..., Any], number: int, code: int
) -> None:
    """Either signal cancels the loaders and leaves prepare_run before the command ends, without a traceback."""
    hook = loading("note('.')\nawait asyncio.sleep(300)\nyield")
    make(project, Scenario(55, "signal", code, "", "", hooks=hook))
    over = threading.Event()

    def send() -> None:
        while steps(project).count(".") < len(ROWS["train"]):
            if over.wait(0.02):
                return
        os.kill(os.getpid(), number)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        done = beaker("run", "smoke", cwd=project, environ=ENVIRON)
    finally:
        over.set()
        sender.join()
    assert done.code == code
    assert (steps(project).replace(".", ""), "Traceback" in done.err) == ("ICPLLp", False)


def test_scenarios__all_rows__are_here() -> None:
    """Rows 1 to 52 are in the table, 53 to 55 are tests of their own."""
    assert {scenario.number for scenario in SCENARIOS} == set(range(1, 53))
