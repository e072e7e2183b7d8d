"""Prompts and resources of a Spec as groups of documents, and a candidate's documents as targets again."""

import inspect
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from beaker.core.documents import TargetDocument
from beaker.core.resource_trees import PROMPTS, prompt_file_names
from beaker.core.text import class_name
from beaker.core.values import value
from beaker.sdk.spec04.candidates import CandidateDiff, CandidateWorkspace, ResourceChange
from beaker.sdk.spec04.targets import OptimizationTargets

UNCHANGED = "seed"
"""The id of a candidate of which nothing but the repository differs."""


@value
class OpenedCandidate:
    """What the cases of one rollout process share: the targets, `None` when the repository is what changes, the folder
    of each resource, an id, and what the Spec's own environment yields.
    """

    targets: OptimizationTargets | None
    resources: Mapping[str, Path]
    candidate_id: str | None
    runtime: Any = None


def group_names(seeds: OptimizationTargets) -> tuple[str, ...]:
    """The groups of documents that `seeds` become: one per resource, and one for prompts."""
    return (*sorted(seeds.resources), *((PROMPTS,) if seeds.prompts else ()))


def seed_documents(seeds: OptimizationTargets, editable: tuple[str, ...] | None) -> tuple[TargetDocument, ...]:
    """The documents of `seeds`. Resources that are not among `editable` may not change; `None` stands for all."""
    return tuple(
        TargetDocument(
            source_id=f"{record.resource}/{record.path}",
            group=record.resource,
            name=record.path,
            content=record.content,
            editable=editable is None or record.resource == PROMPTS or record.resource in editable,
        )
        for record in seeds.file_records
    )


def opened_targets(seeds: OptimizationTargets, targets_dir: Path) -> OpenedCandidate:
    """A candidate as its documents below `targets_dir` have it.

    `ValueError` for one that is no candidate of the Spec: a prompt without text or without its file, a file that is no
    prompt, a resource without files, and what is no UTF-8.
    """
    prompts: dict[str, str] = {}
    files = prompt_file_names(seeds.prompts)
    if seeds.prompts:
        found = _texts(targets_dir / PROMPTS)
        if unknown := sorted(found.keys() - set(files.values())):
            raise ValueError(f"{PROMPTS}/{unknown[0]} is the file of no prompt; only their texts may change")
        for name, file in files.items():
            prompts[name] = found.get(file, "")
            if not prompts[name].strip():
                raise ValueError(f"the prompt {name!r} has no text: {PROMPTS}/{file} is empty or missing")
    folders = {name: targets_dir / name for name in seeds.resources}
    targets = OptimizationTargets(prompts, resources={name: _texts(folder) for name, folder in folders.items()})
    return OpenedCandidate(targets, folders, targets.candidate_id)


def _texts(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode("utf-8") for path in files}


class SpecOpener:
    """`open_candidate` of a Spec: reads the candidate, has its environment check it, and opens that.

    `seeds` is `None` when the repository is what changes, `environment` when the Spec has none.
    """

    def __init__(self, seeds: OptimizationTargets | None, environment: Any) -> None:
        self._seeds = seeds
        self._environment = environment

    def __call__(self, *, targets_dir: Path | None, scratch_dir: Path) -> Any:
        return self._open(targets_dir, scratch_dir)

    def read(self, targets_dir: Path | None) -> OpenedCandidate:
        """The candidate without its environment."""
        if self._seeds is None:
            return OpenedCandidate(None, {}, None)
        if targets_dir is None:
            raise RuntimeError("the candidate's documents are missing: there is no targets_dir")
        return opened_targets(self._seeds, targets_dir)

    @asynccontextmanager
    async def _open(self, targets_dir: Path | None, scratch_dir: Path) -> AsyncIterator[OpenedCandidate]:
        opened = self.read(targets_dir)
        if self._environment is None:
            yield opened
            return
        diff = CandidateDiff(tuple(_changes(self._seeds, opened.targets)))
        workspace = CandidateWorkspace(opened.candidate_id or UNCHANGED, opened.resources, scratch_dir, diff)
        prepared = self._environment.prepare(workspace)
        if inspect.isawaitable(prepared):
            await prepared
        opener = getattr(self._environment, "open", None)
        if opener is None:
            yield opened
            return
        async with _entered(opener(workspace)) as runtime:
            yield OpenedCandidate(opened.targets, opened.resources, opened.candidate_id, runtime)


@asynccontextmanager
async def _entered(manager: Any) -> AsyncIterator[Any]:
    """What a context manager of either kind yields."""
    if hasattr(manager, "__aenter__"):
        async with manager as runtime:
            yield runtime
    elif hasattr(manager, "__enter__"):
        with manager as runtime:
            yield runtime
    else:
        raise TypeError(f"candidate_environment.open must return a context manager, not {class_name(manager)}")


def _changes(seeds: OptimizationTargets | None, now: OptimizationTargets | None) -> Iterator[ResourceChange]:
    before, after = _contents(seeds), _contents(now)
    for resource, path in sorted(before.keys() | after.keys()):
        old, new = before.get((resource, path)), after.get((resource, path))
        if old != new:
            yield ResourceChange(resource, path, old, new)


def _contents(targets: OptimizationTargets | None) -> dict[tuple[str, str], str]:
    records = () if targets is None else targets.file_records
    return {(record.resource, record.path): record.content for record in records}
