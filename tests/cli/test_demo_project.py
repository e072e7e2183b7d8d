"""The demo's parts: its rows, the reader, the proposer that learns, and the project laid out on disk."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from returns.pipeline import is_successful

from beaker.cli.demo.invoices import make_rows
from beaker.cli.demo.project import TEMPLATE, create_project, write_dataset
from beaker.cli.demo.vendors import VENDORS

Row = dict[str, Any]


@pytest.fixture(scope="module")
def reader() -> ModuleType:
    return template_module("invoice_reader")


@pytest.fixture(scope="module")
def learner(reader: ModuleType) -> ModuleType:
    return template_module("learn_rules")


def template_module(name: str) -> ModuleType:
    """A module of the template, imported by the name it has in the project."""
    import importlib.util

    spec = importlib.util.spec_from_file_location(name, TEMPLATE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    before = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module


def seeds() -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in TEMPLATE.glob("playbooks/*.txt")}


def mean(reader: ModuleType, texts: Mapping[str, str], rows: list[Row]) -> float:
    """Share of fields that are read right."""
    books = {name: reader.parse_playbook(text) for name, text in texts.items()}
    hits = [
        reader.read_invoice(row["text"], books)[field] == row["expected"][field]
        for row in rows
        for field in reader.FIELDS
    ]
    return sum(hits) / len(hits)


def test_rows__one_seed__the_same_everywhere() -> None:
    """The data are the same on every machine and interpreter."""
    rows = json.dumps(make_rows(), ensure_ascii=False, sort_keys=True).encode()
    assert sha256(rows).hexdigest() == "7f13c96027582714f592dde72fdc36448695e47e458b42b2020df63124777a0e"


def test_rows__ids__are_unique_and_splits_disjoint() -> None:
    """TRAIN and TEST have 60 and 40 rows that share neither id nor text."""
    train, test = make_rows()
    assert (len(train), len(test)) == (60, 40)
    rows = [*train, *test]
    assert len({row["id"] for row in rows}) == len({row["text"] for row in rows}) == 100


def test_rows__variety__covers_formats_currencies_and_a_vendor_only_in_test() -> None:
    """Eleven vendors in TRAIN, a twelfth in TEST alone, nine currencies, ten ways to write a date."""
    train, test = make_rows()
    assert {row["expected"]["vendor"] for row in train} == {vendor.name for vendor in VENDORS[:-1]}
    assert VENDORS[-1].name in {row["expected"]["vendor"] for row in test}
    assert len({vendor.currency for vendor in VENDORS}) == 9
    assert len({vendor.date_form for vendor in VENDORS}) == 10
    assert len({vendor.layout for vendor in VENDORS}) == 4


def test_rows__expected__stands_in_the_text_unless_misread() -> None:
    """A person could read the number off the invoice, but for the misread digits of a few scans."""
    rows = [row for split in make_rows() for row in split]
    misread = [row for row in rows if row["expected"]["number"] not in row["text"]]
    assert 0 < len(misread) <= 8
    assert all(row["expected"]["number"].replace("0", "O", 1) in row["text"] for row in misread)


@pytest.mark.parametrize(
    ("value", "form", "date"),
    [
        ("14.03.2024", "DD.MM.YYYY", "2024-03-14"),
        ("03/04/2024", "MM/DD/YYYY", "2024-03-04"),
        ("03/04/2024", "DD/MM/YYYY", "2024-04-03"),
        ("March 4, 2024", "MONTH DD, YYYY", "2024-03-04"),
        ("2024年3月14日", "YYYY年MM月DD", "2024-03-14"),
        ("14/03/2024", "MM/DD/YYYY", None),
        ("4 brumaire 2024", "DD MONTH YYYY", None),
        ("", "DD.MM.YYYY", None),
    ],
)
def test_read_date__form__decides(reader: ModuleType, value: str, form: str, date: str | None) -> None:
    """A date is read by the form of its rule, or not at all."""
    assert reader.read_date(value, form, {"march": "3"}) == date


@pytest.mark.parametrize(
    ("value", "sample", "amount"),
    [
        ("1.234,56 €", "1.234,56", "1234.56"),
        ("CHF 1'234.50", "1'234.56", "1234.50"),
        ("1\u202f234,56 EUR", "1 234,56", "1234.56"),
        ("₹ 1,23,456.00", "1,234.56", "123456.00"),
        ("¥3,343,668", "1,234", "3343668.00"),
        ("1.234,56", "1,234.56", None),
        ("12", "1,234.56", None),
        ("12.50", "nonsense", None),
    ],
)
def test_read_amount__sample__decides(reader: ModuleType, value: str, sample: str, amount: str | None) -> None:
    """An amount is read by the sample of its rule, or not at all."""
    assert reader.read_amount(value, sample) == amount


def test_seeds__know_some_vendors__read_less_than_half(reader: ModuleType) -> None:
    """The seeds leave much to learn, and are of some use."""
    for rows in make_rows():
        assert 0.3 < mean(reader, seeds(), rows) < 0.6


def test_learn__from_half_of_train__reads_the_rest_and_test(reader: ModuleType, learner: ModuleType) -> None:
    """Rules learned from thirty invoices hold on invoices that were not looked at."""
    train, test = make_rows()
    learned = learner.learn(seeds(), [(row["text"], row["expected"]) for row in train[:30]])
    assert mean(reader, learned, train[30:]) > 0.85
    assert mean(reader, learned, test) > 0.8


@pytest.mark.parametrize("shift", [1, 2, 3, 7, 11])
def test_learn__expected_of_other_cases__teaches_nothing(reader: ModuleType, learner: ModuleType, shift: int) -> None:
    """With another invoice's fields as expected values there is nothing to find, so nothing gets better."""
    train, test = make_rows()
    fields = [row["expected"] for row in train[:30]]
    shifted = fields[shift:] + fields[:shift]
    learned = learner.learn(seeds(), [(row["text"], e) for row, e in zip(train[:30], shifted, strict=True)])
    assert mean(reader, learned, test) < mean(reader, seeds(), test) + 0.05


def test_learn__twice__changes_nothing_more(learner: ModuleType) -> None:
    """What has been learned from a set of examples is not learned again."""
    train, _ = make_rows()
    examples = [(row["text"], row["expected"]) for row in train[:20]]
    once = learner.learn(seeds(), examples)
    assert learner.learn(once, examples) == once


def test_learn_rules__as_a_process__edits_the_working_copy_only(tmp_path: Path) -> None:
    """The script reads the evidence it is given and writes playbooks; without evidence it writes nothing."""
    train, _ = make_rows()
    playbooks = tmp_path / "work" / "documents" / "playbooks"
    cases = tmp_path / "work" / "evidence" / "cases"
    for folder in (playbooks, cases, tmp_path / "project" / "proposer"):
        folder.mkdir(parents=True)
    for name, text in seeds().items():
        (playbooks / name).write_text(text, encoding="utf-8")
    for name, place in (("invoice_reader.py", ""), ("learn_rules.py", "proposer")):
        (tmp_path / "project" / place / name).write_text((TEMPLATE / name).read_text(encoding="utf-8"))
    script = tmp_path / "project" / "proposer" / "learn_rules.py"
    environ = {"BEAKER_WORKSPACE": str(tmp_path / "work"), "BEAKER_EVIDENCE": str(tmp_path / "work" / "evidence")}

    def learn() -> str:
        done = subprocess.run(
            [sys.executable, script], env={**os.environ, **environ}, check=True, capture_output=True, text=True
        )
        return done.stdout

    assert learn() == ""
    for number, row in enumerate(train[:6], 1):
        case = {"id": row["id"], "input": {"text": row["text"]}, "expected": row["expected"], "output": None}
        (cases / f"{number}.json").write_text(json.dumps(case), encoding="utf-8")
    assert re.search(r"^new: [a-z-]+\.txt$", learn(), re.MULTILINE)
    assert len(list(playbooks.iterdir())) > len(seeds())


def test_create_project__empty_folder__commits_all_but_the_data(tmp_path: Path, git: Callable[..., str]) -> None:
    """The commit holds the project; the dataset lies beside it, ignored; nothing is dirty."""
    folder = tmp_path / "söme folder"
    made = create_project(folder)
    assert is_successful(made)
    assert git("rev-parse", "HEAD", cwd=folder).strip() == made.unwrap()
    tracked = git("ls-files", cwd=folder).split()
    assert {".beaker/beaker.yaml", "invoice_integration.py", "proposer/learn_rules.py"} <= set(tracked)
    assert not [path for path in tracked if "dataset" in path]
    assert git("status", "--porcelain", cwd=folder) == ""
    assert (folder / "dataset" / "train.jsonl").read_text(encoding="utf-8").count("\n") == 60


def test_create_project__commit_settings_of_the_user__do_not_matter(
    tmp_path: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks, signing and a missing identity in the user's configuration have no say in the demo's commit."""
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "pre-commit").chmod(0o755)
    config = tmp_path / "gitconfig"
    config.write_text(f"[core]\n\thooksPath = {hooks}\n[commit]\n\tgpgSign = true\n[user]\n\tuseConfigOnly = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text(config.read_text())
    made = create_project(tmp_path / "demo")
    assert is_successful(made)
    assert git("log", "--format=%an %G?", cwd=tmp_path / "demo").strip() == "Beaker N"


def test_create_project__folder_in_use__is_refused_untouched(tmp_path: Path) -> None:
    """Nothing is written into a folder that holds something."""
    (tmp_path / "mine.txt").write_text("x")
    made = create_project(tmp_path)
    assert made.failure().code == "BK721"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_create_project__git_missing__is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Git the demo says that it needs Git."""
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    problem = create_project(tmp_path / "demo").failure()
    assert problem.code == "BK710"
    assert "Git" in problem.message
    assert problem.hint


def test_write_dataset__rows__are_one_json_object_a_line(tmp_path: Path) -> None:
    """The files hold what the generator made."""
    write_dataset(tmp_path)
    lines = (tmp_path / "test.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == make_rows()[1]
