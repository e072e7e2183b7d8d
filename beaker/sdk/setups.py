"""The setup of a run: the class a customer subclasses, what its `prepare_run` yields, and the rules for that."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

import attrs

from beaker.core.cases import Case
from beaker.core.documents import TargetDocument
from beaker.core.fields import labelled, tuple_of
from beaker.core.strict_json import json_object
from beaker.core.targets import DocumentTargets, OptimizationTarget, RepositoryTargets, target_groups
from beaker.core.values import value
from beaker.sdk.runtimes import SetupRuntime

RowT = TypeVar("RowT")


def _documents(value: Any, label: str) -> tuple[TargetDocument, ...]:
    documents = tuple_of(TargetDocument)(value, label)
    if not documents:
        raise ValueError(f"{label} must hold at least one document")
    return documents


@value(kw_only=True)
class RepositoryRunSetupResult:
    """What `prepare_run` yields for a repository target. `metadata` is a JSON mapping."""

    metadata: Mapping[str, Any] = attrs.field(
        factory=dict, converter=labelled(json_object, "RepositoryRunSetupResult.metadata")
    )


@value(kw_only=True)
class DocumentRunSetupResult:
    """What `prepare_run` yields for the document targets.

    `target_documents` are the seeds of all of them, at least one document; each one's group says which target it
    belongs to. `metadata` is a JSON mapping.
    """

    target_documents: tuple[TargetDocument, ...] = attrs.field(
        converter=labelled(_documents, "DocumentRunSetupResult.target_documents")
    )
    metadata: Mapping[str, Any] = attrs.field(
        factory=dict, converter=labelled(json_object, "DocumentRunSetupResult.metadata")
    )

    if TYPE_CHECKING:

        def __init__(
            self, *, target_documents: Iterable[TargetDocument], metadata: Mapping[str, Any] = ...
        ) -> None: ...


RunSetupResults: TypeAlias = Mapping[
    Literal["repository", "documents"], RepositoryRunSetupResult | DocumentRunSetupResult
]
"""One result for each declared kind of target."""


@asynccontextmanager
async def _nothing_to_prepare() -> AsyncIterator[RunSetupResults]:
    yield {"repository": RepositoryRunSetupResult()}


class RunSetup(ABC, Generic[RowT]):
    """Turns dataset rows into cases, and holds open what they need meanwhile.

    Beaker makes one instance per attempt, without arguments. `row_model` says what a row is (a dataclass, an attrs
    class, a `TypedDict` or `dict`); every row of both splits is validated before anything else happens.
    """

    row_model: type[RowT]

    def prepare_run(self, *, runtime: SetupRuntime) -> AbstractAsyncContextManager[RunSetupResults]:
        """Return an asynchronous context manager that yields one result for each declared kind of target.

        It is entered before the first case is loaded and left when the run ends. Decorate an `async def` generator
        with `contextlib.asynccontextmanager`. Must be overridden when there are document targets: it yields their
        seeds.
        """
        return _nothing_to_prepare()

    @abstractmethod
    def load_cases(self, row: RowT, *, runtime: SetupRuntime) -> AsyncIterator[Case]:
        """The cases of one row, none or several: an asynchronous generator. Ids are unique over the whole run."""


def check_setup_results(
    results: object, targets: Sequence[OptimizationTarget]
) -> tuple[RepositoryRunSetupResult | None, DocumentRunSetupResult | None]:
    """The repository and the documents result of what `prepare_run` yielded, `None` for a kind that is not declared.

    Raises `TypeError` unless `results` is a mapping whose keys are exactly the declared kinds and whose values are
    exactly of the two result classes; `ValueError` for a seed in a group that no target declares. The rules of the
    document trees themselves are `core.documents`.
    """
    classes: dict[str, type[Any]] = {}
    if any(isinstance(target, RepositoryTargets) for target in targets):
        classes["repository"] = RepositoryRunSetupResult
    if any(isinstance(target, DocumentTargets) for target in targets):
        classes["documents"] = DocumentRunSetupResult
    expected = ", ".join(f"{kind!r}: {cls.__name__}(...)" for kind, cls in classes.items())
    if not isinstance(results, Mapping):
        raise TypeError(f"prepare_run must yield a mapping {{{expected}}}, not {type(results).__name__}")
    if set(results) != set(classes):
        found = ", ".join(sorted(map(repr, results))) or "no key"
        raise TypeError(f"prepare_run must yield exactly {{{expected}}}; it yielded {found}")
    for kind, cls in classes.items():
        if type(results[kind]) is not cls:
            raise TypeError(
                f"prepare_run must yield exactly a {cls.__name__} for {kind!r}, not {type(results[kind]).__name__}"
            )
    documents: DocumentRunSetupResult | None = results.get("documents")
    groups = target_groups(targets)
    for document in documents.target_documents if documents is not None else ():
        if document.group not in groups:
            raise ValueError(
                f"the seed {document.name!r} is in the group {document.group!r}, which no target declares "
                f"(declared: {', '.join(groups)})"
            )
    return results.get("repository"), documents
