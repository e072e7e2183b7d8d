"""The integrations of the checkout: what its configuration names, at each commit that a run took them from."""

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.api import Response
from beaker.core.config_entry import IntegrationEntry
from beaker.core.problems import Problem, Problems
from beaker.core.strict_json import JsonObject
from beaker.service.ports import Call, Repository, answer, refuse
from beaker.service.run_table import launched_commits

READY, FAULTY = "READY", "FAULTY"
"""Whether an entry could be launched, as far as the configuration alone tells. Nothing is built here."""


def list_integrations(call: Call) -> Response:
    """What the configuration names at the commit that a launch without a ref would take."""
    status = call.arguments["status"]
    found = _current(call.ports.repository)
    if not is_successful(found):
        return refuse(422, found.failure())
    commit, entries = found.unwrap()
    listed = [_shown(entry, commit) for entry in entries]
    return answer({"integrations": [one for one in listed if status is None or one["status"] == status.upper()]})


def list_integration_versions(call: Call) -> Response:
    """The commits that an integration can be or has been taken from, as its versions: the current one first, then
    those of the agent's runs, the newest first."""
    name = call.arguments["name"]
    found = _current(call.ports.repository)
    commit, entries = found.unwrap() if is_successful(found) else ("", ())
    versions = [_shown(entry, commit) for entry in entries if entry.id == name]
    launched = launched_commits(call.ports.database, call.the_agent().id, name)
    versions += [{"name": name, "version": one, "status": READY} for one in launched if one != commit]
    return answer({"versions": versions}) if versions else _unknown(name)


def get_integration_version(call: Call) -> Response:
    """An integration as the configuration names it at a commit."""
    name, version = call.arguments["name"], call.arguments["version"]
    commit = call.ports.repository.commit(version)
    if is_successful(commit) and commit.unwrap() == version:
        entries = _entries(call.ports.repository, version)
        for entry in entries.unwrap() if is_successful(entries) else ():
            if entry.id == name:
                return answer(_shown(entry, version))
    return _unknown(name, f" at {version!r}")


def _current(repository: Repository) -> Result[tuple[str, tuple[IntegrationEntry, ...]], Problems]:
    """The commit that is launched by default, and the entries of the configuration there."""
    commit = repository.commit(None)
    if not is_successful(commit):
        return Failure((commit.failure(),))
    entries = _entries(repository, commit.unwrap())
    return Success((commit.unwrap(), entries.unwrap())) if is_successful(entries) else Failure(entries.failure())


def _entries(repository: Repository, commit: str) -> Result[tuple[IntegrationEntry, ...], Problems]:
    from beaker.core.config import parse_config
    from beaker.files.yaml_tree import parse_yaml

    path = repository.config_path()
    text = repository.read_file(commit, path)
    if not is_successful(text):
        return Failure((text.failure(),))
    tree = parse_yaml(text.unwrap(), path)
    if not is_successful(tree):
        return Failure(tree.failure())
    parsed = parse_config(tree.unwrap(), path)
    return Success(parsed.unwrap().entries) if is_successful(parsed) else Failure(parsed.failure())


def _shown(entry: IntegrationEntry, commit: str) -> JsonObject:
    return {
        "name": entry.id,
        "version": commit,
        "status": FAULTY if entry.problems else READY,
        "kind": entry.kind,
        "entrypoint": entry.entrypoint,
        "source_dir": entry.source_dir,
        "required_env": [*entry.required_env],
        "targets": entry.targets,
        "problems": [str(problem) for problem in entry.problems],
    }


def _unknown(name: str, where: str = "") -> Response:
    hint = "GET /v1/integrations lists those of the checkout"
    return refuse(404, Problem("BK453", f"there is no integration {name!r}{where} here", hint=hint))
