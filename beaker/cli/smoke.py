"""`beaker run smoke`: checks a project and its dataset before a launch; customer code runs in processes of its own."""

import argparse
from typing import Any

from beaker.cli.parser import add_agent_option, add_leaf


def add_smoke(actions: Any) -> None:
    """Add `run smoke`."""
    leaf = add_leaf(
        actions,
        "smoke",
        help="check the project and its dataset before a launch",
        description="Imports the Integration, validates every row, sets up and loads every case, and checks whatever "
        "would make a launch fail. Nothing is run or scored, but one case with --run-one. The dataset is the folder "
        "that local_dataset_path names, in config_defaults or --config.",
    )
    leaf.add_argument("--integration-id", metavar="ID", help="the integration (default: the configured or only one)")
    leaf.add_argument("--split", choices=("train", "test"), default="train", help="whose case is shown or run (train)")
    leaf.add_argument("--config", metavar="JSON", help="launch settings over config_defaults")
    leaf.add_argument("--dataset", metavar="REF", help=argparse.SUPPRESS)
    leaf.add_argument("--dataset-id", metavar="ID", help=argparse.SUPPRESS)
    leaf.add_argument("--strict", action="store_true", help="fail while placeholders are left")
    leaf.add_argument("--run-one", action="store_true", help="run and score one case for real")
    add_agent_option(leaf)
