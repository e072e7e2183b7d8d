"""What smoke says of settings and of the checkout before anything is launched."""

from pathlib import Path

import pytest

from beaker.core.limits import Limits
from beaker.files.git import commit_all, init_repository
from beaker.runtime.launchable import judge_budget, judge_checkout, judge_settings, process_limits_of, visible_test

COMMAND = {"command": ["true"]}


def said(found):
    return [f"{problem.where}: {problem.message}" for problem in found]


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize(
    "settings, where",
    [
        ({"max_rolouts": 300}, "config.max_rolouts"),
        ({"max_concurrency": "two"}, "config.max_concurrency"),
        ({"max_concurrency": 1, "maxConcurrency": 1}, "config.maxConcurrency"),
        ({"scorer_model": "a:b"}, "config.scorer_model"),
        ({"extra": [1]}, "config.extra"),
        ({"spend_budget_usd": "five"}, "config.spend_budget_usd"),
        ({"harness_optimization": {**COMMAND, "max_rollouts": "300"}}, "config.harness_optimization.max_rollouts"),
        ({"harness_optimization": {**COMMAND, "seed": 1, "timeouts": {"import": 0}}},
         "config.harness_optimization.timeouts.import"),
        ({"harness_optimization": {**COMMAND, "max_rollouts": 1, "maxRollouts": 1}},
         "config.harness_optimization.maxRollouts"),
        ({"harness_optimization": {**COMMAND, "score_repeats": "two"}}, "config.harness_optimization.score_repeats"),
        ({"harness_optimization": 7}, "config.harness_optimization"),
    ],
)  # fmt: skip
def test_judge_settings__wrong_anywhere__fails_everywhere(settings, where, local):
    """Unknown launch keys, wrong values and two spellings are failures, whichever place is meant, each told once."""
    found = judge_settings({"harness_optimization": COMMAND, "local_dataset_path": "x", **settings}, local=local)
    assert [problem.where for problem in found.failures] == [where]
    assert found.warnings == ()


@pytest.mark.parametrize(
    "settings, where",
    [
        ({}, "config.harness_optimization"),
        ({"harness_optimization": {"max_rollouts": 5}}, "config.harness_optimization"),
        ({"harness_optimization": {**COMMAND, "seeed": 1}}, "config.harness_optimization.seeed"),
        ({"harnessOptimization": {**COMMAND, "timeouts": {"run": 1}}}, "config.harnessOptimization.timeouts.run"),
        ({"harness_optimization": {"proposer": "mine"}}, "config.harness_optimization.proposer"),
        ({"harness_optimization": {**COMMAND, "engine": "other"}}, "config.harness_optimization.engine"),
    ],
)
def test_judge_settings__perhaps_known_elsewhere__warns_and_fails_locally(settings, where):
    """Another place may know a key of the optimizer, or have a proposer of its own; this machine does not."""
    elsewhere, here = judge_settings(settings, local=False), judge_settings(settings, local=True)
    assert (elsewhere.failures, [problem.where for problem in elsewhere.warnings]) == ((), [where])
    assert ([problem.where for problem in here.failures], here.warnings) == ([where], ())


@pytest.mark.parametrize(
    "settings",
    [
        {"spend_budget_usd": 5},
        {"model": "openai:m"},
        {"optimization_config": {}},
    ],
)
def test_judge_settings__of_a_later_version__fails_only_locally(settings):
    """What this machine does not offer yet is no fault where another place is meant."""
    given = {"harness_optimization": COMMAND, **settings}
    assert judge_settings(given, local=False).failures == ()
    assert judge_settings(given, local=False).warnings == ()
    assert judge_settings(given, local=True).failures != ()


def test_judge_settings__several_faults__are_all_told():
    """Unknown keys do not hide wrong values."""
    found = judge_settings({"max_rolouts": 3, "max_concurrency": 0, "harness_optimization": COMMAND}, local=False)
    assert [problem.where for problem in found.failures] == ["config.max_rolouts", "config.max_concurrency"]


def test_judge_budget__too_small_for_the_cases__names_the_minimum():
    """A budget that ends the run at once is told before it is launched; no budget, or one that does, is not."""
    config = {"harness_optimization": {**COMMAND, "max_rollouts": 2}}
    (problem,) = judge_budget(config, {"train": 30, "test": 20})
    assert "2 rollouts are too few" in problem.message
    config["harness_optimization"]["max_rollouts"] = 5000
    assert judge_budget(config, {"train": 30, "test": 20}) == ()
    assert judge_budget({"harness_optimization": COMMAND}, {"train": 30, "test": 20}) == ()


def test_process_limits_of__what_is_set__else_the_defaults():
    """Either spelling is read; what is wrong is told elsewhere and limits nothing."""
    assert process_limits_of({"harness_optimization": {"limits": {"memory_mb": 100}}}) == Limits(memory_mb=100)
    assert process_limits_of({"harnessOptimization": {"limits": {"resultMb": 3}}}) == Limits(result_mb=3)
    for config in ({}, {"harness_optimization": 1}, {"harness_optimization": {"limits": {"memory_mb": 0}}}):
        assert process_limits_of(config) == Limits()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository whose code lies in `app`, everything committed, with an ignored dataset."""
    root = tmp_path / "checkout"
    (root / "app").mkdir(parents=True)
    (root / "data").mkdir()
    (root / "app" / "code.py").write_text("")
    (root / ".gitignore").write_text("data/\n")
    (root / "data" / "test.jsonl").write_text('{"id": 1}\n')
    init_repository(root).unwrap()
    commit_all(root, "First").unwrap()
    return root


def test_judge_checkout__as_committed__says_nothing(checkout):
    """Ignored files, byte-code and the dotenv file are as good as committed."""
    (checkout / "app" / "__pycache__").mkdir()
    (checkout / "app" / "__pycache__" / "code.pyc").write_text("")
    (checkout / "app" / ".beaker").mkdir()
    (checkout / "app" / ".beaker" / ".env").write_text("KEY=secret")
    assert judge_checkout(checkout, "app") == ()
    assert visible_test(checkout, checkout / "data" / "test.jsonl") == ()


def test_judge_checkout__changed_and_untracked__are_named(checkout):
    """A changed file will be refused and a forgotten one left out; untracked files outside the source do not matter."""
    (checkout / "app" / "code.py").write_text("1")
    (checkout / "app" / "helper.py").write_text("")
    (checkout / "notes.txt").write_text("")
    dirty, untracked = said(judge_checkout(checkout, "app"))
    assert "which a launch will refuse: app/code.py" in dirty
    assert "1 file is neither tracked nor ignored, so a run will not have it: app/helper.py" in untracked
    assert "notes.txt" in said(judge_checkout(checkout, "."))[1]
    (changed,) = said(judge_checkout(checkout, "data", config_file="notes.txt"))
    assert "2 files differ" in changed


def test_judge_checkout__nothing_committed_or_no_repository__is_said(tmp_path):
    """Outside Git, and before the first commit, a launch has nothing to run."""
    assert [problem.code for problem in judge_checkout(tmp_path, ".")] == ["BK711"]
    init_repository(tmp_path).unwrap()
    assert [problem.code for problem in judge_checkout(tmp_path, ".")] == ["BK712"]


def test_visible_test__a_tracked_copy__is_found_by_its_content(checkout):
    """A copy under another name is visible to proposers as well."""
    (checkout / "app" / "cases.txt").write_text('{"id": 1}\n')
    commit_all(checkout, "Copy").unwrap()
    assert [problem.where for problem in visible_test(checkout, checkout / "data" / "test.jsonl")] == ["app/cases.txt"]
    assert visible_test(checkout, checkout / "data" / "none.jsonl") == ()
