"""What Integrations of the generations 0.5 to 0.6.4 were written with. It works as it did; each use of it warns once.

`docs/generations.md` tells what became of each.
"""

import inspect
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Generic

from beaker.core.documents import DocumentChangeSet
from beaker.core.targets import DocumentTargets, OptimizationTarget, RepositoryTargets
from beaker.core.values import value
from beaker.sdk.callables import ANY, Gives, binding_fault, gives
from beaker.sdk.earlier_warnings import is_beaker, warn_at, warn_at_function, warn_caller
from beaker.sdk.runtimes import CandidateT, SetupRuntime
from beaker.sdk.setups import DocumentRunSetupResult, RepositoryRunSetupResult, RowT, RunSetup

ChangeSet = DocumentChangeSet
"""The change set of the time when there was one target, so it named no `groups`; they are empty then."""


class RepositoryRunSetup(RunSetup[RowT]):
    """The setup of an Integration whose one target is the repository. `prepare_run` may yield its result as it is."""

    def prepare_run(self, *, runtime: SetupRuntime) -> AbstractAsyncContextManager[Any]:
        """Yields a `RepositoryRunSetupResult`; may be overridden."""
        return _nothing_to_prepare()


class DocumentRunSetup(RunSetup[RowT], Generic[RowT, CandidateT]):
    """The setup of an Integration with one target of documents. `prepare_run` must be overridden and may yield its
    `DocumentRunSetupResult` as it is.
    """

    def open_candidate(self, *, targets_dir: Path | None, scratch_dir: Path) -> AbstractAsyncContextManager[Any]:
        """May be overridden with what `beaker.OpenCandidate` says; called on an instance of the rollout process."""
        return _nothing_to_open()


@asynccontextmanager
async def _nothing_to_prepare() -> AsyncIterator[RepositoryRunSetupResult]:
    yield RepositoryRunSetupResult()


@asynccontextmanager
async def _nothing_to_open() -> AsyncIterator[None]:
    yield None


_NAMES: dict[str, tuple[Any, str]] = {
    "ChangeSet": (ChangeSet, "import DocumentChangeSet instead, which is the same class"),
    "DocumentRunSetup": (DocumentRunSetup, "derive from RunSetup[Row] instead"),
    "RepositoryRunSetup": (RepositoryRunSetup, "derive from RunSetup[Row] instead"),
}


def earlier_name(name: str) -> Any:
    """What a name of an earlier generation stands for; warns the customer who asks."""
    found, change = _NAMES[name]
    warn_caller(f"{name} is deprecated since 0.6.5: {change}")
    return found


def target_faults(setup: type[RunSetup[Any]], targets: Sequence[OptimizationTarget]) -> Iterator[TypeError]:
    """Faults of a setup whose base says which one target there must be."""
    kinds: tuple[tuple[type, type, str], ...] = (
        (RepositoryRunSetup, RepositoryTargets, "one repository target"),
        (DocumentRunSetup, DocumentTargets, "one target of documents"),
    )
    for base, kind, words in kinds:
        if issubclass(setup, base) and targets and [type(target) for target in targets] != [kind]:
            said = f"{setup.__name__} is a {base.__name__}, which is for {words}"
            yield TypeError(f"{said}; for other targets derive from RunSetup")


@value
class SetupOpener:
    """`open_candidate` of a setup class as the hook it is now, called on an instance made for it."""

    setup: type[RunSetup[Any]]

    def __call__(self, *, targets_dir: Path | None, scratch_dir: Path) -> AbstractAsyncContextManager[Any]:
        opened: AbstractAsyncContextManager[Any]
        opened = self.setup().open_candidate(  # type: ignore[attr-defined]  # setup_opener found it
            targets_dir=targets_dir, scratch_dir=scratch_dir
        )
        return opened

    def warn(self) -> None:
        """Warn where the method is defined."""
        change = "make it a function beside run_case and pass it as Integration(..., open_candidate=open_candidate)"
        message = f"open_candidate on the setup class is deprecated since 0.6.5: {change}"
        warn_at_function(message, self.setup.open_candidate)  # type: ignore[attr-defined]  # setup_opener found it


def setup_opener(setup: type[RunSetup[Any]]) -> SetupOpener | None:
    """The `open_candidate` that a setup class defines, if it does.

    Any of a `DocumentRunSetup` is one. A `RunSetup` may have a method of that name for purposes of its own: it is one
    only when it can be called as one.
    """
    hook = getattr(setup, "open_candidate", None)
    if hook is None or hook is DocumentRunSetup.open_candidate:
        return None
    if not issubclass(setup, DocumentRunSetup) and (opener_fault(setup) or gives(hook) is not Gives.UNKNOWN):
        return None
    return SetupOpener(setup)


def opener_fault(setup: type[RunSetup[Any]]) -> Exception | None:
    """Why `open_candidate` of a setup class cannot be called on an instance; `None` when it can."""
    plain = inspect.getattr_static(setup, "open_candidate")
    instance = () if isinstance(plain, staticmethod | classmethod) else (ANY,)
    hook = setup.open_candidate  # type: ignore[attr-defined]  # looked up a line above
    return binding_fault(hook, *instance, targets_dir=ANY, scratch_dir=ANY)


_KINDS: dict[type, str] = {RepositoryRunSetupResult: "repository", DocumentRunSetupResult: "documents"}


def named_results(results: Any, manager: Any, prepare_run: Any) -> Any:
    """What `prepare_run` yielded, a bare result as the mapping with its kind; anything else unchanged.

    `manager` is the context manager that was entered. A customer is warned at the `yield` of a bare
    result, or where `prepare_run` is defined when it is no generator.
    """
    if (kind := _KINDS.get(type(results))) is not None:
        message = (
            f"a bare result from prepare_run is deprecated since 0.6.5: "
            f"yield {{{kind!r}: {type(results).__name__}(...)}} instead"
        )
        frame = getattr(getattr(manager, "gen", None), "ag_frame", None)
        if frame is None:
            warn_at_function(message, prepare_run)
        elif not is_beaker(frame.f_code.co_filename):
            warn_at(message, frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
        return {kind: results}
    return results
