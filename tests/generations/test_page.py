"""The example of docs/generations.md is executed as it stands there, before and after."""

import asyncio
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from beaker import RolloutRuntime, load_integration
from beaker.core.launch_options import REASONS_HERE, SPEC_LAUNCH_KEYS
from beaker.core.migration_code import migrate_module
from beaker.core.migration_config import other_meaning, plan_config
from beaker.files.config_migration import migrated_config
from beaker.files.project import read_config
from beaker.files.yaml_tree import parse_yaml
from beaker.sdk.earlier import named_results
from beaker.sdk.loading import load_entry
from beaker.sdk.setups import check_setup_results
from beaker.sdk.trace import NOOP_TRACE
from beaker.testing import run_case_once, run_setup_once, score_once

PAGE = Path(__file__).parents[2] / "docs" / "generations.md"
BLOCK = re.compile(
    r"^```\{code-block\} \w+\n:caption: (?P<name>\w+(\.yaml)?)(\.py)?\n\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
BLOCKS = {block["name"]: block["text"] for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))}
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
    blocks = {name: BLOCKS[name] for name in ("before", "after")}
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
    section = PAGE.read_text(encoding="utf-8").partition("## What to change")[2].partition("## ")[0]
    rows = {row["old"]: row["new"] for row in TABLE.finditer(section)}
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


def test_page__migrate__makes_of_the_module_before_what_stands_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`beaker migrate` leaves nothing of the example to its author: it does the same, and warns of nothing."""
    found = migrate_module(BLOCKS["before"], "before.py").unwrap()
    assert found.by_hand == ()
    (tmp_path / "migrated.py").write_text(found.source)
    monkeypatch.syspath_prepend(tmp_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _, output = asyncio.run(used("migrated", tmp_path / "targets"))
    monkeypatch.delitem(sys.modules, "migrated")
    assert (output, caught) == ("Hello Ann", [])


def test_page__configuration__becomes_what_stands_after() -> None:
    """The example of a configuration is edited as `beaker migrate` does it, and says the same."""
    before, after = (BLOCKS[f"{name}.yaml"].encode() for name in ("before", "after"))
    plan = plan_config(parse_yaml(before, "f").unwrap(), "f", spec_id="mine")
    assert plan.by_hand == ()
    assert migrated_config(before, plan.edits, file="f").unwrap() == after
    read = [read_config(text, "f").unwrap() for text in (before, after)]
    assert other_meaning(*read, spec_id="mine") == ""
    assert (len(read[0].warnings), read[1].warnings) == (1, ())


@pytest.mark.filterwarnings("ignore:the Spec API is deprecated:DeprecationWarning")
def test_page__spec_and_integration__do_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Spec of the page, run as an Integration, and the Integration in its place: same answers and scores."""
    monkeypatch.syspath_prepend(tmp_path)
    rows = [{"id": "a", "name": "Ann", "greeting": "Hello Ann"}, {"id": "b", "name": "Bo", "greeting": "Hi Bo"}]
    found = []
    for name, attribute in (("spec_before", "build_spec"), ("spec_after", "integration")):
        (tmp_path / f"{name}.py").write_text(BLOCKS[name])
        integration = load_entry(f"{name}:{attribute}", is_spec=name == "spec_before")
        prepared = run_setup_once(integration, {"train": rows, "test": rows[:0]})
        results = [run_case_once(integration, case, documents=prepared.documents) for case in prepared.train]
        scores = [score_once(integration, *pair) for pair in zip(prepared.train, results, strict=True)]
        seeds = [(one.group, one.name, one.content, one.source_id) for one in prepared.documents]
        ids = [case.id for case in prepared.train]
        found.append(
            (ids, seeds, [one.output for one in results], [(one.objective, one.field_scores) for one in scores])
        )
        monkeypatch.delitem(sys.modules, name)
    assert found[0] == found[1]
    assert found[0][2] == ["Hello Ann", "Hello Bo"]


def test_page__options__are_those_of_the_launch() -> None:
    """Every option and setting of the Spec generation has its row."""
    text = PAGE.read_text(encoding="utf-8").partition("## Options and settings")[2]
    assert all(f"`{option}" in text for option in (*REASONS_HERE, *SPEC_LAUNCH_KEYS, "--spec-id"))
