"""What a launch would refuse of a project's settings and checkout, or leave out, told before anything is launched.

Another place has rules of its own: what it may know or do is no failure unless runs on this machine are meant.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from returns.pipeline import is_successful

from beaker.core.config_entry import Kind
from beaker.core.launch import check_launch_keys, split_config
from beaker.core.limits import DEFAULT_LIMITS, Limits
from beaker.core.optimizer import LaterSetting, Timeouts, parse_launch_settings
from beaker.core.options import UnknownOption
from beaker.core.problems import Problem, Problems
from beaker.core.proposer_settings import NoProposer
from beaker.core.search import SearchSettings, minimum_rollouts
from beaker.core.values import value
from beaker.files.git import copies_in_commit, dirty_files, head_commit, untracked_files
from beaker.files.own_outputs import without_own_outputs
from beaker.runtime.extensions import extension_faults

_SHOWN_FILES = 10

_NEVER_MEANT = re.compile(r"(^|/)(__pycache__/|\.beaker/\.env)")
"""Untracked files that nobody should add: byte-code, and the values of secrets."""


@value
class Findings:
    """What would be refused, and what may be right all the same."""

    failures: Problems = ()
    warnings: Problems = ()


def judge_settings(config: Mapping[str, Any], *, local: bool, kind: Kind = "integration") -> Findings:
    """The launch settings of a merged configuration, `config_defaults` and `--config` together, of an entry of `kind`.

    Unknown keys, wrong values and two spellings of one key fail. Inside `harness_optimization` unknown keys, and no
    proposer at all, fail for runs on this machine only and warn otherwise; settings that this machine does not offer
    fail for runs here and are not judged otherwise.
    """
    travels, _ = split_config(config)
    keys = check_launch_keys(travels, kind=kind)
    failures: list[Problem] = [] if is_successful(keys) else [*keys.failure()]
    told = {problem.where for problem in failures}
    warnings: list[Problem] = []
    parsed = parse_launch_settings(travels, kind=kind)
    if is_successful(parsed):
        for problem in extension_faults(parsed.unwrap()):
            if local:
                failures.append(problem)
            else:
                warnings.append(_refused_here(problem))
    for problem in () if is_successful(parsed) else parsed.failure():
        if problem.where in told:
            continue
        if local or not isinstance(problem, UnknownOption | NoProposer | LaterSetting):
            failures.append(problem)
        elif not isinstance(problem, LaterSetting):
            warnings.append(_refused_here(problem))
    return Findings(tuple(failures), tuple(warnings))


def _refused_here(problem: Problem) -> Problem:
    message = f"{problem.message}; a run on this machine would be refused"
    return Problem(problem.code, message, problem.where, problem.hint)


def judge_checkout(root: Path, source_dir: str, *, config_file: str | None = None) -> Problems:
    """What a launch on this machine would refuse of the checkout as it stands, or leave out: warnings, all of them.

    `config_file` counts from `root`. Byte-code and the dotenv file count as nothing.
    """
    return tuple(_checkout_faults(root, source_dir, config_file))


def visible_test(root: Path, test_file: Path) -> Problems:
    """Tracked files that equal the TEST split: a launch refuses them, since proposers could read them."""
    head = head_commit(root)
    if not is_successful(head) or not test_file.is_file() or not test_file.stat().st_size:
        return ()
    hint = "keep the dataset outside the commit: untrack the file (git rm --cached), list it in .gitignore, and commit"
    return tuple(
        Problem("BK462", "the file is the TEST split: proposers could read what they are judged on", path, hint)
        for path in copies_in_commit(root, head.unwrap(), test_file).value_or(())
    )


def judge_budget(config: Mapping[str, Any], case_counts: Mapping[str, int], *, kind: Kind = "integration") -> Problems:
    """A budget of evaluations that is too small for these cases per split: a run on this machine ends at once."""
    parsed = parse_launch_settings(split_config(config)[0], kind=kind)
    if not is_successful(parsed) or (limit := parsed.unwrap().optimizer.max_rollouts) is None:
        return ()
    settings = parsed.unwrap()
    search = SearchSettings(
        max_rollouts=limit,
        minibatch_size=settings.optimizer.minibatch_size,
        selection_fraction=settings.optimizer.selection_fraction,
        test_baseline=settings.test_baseline,
    )
    minimum = minimum_rollouts(case_counts.get("train", 0), case_counts.get("test", 0), search)
    if limit >= minimum:
        return ()
    message = f"{limit} rollouts are too few: these cases need at least {minimum}"
    return (Problem("BK479", message, "config.harness_optimization.max_rollouts", "raise max_rollouts"),)


def timeouts_of(config: Mapping[str, Any]) -> Timeouts:
    """The time limits that a merged configuration sets; the defaults when it sets none, or wrong ones."""
    optimizer = config.get("harness_optimization", config.get("harnessOptimization"))
    limits = optimizer.get("timeouts") if isinstance(optimizer, Mapping) else None
    parsed = parse_launch_settings({"harness_optimization": {"command": ["true"], "timeouts": limits}})
    return parsed.unwrap().optimizer.timeouts if is_successful(parsed) else Timeouts()


def process_limits_of(config: Mapping[str, Any]) -> Limits:
    """What a merged configuration lets a process that runs cases take; the defaults when it says nothing, or wrong."""
    optimizer = config.get("harness_optimization", config.get("harnessOptimization"))
    limits = optimizer.get("limits") if isinstance(optimizer, Mapping) else None
    parsed = parse_launch_settings({"harness_optimization": {"command": ["true"], "limits": limits}})
    return parsed.unwrap().optimizer.limits if is_successful(parsed) else DEFAULT_LIMITS


def _checkout_faults(root: Path, source_dir: str, config_file: str | None) -> Iterator[Problem]:
    head = head_commit(root)
    if not is_successful(head):
        fault = head.failure()
        yield Problem(fault.code, f"{fault.message}; a launch will refuse that", fault.where, fault.hint)
        return
    dirty = dirty_files(root, also=() if config_file is None else (config_file,)).value_or(())
    if dirty:
        what = "1 file differs" if len(dirty) == 1 else f"{len(dirty)} files differ"
        message = f"{what} from what is committed, which a launch will refuse: {_listed(dirty)}"
        hint = "commit before you launch, or launch with --allow-dirty: a run takes its code from a commit"
        yield Problem("BK461", message, hint=hint)
    untracked = without_own_outputs(root, untracked_files(root, below=source_dir).value_or(()))
    if left := [path for path in untracked if path not in dirty and not _NEVER_MEANT.search(path)]:
        what, them = ("1 file is", "it") if len(left) == 1 else (f"{len(left)} files are", "them")
        message = f"{what} neither tracked nor ignored, so a run will not have {them}: {_listed(left)}"
        yield Problem("BK481", message, hint="git add what the code needs; list the rest in .gitignore")


def _listed(paths: "tuple[str, ...] | list[str]") -> str:
    more = f" and {len(paths) - _SHOWN_FILES} more" if len(paths) > _SHOWN_FILES else ""
    return f"{', '.join(paths[:_SHOWN_FILES])}{more}"
