"""The gates of a launch: everything that is refused before a run exists, all of it at once where possible."""

from collections.abc import Iterable, Mapping
from typing import Any

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.config import ProjectConfig, parse_config
from beaker.core.config_entry import IntegrationEntry
from beaker.core.datasets import validate_splits
from beaker.core.launch import choose_dataset, merge_config, no_dataset, split_config
from beaker.core.launch_places import SettingsFile, place_settings
from beaker.core.optimizer import LaunchSettings, parse_launch_settings
from beaker.core.options import did_you_mean
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.selection import InvalidEntry, select
from beaker.core.strict_json import JsonObject
from beaker.core.targets import parse_declaration
from beaker.core.values import value
from beaker.runtime.extensions import extension_faults
from beaker.runtime.sandbox import entry_sandbox
from beaker.service.artifact_table import Artifact, artifact_files
from beaker.service.datasets import dataset_by_id, dataset_by_reference
from beaker.service.launch_warnings import listed, settings_warnings, source_warnings
from beaker.service.ports import Call, Repository
from beaker.service.sources import SourceFile, keep_source, leaving_links

_SET = "set it in the environment of the command (of `beaker serve`, where that runs the runs)"
_SOURCE_KEYS = ("repository", "ref", "integration_id", "spec_id", "allow_dirty")


@value(kw_only=True)
class Pinned:
    """What a launch comes to once it passed every gate; `source` names the kept content of the commit."""

    ref: str
    commit_id: str
    source: str
    entry: IntegrationEntry
    targets: Any
    dataset: Artifact
    settings: LaunchSettings
    warnings: Problems


@value
class Configured:
    """What the configuration at the commit says: all of it, the selected entry, what both set by default, and where
    it is written."""

    config: ProjectConfig
    entry: IntegrationEntry
    defaults: JsonObject
    source: SettingsFile


def pin(call: Call) -> Result[Pinned, Problems]:
    """Pass a launch through every gate, or say everything that is in its way."""
    given, repository = call.arguments, call.ports.repository
    source: Mapping[str, Any] = given["github_source"] or {}
    problems = [*_source_faults(source, repository), *_artifact_faults(given["input_artifacts"])]
    ref = source.get("ref") if isinstance(source.get("ref"), str) else None
    dirty = tuple(_left_out_faults(repository, here=call.caller.kind == "local"))
    as_it_is = source.get("allow_dirty") is True
    commit = repository.snapshot() if as_it_is else repository.commit(ref)
    if not is_successful(commit):
        return Failure((*problems, commit.failure()))
    problems += [fault for fault in dirty if not (as_it_is and fault.code == "BK461")]
    named = (source.get("integration_id"), source.get("spec_id"))
    configured = read_configuration(repository, commit.unwrap(), *named)
    if not is_successful(configured):
        problems += configured.failure()
        problems += _failure(_dataset(call, None))
        return Failure(tuple(problems))

    found = configured.unwrap()
    problems += _target_faults(found.entry.targets)
    merged = merge_config(split_config(found.defaults)[0], given["config"])
    settings = parse_launch_settings(merged, kind=found.entry.kind)
    problems += place_settings(_failure(settings), found.source, given=given["config"])
    if is_successful(settings):
        faults = (*_isolation_faults(found.entry, settings.unwrap()), *extension_faults(settings.unwrap()))
        problems += place_settings(faults, found.source, given=given["config"])
    dataset = _dataset(call, found)
    problems += _failure(dataset)
    problems += _environment_faults(call, found.entry, settings.unwrap() if is_successful(settings) else None)
    if problems:
        return Failure(tuple(problems))

    try:
        kept, files = keep_source(call.ports.blobs, repository.files(commit.unwrap()))
    except Refused as refused:
        return Failure(refused.problems)
    if visible := (*_visible_test(call, dataset.unwrap(), files), *leaving_links(call.ports.blobs, files)):
        return Failure(visible)
    doubts = settings_warnings(call.ports, settings.unwrap(), files, dataset.unwrap().row_counts or {})
    warnings = (
        *found.config.warnings,
        *(Problem("BK461", f"{fault.message}; they run as they are", fault.where) for fault in dirty),
        *source_warnings(call.ports, found.entry, files),
        *place_settings(doubts, found.source, given=given["config"]),
    )
    return Success(
        Pinned(
            ref=ref or "HEAD",
            commit_id=commit.unwrap(),
            source=kept,
            entry=found.entry,
            targets=found.entry.targets,
            dataset=dataset.unwrap(),
            settings=settings.unwrap(),
            warnings=warnings,
        )
    )


def read_configuration(
    repository: Repository, commit: str, integration_id: Any, spec_id: Any = None
) -> Result[Configured, Problems]:
    """The configuration as it is at a commit, with the integration that is meant, or the Spec."""
    # Reading YAML is only paid for by a launch.
    from beaker.files.yaml_tree import parse_yaml

    path = repository.config_path()
    text = repository.read_file(commit, path)
    if not is_successful(text):
        return Failure((text.failure(),))
    tree = parse_yaml(text.unwrap(), path)
    if not is_successful(tree):
        return Failure(tree.failure())
    parsed = parse_config(tree.unwrap(), path)
    if not is_successful(parsed):
        return Failure(parsed.failure())
    config = parsed.unwrap()
    selected = select(config, *(one if isinstance(one, str) else None for one in (integration_id, spec_id)))
    if not is_successful(selected):
        refused = selected.failure()
        return Failure(refused.problems if isinstance(refused, InvalidEntry) else (refused,))
    entry = selected.unwrap()
    if entry is None:
        hint = "add an entry below `integrations`, and commit it"
        return Failure((Problem("BK463", "the configuration names no integration to run", path, hint),))
    defaults = merge_config(config.config_defaults, entry.config_defaults)
    source = SettingsFile(file=path, tree=tree.unwrap(), integration_id=entry.id, section=entry.section)
    return Success(Configured(config, entry, defaults, source))


def _source_faults(source: Mapping[str, Any], repository: Repository) -> Iterable[Problem]:
    for key, item in source.items():
        where = f"github_source.{key}"
        if key not in _SOURCE_KEYS:
            yield Problem("BK450", "is not a known key", where, did_you_mean(key, _SOURCE_KEYS))
        elif key == "allow_dirty":
            if not (item is None or isinstance(item, bool)):
                yield Problem("BK450", "must be true or false", where)
            elif item and source.get("ref") is not None:
                yield Problem("BK450", "launches the checkout as it stands, so no ref goes with it", where)
        elif item is not None and not (isinstance(item, str) and item.strip()):
            yield Problem("BK450", "must be a non-empty string", where)
    named = source.get("repository")
    if isinstance(named, str) and named.strip() and named.strip().casefold() != (own := repository.name()).casefold():
        hint = "run the command in the checkout of that repository, or leave the repository out"
        message = f"this place runs the checkout {own!r}, not {named!r}"
        yield Problem("BK466", message, "github_source.repository", hint)


def _artifact_faults(artifacts: Any) -> Iterable[Problem]:
    if artifacts:
        hint = "give setup what it needs in config.extra"
        yield Problem("BK465", "runs on this machine take no input artifacts", "input_artifacts", hint)


def _left_out_faults(repository: Repository, *, here: bool) -> Iterable[Problem]:
    found = repository.left_out()
    if not is_successful(found):
        yield found.failure()
        return
    if paths := found.unwrap():
        what = "1 file differs" if len(paths) == 1 else f"{len(paths)} files differ"
        hint = "in the checkout that is served, commit them or set them aside"
        if here:  # nobody over the network may launch them as they are
            hint = "commit them, set them aside, or launch them as they are with --allow-dirty"
        yield Problem("BK461", f"{what} from what is committed: {listed(paths)}", hint=hint)


def _target_faults(declared: Any) -> Iterable[Problem]:
    if declared is None:
        return  # what the Integration declares is recorded at the first import
    parsed = parse_declaration(declared)
    if not is_successful(parsed):
        yield parsed.failure()


def _dataset(call: Call, configured: Configured | None) -> Result[Artifact, Problems]:
    """The dataset that the launch names, else the one that the configuration names by default."""
    reference, artifact_id = call.arguments["dataset_ref"], call.arguments["dataset_id"]
    if reference is not None and artifact_id is not None:
        return Failure((Problem("BK464", "dataset_ref and dataset_id each name a dataset", hint="keep one of them"),))
    if reference is None and artifact_id is None and configured is not None:
        chosen = choose_dataset(split_config(configured.defaults)[1])
        if not is_successful(chosen):
            return Failure(place_settings((chosen.failure(),), configured.source, given={}))
        if (choice := chosen.unwrap()) is None:
            return Failure((no_dataset(configured.config, configured.entry),))
        reference, artifact_id = choice.reference, choice.artifact_id
    database, agent_id = call.ports.database, call.the_agent().id
    if reference is not None:
        found = dataset_by_reference(database, agent_id, reference)
    elif artifact_id is not None:
        found = dataset_by_id(database, agent_id, artifact_id)
    else:
        return Failure(())  # which one is meant, only the configuration could tell
    if not is_successful(found):
        return Failure((found.failure(),))
    dataset = found.unwrap()
    splits = validate_splits(dataset.row_counts or {}, for_run=True)
    if not is_successful(splits):
        where = f"dataset {dataset.name}"
        return Failure(tuple(Problem("BK456", fault.message, where, fault.hint) for fault in splits.failure()))
    return Success(dataset)


def _isolation_faults(entry: IntegrationEntry, settings: LaunchSettings) -> Iterable[Problem]:
    if entry.isolation and settings.optimizer.cases_per_process > 1:
        message = f"must be 1: the integration's `isolation: {entry.isolation}` gives every case a process of its own"
        yield Problem("BK410", message, "config.harness_optimization.cases_per_process", "leave one of them out")
    sandbox = entry_sandbox(entry.isolation, network=entry.sandbox_network, judged=entry.scorer_model is not None)
    if not is_successful(sandbox):
        yield sandbox.failure()


def _environment_faults(call: Call, entry: IntegrationEntry, settings: LaunchSettings | None) -> Iterable[Problem]:
    for name in call.ports.granted(entry.required_env, call.the_agent().key).missing:
        hint = f"{_SET}, for the agent (`beaker agent env set {name} --value-stdin`), or in .beaker/.env"
        yield Problem("BK458", f"{name} is not set, and the integration declares it", "required_env", hint)
    for name in call.ports.unset(settings.optimizer.proposer_env if settings else ()):
        hint = f"{_SET}, or take it out of proposer_env"
        yield Problem("BK458", f"{name} is not set, and the proposer is to get it", "proposer_env", hint)
    reflection = settings.optimizer.reflection if settings else None
    key = None if reflection is None else reflection.api_key_env
    for name in call.ports.unset(() if key is None else (key,)):
        hint = f"{_SET}, or leave out api_key_env for an endpoint without keys"
        yield Problem("BK458", f"{name} is not set, and the model is to be asked with it", "reflection", hint)


def _visible_test(call: Call, dataset: Artifact, files: Iterable[SourceFile]) -> Problems:
    """A tracked copy of the TEST rows could be read by every proposer."""
    test = {one.sha256 for one in artifact_files(call.ports.database, dataset.id) if one.path == "test.jsonl"}
    hint = "keep the dataset outside the commit (untrack the file and list it in .gitignore), and commit that"
    return tuple(
        Problem("BK462", "the file is the TEST split: proposers could read what they are judged on", one.path, hint)
        for one in files
        if one.sha256 in test
    )


def _failure(result: Result[Any, Problems]) -> Problems:
    return () if is_successful(result) else result.failure()
