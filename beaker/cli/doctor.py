"""`beaker doctor`: looks at Git, Python, the configuration, credentials, the service, the disk and the system."""

import argparse
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import HELP, add_leaf
from beaker.cli.shell import DONE, NEGATIVE, Io, Styled, one_line

if TYPE_CHECKING:
    from beaker.cli.place import Surroundings
    from beaker.core.credentials import BaseUrl
    from beaker.core.doctor import Check
    from beaker.core.interpreters import ChosenPython
    from beaker.core.problems import Problem
    from beaker.files.pyproject import PythonProject

MARKS = {"ok": ("OK", "ok"), "warning": ("WARN", "warn"), "fault": ("FAULT", "error"), "skipped": ("SKIP", "muted")}


def add_parser(subparsers: Any) -> None:
    """Add `doctor`."""
    add_leaf(
        subparsers,
        "doctor",
        help=HELP["doctor"],
        description="Looks at Git, the interpreter, the configuration, the credential, the service, the disk and what "
        "the system lets a run do; each by itself, and nothing is changed. Exit code 1 when something does not work.",
    )


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Look at everything; exit code 1 when there is a fault."""
    from beaker.core.doctor import checks_json, healthy

    checks = tuple(_looked_at(arguments, io))
    if io.json:
        io.json_line(checks_json(checks))
        return DONE if healthy(checks) else NEGATIVE
    for check in checks:
        mark, role = MARKS[check.state]
        io.out("  ", Styled(f"{mark:<5}", role), f" {check.name:<14} {one_line(check.message)}")
        if check.hint and check.state != "ok":
            io.out(f"  {'':<5} {'':<14} ", Styled("hint: ", "key"), one_line(_here(check.hint, io)))
    if healthy(checks):
        io.out(Styled("beaker doctor:", "ok"), " nothing was found that does not work")
        return DONE
    io.out(Styled("beaker doctor:", "error"), " something does not work")
    return NEGATIVE


def _looked_at(arguments: argparse.Namespace, io: Io) -> Iterator["Check"]:
    """Every check, in order; what one of them meets keeps no other from being made."""
    from beaker.core.doctor import Check
    from beaker.core.problems import Refused
    from beaker.files.atomic import os_problem

    looked: list[tuple[str, Callable[[argparse.Namespace, Io], Iterator[Check]]]] = [
        ("git", _git),
        ("python", _python),
        ("configuration", _configuration),
        ("service", _place),
        ("disk", _machine),
        ("guides", _guides),
    ]
    for name, look in looked:
        try:
            yield from look(arguments, io)
        except Refused as refused:
            yield Check(name, "fault", str(refused.problems[0]), refused.problems[0].hint)
        except OSError as error:
            problem = os_problem(error, "look at it")
            yield Check(name, "fault", str(problem), problem.hint)


def _git(arguments: argparse.Namespace, io: Io) -> Iterator["Check"]:
    from returns.pipeline import is_successful

    from beaker.core.doctor import check_git
    from beaker.files.git import head_commit
    from beaker.files.git_process import git_output
    from beaker.files.project import find_git_root

    version = git_output(io.cwd, "--version").map(lambda out: out.decode("utf-8", "replace")).value_or(None)
    root = find_git_root(io.cwd.resolve())
    committed = root is not None and is_successful(head_commit(root))
    yield check_git(version, repository=root is not None, committed=committed)


def _python(arguments: argparse.Namespace, io: Io) -> Iterator["Check"]:
    from beaker.cli.project_python import python_search
    from beaker.core.doctor import check_python
    from beaker.core.interpreters import choose_python
    from beaker.core.python_version import refuses_python
    from beaker.files.interpreters import look_for_pythons, manager_of
    from beaker.files.project import find_git_root
    from beaker.files.pyproject import find_python_project
    from beaker.runtime.interpreters import own_python

    here = io.cwd.resolve()
    project = find_python_project(here, stop=find_git_root(here)).value_or(None)
    version = (sys.version_info[0], sys.version_info[1], sys.version_info[2])
    requirement = None if project is None else refuses_python(project.metadata, version)
    search = python_search(arguments, io, here if project is None else project.root, find_git_root(here))
    chosen = choose_python(look_for_pythons(search, project), own_python(), manager=manager_of(project))
    python = chosen.value_or(None)
    refusal = None if python is None or python.is_own else _refusal(python, project)
    yield check_python(version, sys.executable, chosen=chosen, refusal=refusal, requirement=requirement)


def _refusal(python: "ChosenPython", project: "PythonProject | None") -> "Problem | None":
    """What an environment's own notes say against it; the interpreter, somebody else's maybe, is not started."""
    from beaker.core.interpreters import ProbedPython, judge_python
    from beaker.files.interpreters import manager_of, written_version
    from beaker.runtime.interpreters import own_python

    version, own = written_version(Path(python.program).parent.parent), own_python()
    if version is None:
        return None
    # Whether it has Beaker, only asking it would tell.
    probed = ProbedPython(version=version, release=None)
    return judge_python(python, probed, own, manager=manager_of(project)) if version[:2] != own.version[:2] else None


def _configuration(arguments: argparse.Namespace, io: Io) -> Iterator["Check"]:
    from beaker.cli.place import look_around
    from beaker.core.doctor import check_configuration
    from beaker.runtime.config_check import check_config

    around = look_around(arguments, io)
    if around.project is None:
        yield check_configuration(None, (), ())
        return
    report = check_config(around.project, local=_base_url(arguments, io, around).is_local)
    yield check_configuration(report.file, report.problems, report.warnings)


def _place(arguments: argparse.Namespace, io: Io) -> Iterator["Check"]:
    """The credential, and the service that it is for."""
    from returns.pipeline import is_successful

    from beaker.cli.place import credential_for, look_around, refuse_needless
    from beaker.core.doctor import check_credentials, check_service

    around = look_around(arguments, io)
    base_url = _base_url(arguments, io, around)
    if base_url.is_local:
        refuse_needless(arguments)
        yield check_credentials(None, None, shared=None)
        yield check_service("this machine", None, asked=True)
        return
    shared = _shared_logins(io)
    found = credential_for(arguments.api_key, io, base_url.url)
    if not is_successful(found):
        yield check_credentials(None, found.failure(), shared=shared)
        yield check_service(base_url.url, None, asked=False)
        return
    credential = found.unwrap()
    sources = {"flag": "an API key (--api-key)", "session": "a login", "environment": "an API key (BEAKER_API_KEY)"}
    yield check_credentials(sources.get(credential.source, credential.source), None, shared=shared)
    refusal = _asked(arguments, io, base_url.url, credential.token, person=credential.names_a_person)
    yield check_service(base_url.url, refusal, asked=True)


def _asked(arguments: argparse.Namespace, io: Io, url: str, token: str, *, person: bool) -> "Problem | None":
    """What the service says against the credential; `None` when it takes it."""
    from returns.pipeline import is_successful

    from beaker.cli.requests import over_network
    from beaker.client.api import Api
    from beaker.client.network import HttpTransport

    transport = HttpTransport(url, token, insecure_http=arguments.insecure_http)
    try:
        answer = Api(over_network(transport, io, url), sleep=io.sleep).once("get_user_me" if person else "list_agents")
    finally:
        transport.close()
    return None if is_successful(answer) else answer.failure()


def _shared_logins(io: Io) -> str | None:
    """The file of logins, when others than its owner may read or write it."""
    from beaker.files.credential_store import credential_store

    path = credential_store(io.environ).path
    try:
        loose = sys.platform != "win32" and path.stat().st_mode & 0o077
    except OSError:
        return None
    return str(path) if loose else None


def _guides(arguments: argparse.Namespace, io: Io) -> Iterator["Check"]:
    """The guides for coding agents, where a project has some."""
    from beaker import __version__
    from beaker.core.doctor import check_guides
    from beaker.core.skills import FOLDERS
    from beaker.files.project import find_git_root
    from beaker.files.skill_files import installed_versions

    root = find_git_root(io.cwd.resolve()) or io.cwd.resolve()
    for folder in FOLDERS:
        if versions := installed_versions(root / folder):
            outdated = [name for name, version in versions.items() if version != __version__]
            yield check_guides(str(root / folder), outdated)


def _machine(arguments: argparse.Namespace, io: Io) -> Iterator["Check"]:
    """The disk of the state of runs, and what the system lets runs do."""
    from beaker.cli.place import look_around
    from beaker.core.doctor import check_disk, check_isolation, check_sandbox
    from beaker.core.problems import Refused
    from beaker.files.folders import nearest_folder, write_refusal
    from beaker.runtime.abilities import abilities
    from beaker.runtime.sandbox import find_sandbox
    from beaker.service.place import state_folder

    try:
        around = look_around(arguments, io)
    except Refused:  # what is wrong with the configuration has been told
        around = None
    project = None if around is None else around.project
    root = io.cwd.resolve() if project is None else project.root.resolve()
    folder = nearest_folder(state_folder(root, io.environ))
    refusal = write_refusal(folder)
    yield check_disk(str(folder), shutil.disk_usage(folder).free, refusal)
    yield check_sandbox(sys.platform, abilities(folder if refusal is None else Path.cwd()))
    entries = () if around is None or around.config is None else around.config.entries
    yield check_isolation(find_sandbox(), wanted=any(entry.isolation == "sandbox" for entry in entries))


def _base_url(arguments: argparse.Namespace, io: Io, around: "Surroundings") -> "BaseUrl":
    from beaker.cli.place import answered
    from beaker.core.credentials import choose_base_url

    configured = around.config.api if around.config is not None else None
    return answered(choose_base_url(arguments.base_url, io.environ, local=arguments.local, configured=configured))


def _here(hint: str, io: Io) -> str:
    from beaker.cli.words import advised
    from beaker.core.problems import Problem

    return advised(Problem("", "", hint=hint), io).hint
