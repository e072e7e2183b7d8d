"""Which dataset `beaker run smoke` reads: a folder of this machine, or one that a place keeps."""

from collections.abc import Mapping
from typing import Any

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.launch import DatasetChoice, choose_dataset, local_dataset_path, split_config
from beaker.core.problems import Problem, Problems
from beaker.core.values import value

LOCAL_NAME = "local-dataset"
"""The name of a dataset that has none."""


@value
class DatasetFolder:
    """A folder, as it was written.

    `said_here` says that the command line named it, so that it counts from the working directory, not from the project.
    `instead` is the dataset that a launch would use, where the configuration selects one besides.
    """

    path: str
    said_here: bool = False
    instead: DatasetChoice | None = None

    @property
    def name(self) -> str:
        """What setup is told that the dataset is called: the name of the configured one, as far as that is known."""
        reference = self.instead.reference if self.instead is not None else None
        return (reference or LOCAL_NAME).partition("@")[0]

    @property
    def warnings(self) -> Problems:
        """That a launch will use another dataset (BK220), empty when the configuration selects none."""
        if self.instead is None:
            return ()
        option = (
            ("--dataset", self.instead.reference)
            if self.instead.reference
            else ("--dataset-id", self.instead.artifact_id)
        )
        message = f"this folder was checked, not {option[1]!r}, which a launch uses"
        hint = f"`beaker run smoke {' '.join(map(str, option))}` checks that one"
        return (Problem("BK220", message, self.path, hint),)


def smoke_dataset(
    config: Mapping[str, Any], given: Mapping[str, Any]
) -> Result[DatasetFolder | DatasetChoice | None, Problem]:
    """The dataset that the merged `config` names, of which the command line said `given`; `None` when it names none.

    What the command line said comes first. Then a folder comes before a selected dataset, so that a project is checked
    before its dataset is uploaded, and without a login. BK404 for a path or a selector that is none.
    """
    for part, said_here in ((given, True), (config, False)):
        resolved = split_config(part)[1]
        named = local_dataset_path(resolved)
        if not is_successful(named):
            return Failure(named.failure())
        chosen = choose_dataset(resolved)
        if (path := named.unwrap()) is not None:
            instead = choose_dataset(split_config(config)[1])
            return Success(DatasetFolder(path, said_here, instead.unwrap() if is_successful(instead) else None))
        if not is_successful(chosen) or chosen.unwrap() is not None:
            return chosen
    return Success(None)
