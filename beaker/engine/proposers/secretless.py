"""No candidate holds a secret: it is stored, shown and taken over into the project, where nobody takes secrets out."""

import asyncio
from collections.abc import Callable, Iterator

import attrs

from beaker.core.environment import REDACTED
from beaker.core.repository_tree import RepositoryFile
from beaker.core.values import value
from beaker.engine.candidates import CandidateTree, tree_files
from beaker.engine.judging import listed
from beaker.engine.proposal import Proposal, ProposalRequest, Proposer


@value
class SecretlessProposer:
    """`proposer`, whose children are no candidates when an edit brings in something that `redact` takes out of text.

    `file` gives a file of a candidate's repository: what the parent has is no edit.
    """

    proposer: Proposer
    redact: Callable[[str], str]
    file: Callable[[CandidateTree, str], RepositoryFile | None]

    async def propose(self, request: ProposalRequest) -> Proposal:
        """Ask `proposer`; see `beaker.engine.proposal.Proposer`."""
        made = await self.proposer.propose(request)
        if made.tree is None:
            return made
        if not (held := await asyncio.to_thread(self._holding, request.parent, made.tree)):
            return made
        message = f"{listed(held)}: holds the value of a variable that is kept secret"
        return attrs.evolve(made, outcome="invalid_tree", message=message, tree=None, changed=())  # type: ignore[misc]  # a value is an attrs class

    def _holding(self, parent: CandidateTree, child: CandidateTree) -> list[str]:
        """The files of `child` that hold more secrets than they did, without those in their names."""
        return [
            self.redact(path)
            for path, before, after in self._edits(parent, child)
            if self._secrets(path) or self._secrets(after) > self._secrets(before)
        ]

    def _secrets(self, text: str) -> int:
        """How many secrets a text holds."""
        cleaned = self.redact(text)
        return 0 if cleaned == text else max(1, cleaned.count(REDACTED) - text.count(REDACTED))

    def _edits(self, parent: CandidateTree, child: CandidateTree) -> Iterator[tuple[str, str, str]]:
        """Where an edited or new file is, what it held, and what it holds."""
        old = tree_files(parent)
        for (group, name), content in tree_files(child).items():
            if old.get((group, name)) != content:
                yield f"{group}/{name}", old.get((group, name), ""), content
        for path, file in child.repository.items():
            if file is not None and file != parent.repository.get(path):
                before = self.file(parent, path)
                yield path, "" if before is None else _text(before.content), _text(file.content)


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
