"""What `beaker init` will write: which files, with what in them, and which Integration they name."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

from returns.pipeline import is_successful

from beaker.core.config import ProjectConfig
from beaker.core.config_entry import IntegrationEntry
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.project_layout import BEAKER_DIR, normalize_integration_id, suggest_integration_id
from beaker.core.python_version import choose_hosted_python
from beaker.core.selection import choose, overshadowed, select
from beaker.core.values import value
from beaker.files.atomic import os_problem
from beaker.files.config_edit import EntryKeys, SetEntryValue, edit_config, new_config, with_integration
from beaker.files.entrypoints import ModuleFile, locate_file, locate_target, module_file
from beaker.files.ignoring import completed_ignores
from beaker.files.project import find_git_root, read_config
from beaker.files.pyproject import PYPROJECT, PythonProject, find_python_project, read_python_project
from beaker.files.reading import file_kind, read_regular
from beaker.runtime.code_root import CodeRoot

STUB_NAME = "beaker_integration.py"
TEMPLATE = Path(__file__).parent / "template" / "beaker_integration.py"

Action = Literal["create", "update", "skip"]

Discover = Callable[[ModuleFile], Awaitable[tuple[str, ...]]]
"""The names of the Integrations in a module that exists."""


@value(kw_only=True)
class Asked:
    """What the command line says. `config_file` counts from the project."""

    directory: Path
    config_file: str
    integration_id: str | None = None
    target: str | None = None
    agent_key: str | None = None


@value
class PlannedFile:
    """A file and what is to be done with it; `data` is its whole new content, `None` when it stays."""

    path: Path
    action: Action
    data: bytes | None = None


@value(kw_only=True)
class InitPlan:
    """Everything that is to be written, and the Integration that is to be verified then. `adds_entry` tells whether
    the configuration gets an integration; `is_stub` whether its module is a stub to fill in, `by_id` whether commands
    have to name it. `warnings` are to be shown once it is written."""

    project: PythonProject
    integration_id: str
    code: CodeRoot
    files: tuple[PlannedFile, ...]
    adds_entry: bool
    is_stub: bool
    module: Path
    required_env: tuple[str, ...] = ()
    by_id: bool = False
    warnings: Problems = ()


async def plan_init(asked: Asked, discover: Discover) -> InitPlan:
    """Decide what to write; nothing is written, but a module that exists is imported by `discover`.

    `Refused` with what is in the way.
    """
    found = find_python_project(asked.directory)
    if not is_successful(found):
        raise Refused(found.failure())
    project = found.unwrap()
    if os.path.lexists(project.root / BEAKER_DIR) and not (project.root / BEAKER_DIR).is_dir():
        problem = Problem("BK125", "stands where Beaker's folder belongs", str(project.root / BEAKER_DIR), "move it")
        raise Refused(problem)
    path = project.root / asked.config_file
    config = _existing(path, asked.config_file)
    integration_id = _integration_id(asked, project)
    if config is not None and config.integrations and (
        asked.integration_id is None or integration_id in config.integrations
    ):  # fmt: skip
        return _for_existing(asked, project, config, path)
    module = _located(asked, project)
    name, is_stub = await _named(module, discover)
    keys = _entry_keys(asked, project, module, f"{module.module}:{name}")
    make_default = config is not None and not config.integrations and config.default_integration is None
    files = [_stub(module.file) if is_stub else PlannedFile(module.file, "skip")]
    warning: Problem | None = None
    if config is None:
        files.append(PlannedFile(path, "create", new_config(integration_id, keys).encode()))
    else:
        edited = with_integration(_content(path), asked.config_file, integration_id, keys, make_default=make_default)
        if not is_successful(edited):
            raise Refused(edited.failure())
        files.append(PlannedFile(path, "update", edited.unwrap()))
        after = read_config(edited.unwrap(), asked.config_file)
        warning = overshadowed(after.unwrap(), integration_id) if is_successful(after) else after.failure()[0]
    files.append(_ignore_file(project))
    return InitPlan(
        project=project,
        integration_id=integration_id,
        code=_code(project, keys),
        files=tuple(files),
        adds_entry=True,
        is_stub=is_stub,
        module=module.file,
        by_id=warning is not None,
        warnings=() if warning is None else (warning,),
    )


def _existing(path: Path, name: str) -> ProjectConfig | None:
    """The configuration that is there; `Refused` when it cannot be read."""
    if not path.exists():
        return None
    read = read_config(_content(path), name)
    if not is_successful(read):
        raise Refused(read.failure())
    return read.unwrap()


def _content(path: Path) -> bytes:
    """The bytes of a file of the project; `Refused` when it cannot be read, or is none."""
    try:
        return read_regular(path)
    except OSError as error:
        raise Refused(os_problem(error, "read what the project has", path)) from error


def _integration_id(asked: Asked, project: PythonProject) -> str:
    if asked.integration_id is None:
        return suggest_integration_id(project.name)
    try:
        return normalize_integration_id(asked.integration_id)
    except ValueError as error:
        raise Refused(Problem("BK126", f"the id {error}", "--integration-id")) from None


def _for_existing(asked: Asked, project: PythonProject, config: ProjectConfig, path: Path) -> InitPlan:
    """A configured Integration is verified, and given the agent's key if there is one to record; nothing else of it is
    touched. A target must be the one that it has."""
    selected = select(config, asked.integration_id)
    if not is_successful(selected):
        raise Refused(selected.failure())
    entry = selected.unwrap()
    assert entry is not None
    code = CodeRoot(_git_root(project), entry.entrypoint, entry.source_dir, entry.package_import_root, kind=entry.kind)
    import_root = code.repository / entry.source_dir / (entry.package_import_root or ".")
    file = module_file(import_root, entry.entrypoint.partition(":")[0])
    if asked.target is not None and not _is_target_of(asked.target, project, entry, file):
        hint = "take a new id with --integration-id, or leave --target out"
        message = f"the integration {entry.id!r} has the entrypoint {entry.entrypoint}, not {asked.target}"
        raise Refused(Problem("BK127", message, "--target", hint))
    return InitPlan(
        project=project,
        integration_id=entry.id,
        code=code,
        files=(_with_key(path, asked, entry), _ignore_file(project)),
        adds_entry=False,
        is_stub=False,
        module=file or import_root,
        required_env=entry.required_env,
        by_id=asked.integration_id is not None and choose(config, None).value_or(None) != entry,
        warnings=_another_agent(asked, entry),
    )


def _with_key(path: Path, asked: Asked, entry: IntegrationEntry) -> PlannedFile:
    """The configuration with the key that is to be recorded; `Refused` (BK123) where that cannot be done safely."""
    key = (asked.agent_key or "").strip()
    if not key or key == entry.agent_key:
        return PlannedFile(path, "skip")
    before = _content(path)
    edited = edit_config(before, [SetEntryValue(entry.id, "agent_key", key, entry.section)], file=asked.config_file)
    if not is_successful(edited):
        raise Refused(edited.failure())
    return PlannedFile(path, "update", edited.unwrap())


def _another_agent(asked: Asked, entry: IntegrationEntry) -> Problems:
    """That the integration belonged to another agent, whose key is replaced (BK129)."""
    key = (asked.agent_key or "").strip()
    if not key or entry.agent_key in (None, key):
        return ()
    message = f"the integration {entry.id!r} had the agent {entry.agent_key}, and has {key} now"
    return (Problem("BK129", message, asked.config_file, "datasets and runs of the other agent stay with it"),)


def _is_target_of(target: str, project: PythonProject, entry: IntegrationEntry, file: Path | None) -> bool:
    if target.strip() == entry.entrypoint:
        return True
    located = locate_target(target, project.root)
    if not is_successful(located) or file is None:
        return False
    module = located.unwrap()
    attribute = entry.entrypoint.partition(":")[2]
    return module.file.resolve() == file.resolve() and module.attribute in (None, attribute)


def _located(asked: Asked, project: PythonProject) -> ModuleFile:
    if asked.target is None:
        located = locate_file(f"{_stub_folder(project.root)}/{STUB_NAME}", project.root)
    else:
        located = locate_target(asked.target, project.root)
    if not is_successful(located):
        raise Refused(located.failure())
    return located.unwrap()


def _stub_folder(root: Path) -> str:
    """Where a module is looked for that nobody named: in a `src` layout beside the packages, so that it finds them."""
    source = root / "src"
    if (root / BEAKER_DIR / STUB_NAME).exists() or (source / "__init__.py").exists():
        return BEAKER_DIR
    is_source = any(one.parent.name.isidentifier() for one in source.glob("*/__init__.py"))
    return "src" if is_source or (source / STUB_NAME).exists() else BEAKER_DIR


async def _named(module: ModuleFile, discover: Discover) -> tuple[str, bool]:
    """What the module calls its Integration, and whether a stub has to be written for it."""
    if module.attribute is not None:
        return module.attribute, False
    if not module.file.exists():
        return "integration", True
    if not module.file.is_file():
        kind = file_kind(module.file.stat().st_mode)
        raise Refused(Problem("BK124", f"the module is {kind}, not a file", str(module.file), "name another file"))
    names = await discover(module)
    if len(names) != 1:
        found = f"it has {', '.join(names)}" if names else "it has none"
        hint = (
            "make one at module level (integration = Integration(...)), or name one as --target module.path:attribute"
        )
        message = f"exactly one Integration is needed in the module {module.module}; {found}"
        raise Refused(Problem("BK128", message, str(module.file), hint))
    return names[0], False


def _entry_keys(asked: Asked, project: PythonProject, module: ModuleFile, entrypoint: str) -> EntryKeys:
    git_root = _git_root(project)
    keys: dict[str, str | list[str]] = {
        "entrypoint": entrypoint,
        "package_import_root": _relative(module.import_root, project.root),
    }
    projects = [project]
    if module.project != project.root:
        projects.append(read_python_project(module.project))
        keys["pip_install_from"] = _relative(module.project / PYPROJECT, git_root)
    keys["source_dir"] = _relative(project.root, git_root)
    keys["required_env"] = []
    python = choose_hosted_python(None, [one.metadata for one in projects])
    if not is_successful(python):
        raise Refused(python.failure())
    if python.unwrap().inferred:
        keys["environment_base"] = python.unwrap().environment_base
    if asked.agent_key is not None and asked.agent_key.strip():
        keys["agent_key"] = asked.agent_key.strip()
    return keys


def _code(project: PythonProject, keys: EntryKeys) -> CodeRoot:
    return CodeRoot(
        _git_root(project), str(keys["entrypoint"]), str(keys["source_dir"]), str(keys["package_import_root"])
    )


def _git_root(project: PythonProject) -> Path:
    return find_git_root(project.root) or project.root


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _stub(path: Path) -> PlannedFile:
    return PlannedFile(path, "create", TEMPLATE.read_bytes())


def _ignore_file(project: PythonProject) -> PlannedFile:
    """`.beaker/.gitignore`: made, or completed where a line is missing that keeps secrets and run state out."""
    path = project.root / BEAKER_DIR / ".gitignore"
    exists = path.exists()
    content = completed_ignores(_content(path) if exists else None)
    if content is None:
        return PlannedFile(path, "skip")
    return PlannedFile(path, "update" if exists else "create", content)
