"""What is worth saying about a launch that goes ahead: likely mistakes, none of which is sure enough to refuse it."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from returns.pipeline import is_successful

from beaker.core.certainty import FEW
from beaker.core.config_entry import IntegrationEntry
from beaker.core.documents import directories_of
from beaker.core.optimizer import LaunchSettings
from beaker.core.problems import Problem
from beaker.core.proposer_command import CommandWorld, command_warnings
from beaker.core.reflection.settings import is_loopback
from beaker.core.repository_tree import inside_targets, target_paths
from beaker.core.search import SearchSettings, minimum_rollouts
from beaker.core.search.split import SHARED_BELOW
from beaker.core.targets import parse_declaration
from beaker.core.wording import counted
from beaker.files.git import EXECUTABLE_MODE, FILE_MODE, LINK_MODE, SUBMODULE_MODE
from beaker.service.ports import Ports
from beaker.service.sources import SourceFile

SHOWN_FILES = 20
"""Files that one problem names; the rest is counted."""

_OPTIMIZER = "config.harness_optimization"
_MODES = {FILE_MODE: False, EXECUTABLE_MODE: True}
_EXAMPLES = (".example", ".sample", ".template", ".dist")


def settings_warnings(
    ports: Ports, settings: LaunchSettings, files: Iterable[SourceFile], rows: Mapping[str, int]
) -> Iterator[Problem]:
    """What is doubtful about the settings: a command that cannot start (BK480), a budget that is too small (BK479), a
    model that is asked in the clear (BK485), splits that are too small to say much (BK486)."""
    tracked = {one.path: one for one in files}
    world = CommandWorld(
        files={path: _MODES.get(one.mode) for path, one in tracked.items()},
        first_bytes=lambda path: ports.blobs.read(tracked[path].sha256)[:8],
        program=ports.program,
    )
    yield from command_warnings(settings.optimizer.command, world, where=f"{_OPTIMIZER}.command")
    yield from _in_the_clear(settings)
    yield from _budget(settings, rows)
    yield from _small_splits(rows)


def source_warnings(ports: Ports, entry: IntegrationEntry, files: Iterable[SourceFile]) -> Iterator[Problem]:
    """What is doubtful about the commit: submodules (BK478), code that is not tracked (BK481), tracked secrets
    (BK482), declared repository paths that hold nothing to edit (BK484)."""
    yield from _untracked(ports, entry)
    tracked = tuple(files)
    yield from _targets(entry, tracked)
    for one in tracked:
        path = PurePosixPath(one.path)
        if one.mode == SUBMODULE_MODE:
            yield Problem("BK478", "is a submodule: a run finds an empty folder there", one.path)
        elif path.parent.name == ".beaker" and path.name.startswith(".env") and path.suffix not in _EXAMPLES:
            hint = f"`git rm --cached {one.path}`, list it in .gitignore, and replace the values that were in it"
            message = "is tracked by Git: its values are in every clone, and every proposer can read them"
            yield Problem("BK482", message, one.path, hint)


def listed(paths: tuple[str, ...]) -> str:
    """Paths for a message, the first twenty by name and the rest by count."""
    shown = ", ".join(paths[:SHOWN_FILES])
    return f"{shown} and {len(paths) - SHOWN_FILES} more" if len(paths) > SHOWN_FILES else shown


def _untracked(ports: Ports, entry: IntegrationEntry) -> Iterator[Problem]:
    found = ports.repository.untracked(entry.source_dir)
    if not is_successful(found):
        return  # that Git answers nothing here has been said by the gates
    paths = tuple(path for path in found.unwrap() if "__pycache__" not in path.split("/") and not _is_dotenv(path))
    if paths:
        one = len(paths) == 1
        what = f"{len(paths)} {'file is' if one else 'files are'} not tracked by Git, so the run does not have"
        hint = "commit what your code needs (`git add`, `git commit`), list the rest in .gitignore"
        where = "" if entry.source_dir == "." else entry.source_dir
        yield Problem("BK481", f"{what} {'it' if one else 'them'}: {listed(paths)}", where, hint)


def _targets(entry: IntegrationEntry, files: Iterable[SourceFile]) -> Iterator[Problem]:
    declared = parse_declaration(entry.targets) if entry.targets is not None else None
    if declared is None or not is_successful(declared):
        return
    modes = {one.path: one.mode for one in files}
    for path in target_paths(declared.unwrap(), entry.source_dir):
        held = [name for name in modes if inside_targets(name, (path,))]
        links = [name for name in (path, *directories_of(path)) if modes.get(name) in (LINK_MODE, SUBMODULE_MODE)]
        if links:
            message = f"{links[0]} is a link or submodule of the commit, which candidates keep as it is"
            yield Problem("BK484", message, path, "declare the path that it leads to")
        elif not held:
            hint = "a candidate may create it; paths count from source_dir, and capitals matter"
            yield Problem("BK484", "the commit has nothing at this declared path", path, hint)


def _is_dotenv(path: str) -> bool:
    return path == ".beaker/.env" or path.endswith("/.beaker/.env")


def _in_the_clear(settings: LaunchSettings) -> Iterator[Problem]:
    reflection = settings.optimizer.reflection
    if reflection is None or not reflection.base_url.startswith("http:") or is_loopback(reflection.base_url):
        return
    told = "prompts and the key are" if reflection.api_key_env else "prompts, with TRAIN cases in them, are"
    where = f"{_OPTIMIZER}.reflection.base_url"
    yield Problem("BK485", f"{told} sent to another machine unencrypted", where, "use https, or a network you trust")


def _budget(settings: LaunchSettings, rows: Mapping[str, int]) -> Iterator[Problem]:
    optimizer = settings.optimizer
    if optimizer.max_rollouts is None:
        return
    search = SearchSettings(
        max_rollouts=optimizer.max_rollouts,
        minibatch_size=optimizer.minibatch_size,
        selection_fraction=optimizer.selection_fraction,
        test_baseline=settings.test_baseline,
    )
    minimum = minimum_rollouts(rows.get("train", 0), rows.get("test", 0), search)
    if optimizer.max_rollouts < minimum:
        message = f"{optimizer.max_rollouts} rollouts are too few for one case per row, which needs {minimum}"
        hint = "the run ends at once unless its rows make fewer cases; raise max_rollouts"
        yield Problem("BK479", message, f"{_OPTIMIZER}.max_rollouts", hint)


def _small_splits(rows: Mapping[str, int]) -> Iterator[Problem]:
    """Splits whose cases will hardly tell anything, judged by their rows: how many cases these make shows later."""
    train, test = rows.get("train", 0), rows.get("test", 0)
    hint = "unless its rows make more cases, "
    if test < FEW:
        message = f"TEST has {counted(test, 'row')}: fewer than {FEW} pairs are too few to tell a winner from luck"
        yield Problem("BK486", message, "dataset", f"{hint}the result is a hint, no proof; add rows to TEST")
    if train < SHARED_BELOW:
        message = f"TRAIN has {counted(train, 'row')}: below {SHARED_BELOW} cases a proposer sees those that select"
        yield Problem("BK486", message, "dataset", f"{hint}scores on TRAIN flatter; add rows to TRAIN")
