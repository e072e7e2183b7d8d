"""A provider of evidence that looks for what was expected in the context that a case gave back."""

from collections.abc import Iterable, Mapping, Sequence

from beaker.core.context_search import context_texts, search_terms, snippets
from beaker.sdk.spec04.cases import FieldDiff
from beaker.sdk.spec04.results import Evidence, Trajectory


class ContextSearchEvidence:
    """Looks through `trajectory.context` for words of the expected value, ignoring case.

    `context_keys` says which of its keys count, by default all; `terms` maps fields to words that are looked for where
    the expected value has none of at least 3 characters.
    """

    def __init__(
        self, *, context_keys: Sequence[str] | None = None, terms: Mapping[str, Iterable[str]] | None = None
    ) -> None:
        self.context_keys = None if context_keys is None else tuple(context_keys)
        self.terms = {field: tuple(words) for field, words in (terms or {}).items()}

    def evidence_for(self, *, trajectory: Trajectory, diff: FieldDiff) -> list[Evidence]:
        """Up to 8 places, each a line (`MATCH:`) with its neighbours (`CONTEXT:`), and the key it is from."""
        terms = search_terms(diff.field, diff.expected, self.terms)
        found = snippets(context_texts(trajectory.context, self.context_keys), terms)
        return [Evidence(text, source, {"line_number": line}) for source, text, line in found]
