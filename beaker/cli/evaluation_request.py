"""What `run eval` is to evaluate: the code and its configuration, the candidate, the dataset, the settings."""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beaker.cli.candidate_names import candidate_id
from beaker.cli.kept_values import granted_here
from beaker.cli.place import Answer, Place, Surroundings, answered, opened
from beaker.cli.transfers import telling
from beaker.cli.trigger import given_config
from beaker.client.dataset_downloads import download_dataset
from beaker.client.flows import download_candidate
from beaker.core.candidate_names import run_of
from beaker.core.config_entry import IntegrationEntry
from beaker.core.environment import redactor
from beaker.core.launch import (
    DatasetChoice,
    choose_dataset,
    local_dataset_path,
    merge_config,
    no_dataset,
    split_config,
)
from beaker.core.optimizer import parse_evaluation_settings
from beaker.core.problems import Problem, Refused
from beaker.core.process_environment import process_environments, secret_values
from beaker.core.repository_tree import RepositoryFile
from beaker.core.strict_json import JsonObject
from beaker.core.values import value
from beaker.engine.candidates import CandidateTree
from beaker.engine.plan import RunPlan
from beaker.files.git import EXECUTABLE_MODE, TreeFile
from beaker.files.git_commits import commit_patch
from beaker.runtime.sandbox import entry_sandbox
from beaker.service.blobs import Blobs
from beaker.service.gates import Configured, read_configuration
from beaker.service.local_repository import LocalRepository
from beaker.service.sources import check_out, commit_files, keep_source

if TYPE_CHECKING:
    from beaker.cli.shell import Io

LOCAL_DATASET, UNPINNED = "local-dataset", "unpinned"
"""What a folder that is no uploaded dataset is called to the setup."""


@value(kw_only=True)
class EvaluationRequest:
    """All that an evaluation needs. `candidate` is `None` for the seeds; `dataset` describes what is evaluated on, for
    the answer: its name and revision, or its path."""

    plan: RunPlan
    entry: IntegrationEntry
    commit: str
    candidate: CandidateTree | None
    candidate_id: str | None
    dataset: JsonObject


@value(kw_only=True)
class _Subject:
    """The code and the candidate: a commit, the ids of the entry in it, the candidate, and its run's dataset.

    `entry` is the id of an integration and that of a Spec, of which one at most is named.
    """

    commit: str
    entry: tuple[str | None, str | None]
    tree: CandidateTree | None = None
    candidate_id: str | None = None
    dataset: str | None = None


def gather_request(
    arguments: argparse.Namespace, io: "Io", around: Surroundings, *, work: Path, run_id: str
) -> EvaluationRequest:
    """Find out everything; files that are needed are below `work` afterwards. `Refused` with whatever is missing."""
    if around.project is None:
        hint = "go to a folder with .beaker/beaker.yaml in or above it, or try `beaker demo`"
        raise Refused(Problem("BK119", "no integration is configured here", str(io.cwd), hint))
    repository = LocalRepository(around.project.root, around.project.config_file)
    subject = _subject(arguments, io, around, repository, work)
    configured = answered(read_configuration(repository, subject.commit, *subject.entry))
    entry = configured.entry
    if entry.problems:
        raise Refused(entry.problems)
    given = given_config(arguments.config)
    config = merge_config(configured.defaults, given)
    settings = answered(parse_evaluation_settings(split_config(config)[0], kind=entry.kind))
    folder, dataset = _dataset(arguments, io, around, subject, configured, given=given, work=work)
    granted = granted_here(arguments, io, around, entry)
    if granted.missing:
        raise Refused(granted.problems())
    blobs = Blobs(work / "blobs")
    source, _ = keep_source(blobs, repository.files(subject.commit))
    environments = process_environments(
        io.environ, granted.values, run_id=run_id, judge=entry.scorer_model, kind=entry.kind
    )
    secrets = secret_values(io.environ, granted.values.values())
    checkout = repository.checkout()
    plan = RunPlan(
        run_id=run_id,
        check_out=lambda target: check_out(blobs, source, target),
        commit=lambda: commit_files(blobs, source),
        entrypoint=entry.entrypoint,
        source_dir=entry.source_dir,
        package_import_root=entry.package_import_root,
        original=None if checkout is None else Path(checkout),
        declared_targets=entry.targets,
        settings=settings,
        dataset_dir=folder,
        dataset_name=str(dataset["name"]),
        dataset_revision=str(dataset["revision"]),
        work=work,
        note=work / "in_flight.jsonl",
        setup_env=environments.code,
        rollout_env=environments.code,
        scorer_env=environments.scorer,
        proposer_env={},
        redact=redactor(secrets),
        process_per_case=entry.isolation is not None,
        sandbox=answered(entry_sandbox(entry.isolation, network=entry.sandbox_network, judged=environments.judged)),
        kind=entry.kind,
    )
    return EvaluationRequest(
        plan=plan,
        entry=entry,
        commit=subject.commit,
        candidate=subject.tree,
        candidate_id=subject.candidate_id,
        dataset=dataset,
    )


def _subject(
    arguments: argparse.Namespace, io: "Io", around: Surroundings, repository: LocalRepository, work: Path
) -> _Subject:
    """The checkout as it stands; with `--candidate` the commit and the tree of that candidate, from its place."""
    named = (arguments.integration_id, arguments.spec_id)
    if arguments.candidate is None:
        return _Subject(commit=answered(repository.snapshot()), entry=named)
    with opened(arguments, io, around=around) as place:
        candidate = candidate_id(place, arguments.candidate)
        run_id = run_of(arguments.candidate)
        place.call("get_optimization_candidate", candidate_id=candidate)
        run = place.call("get_optimization_run", run_id=run_id)
        folder = work / "candidate"
        answered(
            download_candidate(
                place.api, candidate, folder, wanted=_is_tree, progress=telling(io, "fetched", at_the_end=False)
            )
        )
    source, dataset = run.get("github_source") or {}, run.get("dataset") or {}
    commit = answered(repository.commit(str(source.get("commit"))))
    return _Subject(
        commit=commit,
        entry=named if any(named) else (source.get("integration_id"), source.get("spec_id")),
        tree=_tree(folder, repository, commit),
        candidate_id=candidate,
        dataset=f"{dataset['name']}@{dataset['revision']}" if dataset.get("name") else None,
    )


def _is_tree(path: str) -> bool:
    return path == "patch.diff" or path.startswith("tree/documents/")


def _tree(folder: Path, repository: LocalRepository, commit: str) -> CandidateTree:
    """A candidate as it was downloaded: its documents, and what its patch makes of the commit."""
    documents: dict[str, dict[str, str]] = {}
    root = folder / "tree" / "documents"
    for path in sorted(root.rglob("*")):
        if path.is_file():
            group, *name = path.relative_to(root).parts
            documents.setdefault(group, {})["/".join(name)] = path.read_bytes().decode("utf-8")
    patch = folder / "patch.diff"
    if not patch.is_file():
        return CandidateTree(documents)
    checkout = Path(repository.checkout() or ".")
    patched = answered(commit_patch(checkout, commit, patch.read_bytes(), "A candidate that is evaluated"))
    before, after = ({one.path: one for one in repository.files(which)} for which in (commit, patched))
    edits = {
        path: _repository_file(after.get(path))
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
    }
    return CandidateTree(documents, edits)


def _repository_file(file: TreeFile | None) -> RepositoryFile | None:
    if file is None:
        return None
    return RepositoryFile("100755" if file.mode == EXECUTABLE_MODE else "100644", file.data)


def _dataset(
    arguments: argparse.Namespace,
    io: "Io",
    around: Surroundings,
    subject: _Subject,
    configured: Configured,
    *,
    given: Mapping[str, Any],
    work: Path,
) -> tuple[Path, JsonObject]:
    """The folder of the dataset and what to say of it: the option, the candidate's, else the configured one."""
    asked: str | None = arguments.dataset
    if asked is not None and _means_folder(asked, io.cwd):
        return _folder(io.cwd / asked)
    if asked is None and subject.dataset is None:
        here, (_, said) = split_config(given)[1], split_config(configured.defaults)
        for config, base in ((here, io.cwd), (said, _project_root(around))):
            path = answered(local_dataset_path(config))
            if path is not None:
                return _folder(base / path)
        resolved = split_config(merge_config(configured.defaults, given))[1]
        chosen = answered(choose_dataset(resolved))
        if chosen is None:
            raise Refused(no_dataset(configured.config, configured.entry))
    else:
        chosen = DatasetChoice(reference=asked or subject.dataset)
    folder = work / "dataset"
    folder.mkdir()
    with opened(arguments, io, around=around) as place:
        name, revision = _named(place, chosen)
        answered(download_dataset(place.api, chosen, folder, progress=telling(io, "fetched", at_the_end=False)))
    return folder, {"name": name, "revision": revision, "path": None}


def _named(place: Place, chosen: DatasetChoice) -> tuple[str, str]:
    """Name and revision of an uploaded dataset."""
    if chosen.reference is None:
        return str(chosen.artifact_id), UNPINNED
    found: Answer = place.call("resolve_dataset", reference=chosen.reference).get("dataset") or {}
    return str(found.get("name", chosen.reference)), str(found.get("revision", UNPINNED))


def _means_folder(asked: str, cwd: Path) -> bool:
    """Whether `--dataset` is a path: one that looks like it, or a folder that is there."""
    return asked.startswith((".", os.sep, "~")) or os.sep in asked.partition("@")[0] or (cwd / asked).is_dir()


def _folder(path: Path) -> tuple[Path, JsonObject]:
    folder = path.expanduser().resolve()
    if not folder.is_dir():
        message = (
            "a dataset is a folder with train.jsonl and test.jsonl, not a file"
            if folder.exists()
            else "there is no such folder"
        )
        raise Refused(
            Problem("BK217", message, str(folder), "name the folder, or an uploaded dataset as NAME@REVISION")
        )
    return folder, {"name": LOCAL_DATASET, "revision": UNPINNED, "path": str(folder)}


def _project_root(around: Surroundings) -> Path:
    assert around.project is not None
    return around.project.root
