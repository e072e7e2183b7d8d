"""Building the request that launches a run: layering settings, choosing the dataset and the ref, checking the keys.

The same for every place; what the values of settings may be is the service's business (`core.optimizer` on this
machine). Keys keep the spelling they were given in; two spellings of one key never travel together.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.config import ProjectConfig
from beaker.core.config_entry import IntegrationEntry, Kind
from beaker.core.config_reader import DATASET_KEYS
from beaker.core.config_reader import LAUNCH_KEYS as LAUNCH_KEYS
from beaker.core.datasets import parse_reference
from beaker.core.launch_options import NO_OPTIONS, SPEC_LAUNCH_KEYS, LaunchOptions, with_options
from beaker.core.models import SCORER_MODEL_KEYS, judges_in_settings
from beaker.core.optimizer import EXTRA_ADVICE, SETTING_HOMES
from beaker.core.options import at_home, camel, did_you_mean, shown
from beaker.core.problems import Problem, Problems
from beaker.core.strict_json import JsonObject
from beaker.core.values import ReadOnlyDict, value

REFERENCE_KEYS = DATASET_KEYS[:3]
ID_KEYS = DATASET_KEYS[3:]
LOCAL_PATH_KEYS = ("local_dataset_path", "localDatasetPath")
RETIRED_KEYS = ("dataset_uri", "dataset_artifact_uri")

_SPELLINGS = {spelled: name for name in (*LAUNCH_KEYS, *SPEC_LAUNCH_KEYS) for spelled in (name, camel(name))}


@value
class DatasetChoice:
    """The dataset a run uses: a reference, or an artifact id. Exactly one is set."""

    reference: str | None = None
    artifact_id: str | None = None


@value(kw_only=True)
class LaunchRequest:
    """Everything that a launch sends. Without a `ref` the place decides: HEAD on this machine, else its default.

    `allow_dirty` launches the checkout of this machine with what is not committed in it; no `ref` goes with it. A Spec
    is named by `spec_id`, and only where the command line named it.
    """

    agent_key: str
    config: Mapping[str, Any]
    dataset: DatasetChoice
    repository: str
    ref: str | None = None
    integration_id: str | None = None
    spec_id: str | None = None
    trigger_metadata: Mapping[str, Any] = attrs.field(factory=ReadOnlyDict)
    input_artifacts: tuple[Mapping[str, Any], ...] = ()
    allow_dirty: bool = False

    def body(self) -> JsonObject:
        """The JSON body of `POST /v1/optimization-runs`."""
        source: JsonObject = {
            "repository": self.repository,
            "ref": self.ref,
            "integration_id": self.integration_id,
            "spec_id": self.spec_id,
        }
        if self.allow_dirty:
            source["allow_dirty"] = True
        made: JsonObject = {
            "agent_key": self.agent_key,
            "config": dict(self.config),
            "trigger_metadata": dict(self.trigger_metadata),
            "github_source": {key: item for key, item in source.items() if item is not None},
        }
        if self.input_artifacts:
            made["input_artifacts"] = [dict(artifact) for artifact in self.input_artifacts]
        if self.dataset.reference is not None:
            made["dataset_ref"] = self.dataset.reference
        if self.dataset.artifact_id is not None:
            made["dataset_id"] = self.dataset.artifact_id
        return made


@value
class LaunchPlan:
    """What the settings and options of a launch come to: `config` as it travels, and the dataset."""

    config: Mapping[str, Any]
    dataset: DatasetChoice


def plan_launch(
    project: ProjectConfig | None,
    entry: IntegrationEntry | None,
    given: Mapping[str, Any],
    *,
    reference: str | None = None,
    artifact_id: str | None = None,
    options: LaunchOptions = NO_OPTIONS,
) -> Result[LaunchPlan, Problems]:
    """Lay `given` (`--config`) over the file's and the entry's `config_defaults`, add the options, choose the dataset.

    `reference` and `artifact_id` are `--dataset` and `--dataset-id`. Every problem is reported, none is sent.
    """
    defaults = (project.config_defaults if project else None, entry.config_defaults if entry else None)
    travels, resolved = split_config(merge_config(*defaults, given))
    kind = None if entry is None else entry.kind
    keys = check_launch_keys(travels, kind=kind)
    complete = with_options(travels, options, kind=kind)
    dataset = choose_dataset(resolved, reference=reference, artifact_id=artifact_id)
    problems: list[Problem] = []
    if not is_successful(keys):
        problems.extend(keys.failure())
    if not is_successful(complete):
        problems.extend(complete.failure())
    if not is_successful(dataset):
        problems.append(dataset.failure())
    elif dataset.unwrap() is None:
        problems.append(no_dataset(project, entry))
    if problems:
        return Failure(tuple(problems))
    chosen = dataset.unwrap()
    assert chosen is not None
    return Success(LaunchPlan(complete.unwrap(), chosen))


def merge_config(*layers: Mapping[str, Any] | None) -> dict[str, Any]:
    """Later layers over earlier ones, shallow by key, a key's two spellings being one key.

    A layer that holds any dataset selector, even a null one, drops every selector below it.
    """
    merged: dict[str, Any] = {}
    for layer in layers:
        given = {_SPELLINGS.get(key, key) for key in layer or ()}
        selects = not given.isdisjoint(DATASET_KEYS)
        kept = {
            key: item
            for key, item in merged.items()
            if _SPELLINGS.get(key, key) not in given and not (selects and key in DATASET_KEYS)
        }
        merged = kept | dict(layer or {})
    return merged


def split_config(config: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """`config` parted into what travels and what the client resolves: selectors, local paths, retired dataset keys."""
    resolved = {*DATASET_KEYS, *LOCAL_PATH_KEYS, *RETIRED_KEYS}
    travels = {key: item for key, item in config.items() if key not in resolved}
    return travels, {key: item for key, item in config.items() if key in resolved}


def check_launch_keys(config: Mapping[str, Any], *, kind: Kind | None = "integration") -> Result[None, Problems]:
    """Whether every key of a launch's `config` is one, in one spelling (BK402).

    A judge is none of them (BK403), but of a Spec's; nor is what only a Spec's launch has.
    """
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    known = (*LAUNCH_KEYS, *SPEC_LAUNCH_KEYS) if kind == "spec" else LAUNCH_KEYS
    for key in config:
        where = f"config.{key}"
        name = _SPELLINGS.get(key)
        if key in SCORER_MODEL_KEYS and kind != "spec":
            problems.extend(judges_in_settings([key], code="BK403"))
        elif name is not None and name not in known:
            hint = "leave it out: it is a setting of the Spec generation, and an Integration has none like it"
            problems.append(Problem("BK402", "is not a known launch setting", where, hint))
        elif name is None:
            hint = at_home(key, SETTING_HOMES) or f"{did_you_mean(key, known)}; {EXTRA_ADVICE}"
            problems.append(Problem("BK402", "is not a known launch setting", where, hint))
        elif name in seen:
            said = f"is given twice, as {seen[name]!r} and as {key!r}"
            problems.append(Problem("BK402", said, where, "keep one spelling"))
        else:
            seen[name] = key
    return Failure(tuple(problems)) if problems else Success(None)


def choose_dataset(
    resolved: Mapping[str, Any], *, reference: str | None = None, artifact_id: str | None = None
) -> Result[DatasetChoice | None, Problem]:
    """The dataset: `reference` (`--dataset`) or `artifact_id` (`--dataset-id`), else what the merged config selects.

    `None` when nothing selects one. BK404 for two selectors in one place, a selector that is no text, a reference that
    is none, and for a retired selector alone.
    """
    flags = [("--dataset", reference), ("--dataset-id", artifact_id)]
    given: list[tuple[str, Any]] = [(name, text) for name, text in flags if text is not None]
    if not given:
        given = [(key, item) for key, item in resolved.items() if key in DATASET_KEYS and item]
    if len(given) > 1:
        both = " and ".join(name for name, _ in given)
        return Failure(Problem("BK404", f"{both} each select a dataset", hint="keep one of them"))
    if not given:
        retired = [key for key in resolved if key in RETIRED_KEYS]
        if retired:
            hint = "upload the dataset and select it by name (dataset_ref, --dataset)"
            return Failure(Problem("BK404", f"{retired[0]} is retired", f"config.{retired[0]}", hint))
        return Success(None)
    name, selected = given[0]
    where = name if name.startswith("-") else f"config.{name}"
    if not isinstance(selected, str) or not selected.strip():
        return Failure(Problem("BK404", f"a dataset is selected by text, not {shown(selected)}", where))
    if name in ("--dataset-id", *ID_KEYS):
        return Success(DatasetChoice(artifact_id=selected.strip()))
    parsed = parse_reference(selected)
    if not is_successful(parsed):
        fault = parsed.failure()
        return Failure(Problem("BK404", fault.message, where, fault.hint))
    return Success(DatasetChoice(reference=selected.strip()))


def local_dataset_path(resolved: Mapping[str, Any]) -> Result[str | None, Problem]:
    """The local dataset folder that the config names for `run smoke`, `None` when it names none; BK404 unless it is
    text that can name a folder."""
    given = [(key, resolved[key]) for key in LOCAL_PATH_KEYS if resolved.get(key)]
    if len(given) > 1:
        return Failure(
            Problem("BK404", " and ".join(key for key, _ in given) + " are one key", hint="keep one of them")
        )
    if given and not isinstance(given[0][1], str):
        message = f"the dataset's folder is named by text, not {shown(given[0][1])}"
        return Failure(Problem("BK404", message, f"config.{given[0][0]}"))
    if given and "\0" in given[0][1]:
        message = f"no folder can be named {shown(given[0][1])}: the name holds a NUL character"
        return Failure(Problem("BK404", message, f"config.{given[0][0]}"))
    return Success(given[0][1] if given else None)


def no_dataset(config: ProjectConfig | None, entry: IntegrationEntry | None) -> Problem:
    """What to say when nothing selects a dataset (BK405); keys that stand where they select nothing are named."""
    misplaced = sorted({*(config.misplaced_selectors if config else ()), *(entry.misplaced_selectors if entry else ())})
    where = config.file if config else ""
    if misplaced:
        said = f"{', '.join(misplaced)} stands where it selects nothing"
        return Problem("BK405", f"no dataset is selected: {said}", where, "move it into config_defaults at the top")
    return Problem("BK405", "no dataset is selected", where, "pass --dataset NAME, or set config_defaults.dataset_ref")


def choose_ref(
    given: str | None,
    *,
    local: bool,
    branch: str | None,
    pushed: bool | None = None,
    allow_dirty: bool = False,
) -> Result[str | None, Problem]:
    """The ref to send; `None` lets the place decide: HEAD on this machine, the default branch elsewhere.

    `@` is the checked-out `branch` (`None` when detached), on this machine as it stands, elsewhere only when it is
    `pushed` as it stands (`None`: that could not be found out). BK407 otherwise. With `allow_dirty` the checkout of
    this machine is launched, so that there is no ref: BK408 for one, and elsewhere.
    """
    if allow_dirty and not local:
        hint = "commit and push what is to run, or work with --local"
        return Failure(Problem("BK408", "only this machine has what is not committed", "--allow-dirty", hint))
    if allow_dirty and given is not None:
        message = "launches the checkout as it stands, so it takes no --ref"
        return Failure(Problem("BK408", message, "--allow-dirty", "keep one of them"))
    if given is None:
        return Success(None)
    if not given.strip():
        return Failure(Problem("BK407", "the ref is blank", "--ref", "name a branch, or leave it out"))
    if given != "@":
        return Success(given)
    if local:
        return Success(branch or "HEAD")
    if branch is None:
        return Failure(Problem("BK407", "no branch is checked out", "--ref @", "check one out, or name one"))
    if pushed:
        return Success(branch)
    state = "is not pushed as it stands" if pushed is False else "could not be compared with its remote"
    return Failure(
        Problem("BK407", f"the branch {branch} {state}", "--ref @", f"git push, then again; or --ref {branch}")
    )


def left_out(*, branch: str | None, default_branch: str | None, dirty: Iterable[str], unpushed: int) -> str | None:
    """One line on what of this checkout a run elsewhere will not include, `None` when it includes everything."""
    changed = sorted(dirty)
    parts = []
    if branch is None:
        parts.append("the detached commit that is checked out")
    elif default_branch is not None and branch != default_branch:
        parts.append(f"the branch {branch}, since {default_branch} runs without --ref")
    if unpushed:
        parts.append(f"{unpushed} unpushed commit{'s' if unpushed != 1 else ''}")
    if changed:
        more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
        parts.append(f"uncommitted changes in {', '.join(changed[:5])}{more}")
    return f"not included in this run: {'; '.join(parts)}" if parts else None
