"""What a run is made of, as the service hands it to the engine."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from beaker.core.config_entry import Kind
from beaker.core.documents import TargetDocument
from beaker.core.optimizer import LaunchSettings
from beaker.core.repository_tree import Commit
from beaker.core.sandbox import Sandbox
from beaker.core.targets import OptimizationTarget
from beaker.core.values import value
from beaker.engine.judging import Scope
from beaker.runtime.code_root import CodeRoot


@value(kw_only=True)
class RunPlan:
    """One run.

    `check_out(folder)` writes the run's commit into a new folder and may be called from any thread, `commit()` gives
    its files; the Integration is `entrypoint` in it (a Spec's factory, where `kind` says so), with `source_dir` and
    `package_import_root` as in the configuration. `original` is the user's own checkout, whose places on `sys.path`
    move over to ours (`None`: there is none). `declared_targets` is the declaration pinned at launch, `None` when the
    configuration had none.

    `work` is an existing private folder (a real path) for everything that need not outlive the attempt; `note` is a
    file that does. Each environment is complete but for what the runtime and the proposer add. `redact` takes secrets
    out of text; `credentials_out` does so with credentials alone, which no edit may bring in. `process_per_case` gives
    every case a process of its own, `sandbox` confines these and the scorer's: the entry's `isolation`.
    `reflection_key` is the key of the model that reflects, if it has one.
    """

    run_id: str
    check_out: Callable[[Path], None]
    commit: Callable[[], Commit]
    entrypoint: str
    source_dir: str
    package_import_root: str | None
    original: Path | None
    declared_targets: Any
    settings: LaunchSettings
    dataset_dir: Path
    dataset_name: str
    dataset_revision: str
    work: Path
    note: Path
    setup_env: Mapping[str, str]
    rollout_env: Mapping[str, str]
    scorer_env: Mapping[str, str]
    proposer_env: Mapping[str, str]
    redact: Callable[[str], str]
    process_per_case: bool = False
    sandbox: Sandbox | None = None
    credentials_out: Callable[[str], str] = attrs.field(
        default=attrs.Factory(lambda plan: plan.redact, takes_self=True)
    )
    reflection_key: str | None = attrs.field(default=None, repr=False)
    kind: Kind = "integration"

    def code(self, checkout: Path) -> CodeRoot:
        """The Integration in one checkout of the commit."""
        return CodeRoot(
            repository=checkout,
            entrypoint=self.entrypoint,
            source_dir=self.source_dir,
            package_import_root=self.package_import_root,
            original=self.original,
            kind=self.kind,
        )

    def scope(self, targets: Iterable[OptimizationTarget], seeds: Iterable[TargetDocument]) -> Scope:
        """What candidates may change, once the setup said its targets and the documents it starts from."""
        scope = Scope(targets=tuple(targets), seeds=tuple(seeds), source_dir=self.source_dir)
        if not scope.paths:
            return scope
        return Scope(targets=scope.targets, seeds=scope.seeds, commit=self.commit(), source_dir=self.source_dir)
