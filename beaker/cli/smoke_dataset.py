"""The dataset that `beaker run smoke` reads: a local folder, or one that a place keeps, downloaded for the while."""

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from beaker.cli.place import Surroundings, answered, opened
from beaker.cli.shell import Io
from beaker.client.dataset_downloads import dataset_record, download_dataset
from beaker.core.config_entry import IntegrationEntry
from beaker.core.launch import choose_dataset, local_dataset_path, no_dataset, split_config
from beaker.core.problems import Problem, Refused
from beaker.core.values import value
from beaker.runtime.folders import temporary_folder


@value
class SmokedDataset:
    """A dataset's folder, and its name and revision as setup is told them. `kept` says that a place keeps it."""

    folder: Path
    name: str = "local-dataset"
    revision: str = "unpinned"
    kept: bool = False


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
    """The dataset that the options select, else the folder that `config` names, else the dataset that it selects.

    `given` is the part of `config` that the command line said: a folder in it counts from here, else from the project.
    A dataset that a place keeps is downloaded, verified, and removed again. `Refused` when there is none.
    """
    asked = arguments.dataset is not None or arguments.dataset_id is not None
    resolved, said_here = split_config(config)[1], split_config(given)[1]
    if asked:
        chosen = answered(choose_dataset({}, reference=arguments.dataset, artifact_id=arguments.dataset_id))
    else:
        assert around.project is not None
        path = answered(local_dataset_path(resolved))
        if path is not None:
            is_here = answered(local_dataset_path(said_here)) is not None
            yield SmokedDataset((io.cwd if is_here else around.project.root) / path)
            return
        chosen = answered(choose_dataset(resolved))
    if chosen is None:
        hint = (
            'set config_defaults.local_dataset_path, pass --config \'{"local_dataset_path": "DIR"}\' or --dataset NAME'
        )
        problem = no_dataset(around.config, entry)
        raise Refused(Problem(problem.code, "no dataset is named", problem.where, hint))
    with temporary_folder("beaker-smoke-dataset-") as folder:
        with opened(arguments, io, around=around, resume=False) as place:
            record = answered(dataset_record(place.api, chosen))
            name, revision = (str(record.get(key) or "") for key in ("name", "revision"))
            io.note(f"downloading {name or chosen.artifact_id}")
            answered(download_dataset(place.api, chosen, folder))
        yield SmokedDataset(folder, name or str(chosen.artifact_id), revision or "unpinned", kept=True)
