"""The two coding agents of `docs/proposers.md`, played by stand-ins: the commands there run word by word."""

import asyncio
import json
import os
import re
import stat
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from beaker.core.documents import TargetDocument
from beaker.core.environment import base_environment
from beaker.core.proposer_command import CommandWorld, command_warnings
from beaker.core.repository_tree import RepositoryFile, TrackedFile
from beaker.core.targets import documents, repository
from beaker.core.usage import ModelUsage
from beaker.engine.candidates import CandidateTree
from beaker.engine.evidence import Evidence
from beaker.engine.judging import Scope
from beaker.engine.proposal import Proposal, ProposalRequest
from beaker.engine.proposers.command import CommandProposer
from beaker.files.yaml_tree import parse_yaml
from beaker.runtime.supervisor import Supervisor

PAGE = Path(__file__).parents[2] / "docs" / "proposers.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here")

STAND_IN = """#!{python}
import json, os, sys
from pathlib import Path

arguments = sys.argv[1:]
assert sys.stdin.read() == "", "nobody types"
program, prompt = Path(sys.argv[0]).name, arguments[-1]
assert "evidence/summary.json" in prompt and "\\n" not in prompt.strip(), prompt
flags = arguments[:-1]
expected = {{
    "claude": ["--print", "--permission-mode=acceptEdits", "--max-turns=60"],
    "codex": ["exec", "--sandbox=workspace-write", "--skip-git-repo-check", "--ephemeral"],
}}[program]
assert flags == expected, flags

summary = json.loads(Path("evidence/summary.json").read_text())
case = json.loads(Path("evidence/cases/1.json").read_text())
assert case["minibatch"]
notes = Path({{"claude": ".claude", "codex": ".codex"}}[program])
notes.mkdir()
(notes / "settings.local.json").write_text("{{}}")
Path(".aider.chat.history.md").write_text("notes")

book = Path("documents/book")
(book / "rules.txt").write_text((book / "rules.txt").read_text() + case["input"][0] + "=" + case["expected"] + "\\n")
(book / "new").mkdir()
(book / "new" / "hint.md").write_text("look at the first letter\\n")
(book / "old.txt").unlink()
# Agents write a file beside and move it over the other.
app = Path("repository/src/app.py")
beside = app.with_suffix(".tmp")
beside.write_text(app.read_text().replace("1", "2"))
os.replace(beside, app)
Path("repository/src/__pycache__").mkdir()
Path("repository/src/__pycache__/app.pyc").write_bytes(b"x")
assert os.path.isdir("repository/.git")
Path(os.environ["BEAKER_USAGE"]).write_text(json.dumps([{{"model": "v:m", "input_tokens": 5, "output_tokens": 2}}]))
print("progress " * 20000, file=sys.stderr)
print(json.dumps({{"type": "result", "key": os.environ["{key}"], "others": "SECRET" in os.environ}}))
"""


def commands() -> dict[str, tuple[list[str], str]]:
    """The agents' commands of the page, by program: argv, and the variable that is passed."""
    found = {}
    for block in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        settings: Any = parse_yaml(block.encode(), "page").unwrap().get("harness_optimization")
        command = None if settings is None else settings.get("command")
        if command is not None and command.items[0].raw in ("claude", "codex"):
            argv = [item.raw for item in command.items]
            found[argv[0]] = (argv, settings.get("proposer_env").items[0].raw)
    return found


def test_page__has_the_commands_of_two_agents() -> None:
    """Nothing of either command is doubtful to a launch, once the program is there."""
    assert set(commands()) == {"claude", "codex"}
    world = CommandWorld(files={"app.py": False}, first_bytes=lambda path: b"", program=lambda name: True)
    for argv, _ in commands().values():
        assert [*command_warnings(argv, world, where="command")] == []


PARENT = CandidateTree({"book": {"rules.txt": "a=vowel\n", "old.txt": "old\n", "kept.txt": "kept\n"}})
APP = b"x = 1\n"


def propose(argv: list[str], environ: dict[str, str], folder: Path) -> Proposal:
    """What came of one proposal with a command, over documents and the repository."""

    def write(_: CandidateTree, root: Path) -> None:
        (root / "src").mkdir(parents=True)
        (root / "src" / "app.py").write_bytes(APP)

    scope = Scope(
        targets=(documents(groups=("book",)), repository(("src",))),
        seeds=tuple(
            TargetDocument(source_id=name, group="book", name=name, content=text)
            for name, text in PARENT.documents["book"].items()
        ),
        commit={"src/app.py": TrackedFile("100644", sha256(APP).hexdigest())},
    )
    case = {"id": "1", "input": "bee", "expected": "early", "objective": 0.0, "minibatch": True}

    async def proposed() -> Proposal:
        async with Supervisor() as supervisor:
            proposer = CommandProposer(
                supervisor=supervisor,
                command=tuple(argv),
                environ=environ,
                scope=scope,
                folder=folder,
                timeout=60,
                write=write,
                project=lambda: folder,
                return_project=lambda _: None,
                ignored=lambda _: set(),
                clean=lambda text: text.replace("sesame-8841", "[redacted]"),
            )
            return await proposer.propose(ProposalRequest(1, 7, PARENT, Evidence({"parent": 0}, (case,))))

    return asyncio.run(proposed())


@pytest.mark.parametrize("program", ["claude", "codex"])
def test_agent__of_the_page__makes_a_child_of_all_it_may_change(program: str, tmp_path: Path) -> None:
    """Edits, new and deleted files of both targets; its notes and byte code are dropped; output is bounded and clean;
    what it used is counted; it gets the key, and no other variable.
    """
    argv, key = commands()[program]
    stand_in = tmp_path / "bin" / program
    stand_in.parent.mkdir()
    stand_in.write_text(STAND_IN.format(python=sys.executable, key=key))
    stand_in.chmod(stat.S_IRWXU)
    caller = {**os.environ, "PATH": f"{stand_in.parent}:{os.environ['PATH']}", key: "sesame-8841", "SECRET": "x"}
    made = propose(argv, base_environment(caller, (key,)), tmp_path / "proposals")
    assert (made.outcome, made.message) == ("child", "")
    assert made.tree is not None
    assert made.tree.documents["book"] == {
        "kept.txt": "kept\n",
        "new/hint.md": "look at the first letter\n",
        "rules.txt": "a=vowel\nb=early\n",
    }
    assert made.tree.repository == {"src/app.py": RepositoryFile("100644", b"x = 2\n")}
    assert made.changed == ("book/new/hint.md", "book/old.txt", "book/rules.txt", "src/app.py")
    assert json.loads(made.stdout) == {"type": "result", "key": "[redacted]", "others": False}
    assert len(made.stderr) < 70_000
    assert made.usage == (ModelUsage("v:m", 5, 2),)
    assert [*(tmp_path / "proposals").iterdir()] == []


@pytest.mark.parametrize("stated", ["[]", "{}", "no json", "[" * 10_000, '[{"model": 7}]', "", '"x"', "null"])
def test_usage__in_another_form__counts_nothing(stated: str, tmp_path: Path) -> None:
    """A command may write there what it likes."""
    script = "import os, sys; open(os.environ['BEAKER_USAGE'], 'w').write(sys.argv[1])"
    made = propose([sys.executable, "-c", script, stated], dict(os.environ), tmp_path / "proposals")
    assert (made.outcome, made.usage) == ("no_change", ())
