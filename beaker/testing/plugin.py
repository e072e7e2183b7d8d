"""The pytest plugin: fixtures for the Integration of the project under test.

Every project that has Beaker installed imports this module, so it imports nothing until a fixture is used.
"""

from __future__ import annotations

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import NoReturn

    from beaker.core.cases import Case
    from beaker.core.problems import Refused
    from beaker.sdk.integration import Integration
    from beaker.testing.configured import Configured
    from beaker.testing.setups import PreparedRun

_OPTION = "--beaker-integration"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.getgroup("beaker", "Beaker").addoption(
        _OPTION,
        metavar="TARGET",
        help="the Integration that the beaker fixtures use: an id of .beaker/beaker.yaml, FILE.py, or MODULE:ATTRIBUTE "
        "(default: the configured one)",
    )


@pytest.fixture(scope="session")
def beaker_integration(pytestconfig: pytest.Config) -> Integration:
    """The Integration under test: the one that --beaker-integration names, else the configured one."""
    from beaker.core.problems import Refused
    from beaker.testing.configured import chosen_entry
    from beaker.testing.loading import load_entry, load_integration

    project, target = _project(pytestconfig), pytestconfig.getoption(_OPTION)
    if target is not None and target not in {entry.id for entry in project.entries}:
        started = pytestconfig.invocation_params.dir
        file = started / (target.rpartition(":")[0] or target)
        # The option may have been typed, or stand in the settings of pytest.
        return load_integration(target, root=started if file.is_file() else pytestconfig.rootpath)
    try:
        entry = chosen_entry(project, target)
    except Refused as refused:
        _fail(refused)
    return load_entry(project, entry)


@pytest.fixture(scope="session")
def beaker_dataset(pytestconfig: pytest.Config) -> Path:
    """The dataset's folder: `local_dataset_path` of the configuration. Define a fixture of this name for another one:
    a path, or rows as `run_setup_once` takes them."""
    from beaker.core.problems import Refused
    from beaker.testing.configured import configured_dataset

    try:
        return configured_dataset(_project(pytestconfig), pytestconfig.getoption(_OPTION))
    except Refused as refused:
        _fail(refused)


@pytest.fixture(scope="session")
def beaker_setup(beaker_integration: Integration, beaker_dataset: Path) -> Iterator[PreparedRun]:
    """What the setup gave: cases, seed documents. It stays open until the session ends."""
    from beaker.testing.setups import open_setup

    with open_setup(beaker_integration, beaker_dataset) as prepared:
        yield prepared


@pytest.fixture(scope="session")
def beaker_cases(beaker_setup: PreparedRun) -> tuple[Case, ...]:
    """The cases of the dataset, TRAIN before TEST."""
    return beaker_setup.cases


def _project(config: pytest.Config) -> Configured:
    """The configured project around the folder that pytest was started in, else around its root."""
    from beaker.testing.configured import configured

    here = configured(config.invocation_params.dir)
    return here if here.config is not None or here.problems else configured(config.rootpath)


def _fail(refused: Refused) -> NoReturn:
    from beaker.testing.faults import told

    pytest.fail("\n".join(map(told, refused.problems)), pytrace=False)
