"""What a project's own files say of its way to a first run."""

from typing import Literal, TypeAlias

from beaker.core.launch import DatasetChoice
from beaker.core.onboarding import COMPLETE, UNKNOWN, Finding
from beaker.core.problems import Problem, Problems
from beaker.core.values import value

MARKER = "TODO(beaker)"
"""What stands where something is to be filled in; the case of the letters counts."""

SHOWN_LINES = 5

Folder: TypeAlias = Literal["there", "incomplete", "absent"]
"""A local dataset's folder: with both splits in it, without one, or not there (also when none is named)."""


@value(kw_only=True)
class ProjectFacts:
    """What lies in the project.

    `pyproject` is the nearest `pyproject.toml` above the code, `None` without one; `subproject` the folder of another
    one that the code's own `source_dir` should name. `config_path` counts from the root of the Git repository, `None`
    outside of one. `selection` says why no integration is selected, `entry_problems` what is wrong with the one that
    is. `source` is the module's file, `gaps` the lines in it that are to be filled in. `tracing` is the place where
    models' calls are recorded, `None` when none was found, or why that could not be told. `agent` is the key or the
    name that was given, `repository` the GitHub repository of the checkout.
    """

    pyproject: str | None = None
    declares_beaker: bool = False
    subproject: str | None = None
    config_file: str | None = None
    config_path: str | None = None
    integration_id: str | None = None
    selection: Problem | None = None
    entry_problems: Problems = ()
    entrypoint: str = ""
    source: str | None = None
    gaps: tuple[int, ...] = ()
    tracing: str | Problem | None = None
    required_env: tuple[str, ...] = ()
    dataset: DatasetChoice | Problem | None = None
    local_dataset: Folder = "absent"
    local_dataset_named: str | None = None
    agent: str | None = None
    repository: str | None = None

    @property
    def ready(self) -> bool:
        """Whether a service is worth asking: Beaker is a dependency, and there is a configuration."""
        return dependency(self).state == "complete" and configuration(self).state == "complete"


def dependency(facts: ProjectFacts) -> Finding:
    """Whether the project declares Beaker."""
    if facts.pyproject is None:
        return Finding("todo", "there is no pyproject.toml at or above the code", _with_hint(facts, None))
    if not facts.declares_beaker:
        return Finding("todo", f"{facts.pyproject} does not declare it", _with_hint(facts, None))
    return COMPLETE


def configuration(facts: ProjectFacts) -> Finding:
    """Whether there is a configuration file, whatever it selects."""
    return Finding("todo", "no configuration was found") if facts.config_file is None else COMPLETE


def integration(facts: ProjectFacts) -> Finding:
    """Whether the entrypoint's module is there, and filled in."""
    if facts.config_file is None:
        return UNKNOWN
    if facts.selection is not None:
        return _fault(facts.selection)
    if facts.integration_id is None:
        return Finding("todo", "the configuration names no integration", "run `beaker init` in the project")
    if facts.entry_problems:
        return _fault(facts.entry_problems[0])
    if facts.source is None:
        action = "correct its entrypoint, source_dir or package_import_root"
        return Finding("todo", f"no file is the module of {facts.entrypoint}", _with_hint(facts, action))
    if facts.gaps:
        lines = ", ".join(map(str, facts.gaps[:SHOWN_LINES])) + (", ..." if len(facts.gaps) > SHOWN_LINES else "")
        what = f"line {lines}" if len(facts.gaps) == 1 else f"lines {lines}"
        return Finding("todo", f"{MARKER} stands in {facts.source}, {what}")
    return COMPLETE


def tracing(facts: ProjectFacts) -> Finding:
    """Whether the code records what it asks its models: advice, a run works without."""
    if isinstance(facts.tracing, Problem):
        return Finding("unknown", str(facts.tracing))
    if facts.config_file is None or facts.selection is not None:
        return UNKNOWN
    if facts.tracing is None:
        return Finding("todo", "nothing that records model calls was found in the code")
    return Finding("complete", facts.tracing)


def local_dataset(facts: ProjectFacts) -> Finding | None:
    """What the files say of the dataset: a fault, or a folder that is there; `None` when a place has to be asked."""
    if isinstance(facts.dataset, Problem):
        return _fault(facts.dataset)
    if facts.dataset is not None:
        return None
    if facts.local_dataset == "there":
        return Finding("complete", f"the folder {facts.local_dataset_named}")
    if facts.local_dataset == "incomplete":
        what = f"{facts.local_dataset_named} lacks train.jsonl or test.jsonl"
        return Finding("todo", what, "put train.jsonl and test.jsonl into it")
    return None


def _fault(problem: Problem) -> Finding:
    return Finding("todo", str(problem), problem.hint or f"correct it: {problem.message}")


def _with_hint(facts: ProjectFacts, action: str | None) -> str | None:
    """The action, with what to set where the code lies in a project of its own that the configuration does not name."""
    if facts.subproject is None:
        return action
    hint = f"set source_dir to {facts.subproject}, where the project is"
    return hint if action is None else f"{action}; perhaps {hint}"
