"""The ports of a place on this machine: its folder, a checkout, the caller's environment."""

import os
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from returns.pipeline import is_successful

from beaker.core.agent_values import values_of
from beaker.core.environment import GrantedEnvironment, granted_environment
from beaker.core.problems import Refused
from beaker.service.agent_values import SECRETS, SecretsFile
from beaker.service.local_repository import LocalRepository
from beaker.service.place import Place, utc_now
from beaker.service.ports import Ports, Transfers, Workers

ORGANIZATION = "local"
"""The only organization of a place on one machine."""


def local_ports(
    place: Place,
    root: Path,
    config_file: str,
    caller: Mapping[str, str],
    *,
    workers: Workers,
    transfers: Transfers,
) -> Ports:
    """The world of a service that runs the checkout around `root`.

    `config_file` counts from `root`. Names granted to a run are looked up among the values kept for its agent, else in
    `caller`, else in the project's `.beaker/.env`.
    """
    kept = SecretsFile(place.state_dir / SECRETS)
    environment = _Environment(root, caller, kept)
    return Ports(
        database=place.database,
        blobs=place.blobs,
        repository=LocalRepository(root, config_file),
        workers=workers,
        transfers=transfers,
        now=utc_now,
        new_id=lambda prefix: f"{prefix}_{secrets.token_hex(8)}",
        granted=environment.granted,
        unset=environment.unset,
        program=environment.program,
        secrets=kept,
    )


class _Environment:
    """What a run may be granted (kept values, the caller's environment, the project's dotenv file), and programs."""

    def __init__(self, root: Path, caller: Mapping[str, str], kept: SecretsFile) -> None:
        self._root = root
        self._caller = caller
        self._kept = kept

    def granted(self, names: Iterable[str], agent_key: str) -> GrantedEnvironment:
        from beaker.files.dotenv import read_dotenv

        wanted = tuple(names)
        dotenv = read_dotenv(self._root) if wanted else None
        if dotenv is not None and not is_successful(dotenv):
            raise Refused(dotenv.failure())
        found = {} if dotenv is None else dotenv.unwrap()
        kept = values_of(self._kept.read(), agent_key) if wanted else {}
        return granted_environment(wanted, secrets=kept, caller=self._caller, dotenv=found)

    def unset(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name not in self._caller)

    def program(self, name: str) -> bool:
        import shutil

        return shutil.which(name, path=self._caller.get("PATH", os.defpath)) is not None
