"""What smoke is asked, what it reports of each stage, and what it found."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import attrs

from beaker.core.cases import Case, CaseScore
from beaker.core.config_entry import IntegrationEntry
from beaker.core.optimizer import Timeouts
from beaker.core.problems import Problems
from beaker.core.values import ReadOnlyDict, value
from beaker.files.interpreters import PythonSearch
from beaker.runtime.capture import Redact, no_redaction
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.interpreters import ProjectPython
from beaker.runtime.workers import RolloutResult

Stage = Literal["config", "environment", "integration", "dataset", "setup", "sample", "runner and scorer"]


@value(kw_only=True)
class SmokeRequest:
    """What to try out.

    `config` is the merged run configuration, `env` the whole environment of the child processes, `missing_env` the
    names of `required_env` that are set nowhere here: a warning, and a failure when `local`. `missing_proposer_env` are
    those of `proposer_env`, which count when `local` only, as does the checkout: a launch on this machine takes the
    code from its commit. `config_file` counts from the repository. `split` is the one whose first case is the sample.
    `limit` bounds the rows per split that become cases; all rows are validated. `case_ids` are the samples in its
    place, of either split. With `run_one` every sample is run and scored for real. `dataset_problems` say why there is
    no dataset in `dataset_dir`: what fails once the Integration is imported. `warnings` are told with those that are
    found. `timeouts` replaces the limits that `config` sets. `python` says where the interpreter is looked for; without
    it Beaker's own runs the project's code.
    """

    code: CodeRoot
    entry: IntegrationEntry
    config: Mapping[str, Any]
    dataset_dir: Path
    dataset_problems: Problems = ()
    dataset_name: str = "local-dataset"
    dataset_revision: str = "unpinned"
    split: str = "train"
    case_ids: tuple[str, ...] = ()
    env: Mapping[str, str] = attrs.field(factory=ReadOnlyDict)
    missing_env: tuple[str, ...] = ()
    missing_proposer_env: tuple[str, ...] = ()
    config_file: str | None = None
    local: bool = False
    strict: bool = False
    run_one: bool = False
    limit: int | None = None
    timeouts: Timeouts | None = None
    warnings: Problems = ()
    python: PythonSearch | None = None
    redact: Redact = attrs.field(default=no_redaction, eq=False, repr=False)


@value(kw_only=True)
class StageReport:
    """How one stage ended.

    `problems` is empty when it passed, else the cause and what failed while cleaning up; a `StageProblem` carries a
    traceback. `captured` is what customer code printed meanwhile, control characters included.
    """

    stage: Stage
    detail: str = ""
    problems: Problems = ()
    captured: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing was wrong."""
        return not self.problems


@value
class TriedCase:
    """A case of a split that stands for the others; `result` and `score` are what it gave where it was run."""

    split: str
    case: Case
    result: RolloutResult | None = None
    score: CaseScore | None = None


@value(kw_only=True)
class SmokeOutcome:
    """What smoke found.

    `readiness` is `INTEGRATED`, or `SCAFFOLD` with the places where a placeholder still stands as `reasons`; `None`
    when a stage failed before that was known. `passed` is false after a failure, and for a scaffold under `strict`.
    `tried` are the samples, as far as they were tried out, `python` is the interpreter that ran the project's code.
    """

    passed: bool
    stages: tuple[StageReport, ...]
    readiness: Literal["INTEGRATED", "SCAFFOLD"] | None = None
    reasons: tuple[str, ...] = ()
    warnings: Problems = ()
    row_counts: Mapping[str, int] = attrs.field(factory=ReadOnlyDict)
    case_counts: Mapping[str, int] = attrs.field(factory=ReadOnlyDict)
    tried: tuple[TriedCase, ...] = ()
    python: ProjectPython | None = None
