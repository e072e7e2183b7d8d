"""Which dataset `run smoke` reads, and when it says that a launch reads another one."""

from typing import Any

import pytest
from returns.result import Success

from beaker.core.launch import DatasetChoice
from beaker.core.problems import Problem
from beaker.core.smoke_dataset import DatasetFolder, smoke_dataset

REFERENCE = DatasetChoice(reference="inv@production")
ARTIFACT = DatasetChoice(artifact_id="art_1")


@pytest.mark.parametrize(
    ("file", "given", "found"),
    [
        ({}, {}, None),
        ({"local_dataset_path": "d"}, {}, DatasetFolder("d")),
        ({"dataset_ref": "inv@production"}, {}, REFERENCE),
        ({"dataset_id": "art_1"}, {}, ARTIFACT),
        ({"local_dataset_path": "d", "dataset_ref": "inv@production"}, {}, DatasetFolder("d", instead=REFERENCE)),
        ({"local_dataset_path": "d"}, {"dataset_ref": "inv@production"}, REFERENCE),
        ({"dataset_ref": "inv@production"}, {"localDatasetPath": "d"}, DatasetFolder("d", True, REFERENCE)),
        ({"local_dataset_path": "d"}, {"local_dataset_path": "e"}, DatasetFolder("e", True)),
        ({"local_dataset_path": "d"}, {"local_dataset_path": None}, None),
        ({"local_dataset_path": "d", "dataset_ref": 1}, {}, DatasetFolder("d")),
    ],
)
def test_smoke_dataset__what_is_named__command_line_first_then_folders(
    file: dict[str, Any], given: dict[str, Any], found: object
) -> None:
    """The command line comes before the file, and in each a folder before a dataset that a place keeps."""
    assert smoke_dataset({**file, **given}, given) == Success(found)


@pytest.mark.parametrize(
    ("file", "given"),
    [({"local_dataset_path": 1}, {}), ({"dataset_ref": 1}, {}), ({"local_dataset_path": "d"}, {"dataset_ref": 1})],
)
def test_smoke_dataset__what_is_no_text__is_refused(file: dict[str, Any], given: dict[str, Any]) -> None:
    """A path or a selector that is no text is refused, wherever it stands."""
    assert smoke_dataset({**file, **given}, given).failure().code == "BK404"


def test_dataset_folder__other_one_configured__is_called_like_it_and_warned_of() -> None:
    """Setup learns the configured name, and the user that a launch will use another dataset."""
    assert (DatasetFolder("d").name, DatasetFolder("d").warnings) == ("local-dataset", ())
    folder = DatasetFolder("d", instead=REFERENCE)
    message = "this folder was checked, not 'inv@production', which a launch uses"
    hint = "`beaker run smoke --dataset inv@production` checks that one"
    assert (folder.name, folder.warnings) == ("inv", (Problem("BK220", message, "d", hint),))
    by_id = DatasetFolder("d", instead=ARTIFACT)
    assert by_id.name == "local-dataset"
    assert "'art_1'" in by_id.warnings[0].message
    assert "--dataset-id art_1`" in by_id.warnings[0].hint
