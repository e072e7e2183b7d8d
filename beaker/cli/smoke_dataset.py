"""The dataset that `beaker run smoke` reads: a local folder, or one that a place keeps, downloaded for the while."""

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from returns.pipeline import is_successful

from beaker.cli.place import Surroundings, answered, opened
from beaker.cli.shell import Io
from beaker.cli.transfers import telling
from beaker.client.dataset_downloads import dataset_record, download_dataset
from beaker.core.config_entry import IntegrationEntry
from beaker.core.launch import DatasetChoice, choose_dataset, no_dataset
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.smoke_dataset import LOCAL_NAME, DatasetFolder, smoke_dataset
from beaker.core.values import value
from beaker.runtime.folders import temporary_folder


@value
class SmokedDataset:
    """A dataset's folder, and its name and revision as setup is told them. `kept` says that a place keeps it.

    `problems` say why the folder holds none, `warnings` what is to be told besides.
    """

    folder: Path
    name: str = LOCAL_NAME
    revision: str = "unpinned"
    kept: bool = False
    problems: Problems = ()
    warnings: Problems = ()


@contextmanager
def smoked_dataset(
    arguments: argparse.Namespace,
    io: Io,
    around: Surroundings,
    entry: IntegrationEntry,
    *,
    config: Mapping[str, Any],
    given: Mapping[str, Any],
) -> Iterator[SmokedDataset]:
    """The dataset that the options select, else the one that `config` names, of which the command line said `given`.

    A dataset that a place keeps is downloaded, verified, and removed again. One that there is not has `problems`;
    `Refused` when the options contradict each other.
    """
    assert around.project is not None
    if arguments.dataset is not None or arguments.dataset_id is not None:
        chosen = choose_dataset({}, reference=arguments.dataset, artifact_id=arguments.dataset_id)
        found: DatasetFolder | DatasetChoice | None = answered(chosen)
    else:
        named = smoke_dataset(config, given)
        if not is_successful(named):
            yield SmokedDataset(around.project.root, problems=(named.failure(),))
            return
        found = named.unwrap()
    if isinstance(found, DatasetFolder):
        folder = (io.cwd if found.said_here else around.project.root) / found.path
        yield SmokedDataset(folder, found.name, warnings=found.warnings)
        return
    if found is None:
        hint = (
            'set config_defaults.local_dataset_path, pass --config \'{"local_dataset_path": "DIR"}\' or --dataset NAME'
        )
        problem = no_dataset(around.config, entry)
        missing = Problem(problem.code, "no dataset is named", problem.where, hint)
        yield SmokedDataset(around.project.root, problems=(missing,))
        return
    with temporary_folder("beaker-smoke-dataset-") as folder:
        yield _downloaded(arguments, io, around, found, folder)


def _downloaded(
    arguments: argparse.Namespace, io: Io, around: Surroundings, chosen: DatasetChoice, folder: Path
) -> SmokedDataset:
    """A dataset that a place keeps, in `folder` now."""
    try:
        with opened(arguments, io, around=around, resume=False) as place:
            record = answered(dataset_record(place.api, chosen))
            name, revision = (str(record.get(key) or "") for key in ("name", "revision"))
            io.note(f"downloading {name or chosen.artifact_id}")
            answered(download_dataset(place.api, chosen, folder, progress=telling(io, "fetched", at_the_end=False)))
    except Refused as refused:
        return SmokedDataset(folder, kept=True, problems=refused.problems)
    return SmokedDataset(folder, name or str(chosen.artifact_id), revision or "unpinned", kept=True)
