"""Finding what a scaffold left to do: the marker `TODO(beaker)` in hooks, cases and seed documents."""

import inspect
from collections.abc import Iterable, Iterator

from beaker.core.documents import TargetDocument
from beaker.sdk.integration import Integration

MARKER = "TODO(beaker)"


def in_source(integration: Integration) -> Iterator[str]:
    """The hooks whose source text holds the marker; source that cannot be read is passed over."""
    for name in ("run_case", "score_case", "run_setup"):
        try:
            source = inspect.getsource(inspect.unwrap(getattr(integration, name)))
        except Exception:
            continue
        if MARKER in source:
            yield name if name != "run_setup" else f"the setup class {integration.run_setup.__name__}"


def in_documents(documents: Iterable[TargetDocument]) -> Iterator[str]:
    """The seed documents whose content holds the marker."""
    for document in documents:
        if MARKER in document.content:
            yield f"the seed document {document.group}/{document.name}"
