"""The example of docs/generations.md is executed as it stands there, before and after."""

import asyncio
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from beaker import RolloutRuntime, load_integration
from beaker.sdk.earlier import named_results
from beaker.sdk.setups import check_setup_results
from beaker.sdk.trace import NOOP_TRACE

PAGE = Path(__file__).parents[2] / "docs" / "generations.md"
BLOCK = re.compile(
    r"^```\{code-block\} python\n:caption: (?P<name>\w+)\.py\n\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
TABLE = re.compile(r"^\| (?P<old>.*`.*) \| (?P<new>.*`.*) \|$", re.MULTILINE)


async def used(name: str, folder: Path) -> Any:
    """What the page's Integration of this name yields, opens and answers."""
    integration = load_integration(f"{name}:integration")
    setup = integration.run_setup()
    manager = setup.prepare_run(runtime=None)  # type: ignore[arg-type]  # the page's needs none
    async with manager as results:
        named = named_results(results, manager, integration.run_setup.prepare_run)
        _, seeds = check_setup_results(named, integration.targets)
    assert seeds is not None
    for document in seeds.target_documents:
        path = folder / document.group / document.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document.content)
    assert integration.open_candidate is not None
    async with integration.open_candidate(targets_dir=folder, scratch_dir=folder) as candidate:
        runtime = RolloutRuntime[Any](case_files_dir=folder, trace=NOOP_TRACE, candidate=candidate)
        result = await integration.run_case(case_input="Ann", runtime=runtime)
    return seeds, result.output


def test_page__before_and_after__do_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both load in one process and answer alike; only what stands before warns, about what the table lists."""
    blocks = {block["name"]: block["text"] for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))}
    assert list(blocks) == ["before", "after"]
    monkeypatch.syspath_prepend(tmp_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answers = []
        for name, text in blocks.items():
            (tmp_path / f"{name}.py").write_text(text)
            monkeypatch.delitem(sys.modules, name, raising=False)
            answers.append(asyncio.run(used(name, tmp_path / "targets")))
            monkeypatch.delitem(sys.modules, name)
    assert answers[0] == answers[1]
    assert answers[0][1] == "Hello Ann"
    lines = [(Path(one.filename).name, blocks["before"].splitlines()[one.lineno - 1].strip()) for one in caught]
    assert lines == [
        (
            "before.py",
            "from beaker import Case, CaseResult, CaseScore, DocumentRunSetup, DocumentRunSetupResult, Integration",
        ),
        ("before.py", "async def open_candidate(self, *, targets_dir, scratch_dir):"),
        ("before.py", "yield DocumentRunSetupResult(target_documents=[seed])"),
        ("before.py", 'return CaseResult(f"{runtime.candidate_runtime} {case_input}")'),
    ]


def test_page__table__has_what_became_of_every_old_form() -> None:
    """Each row of the table tells one old form and what to write instead."""
    rows = {row["old"]: row["new"] for row in TABLE.finditer(PAGE.read_text(encoding="utf-8"))}
    words = (
        "RepositoryRunSetup[",
        "DocumentRunSetup[",
        "yield RepositoryRunSetupResult",
        "yield DocumentRunSetupResult",
        "open_candidate(self",
        "runtime.candidate_runtime",
        "`ChangeSet`",
    )
    assert len(rows) == len(words)
    for word, old in zip(words, rows, strict=True):
        assert word in old
