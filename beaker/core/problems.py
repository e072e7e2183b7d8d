"""What a decision says when it refuses: a frozen `Problem`, rendered in one place of the shell.

Codes are stable and grouped by subject:

| codes | subject |
|---|---|
| BK1xx | configuration, selection, keys, environment |
| BK2xx | datasets, splits, rows, manifests |
| BK3xx | integrations: import, declaration, setup, smoke |
| BK4xx | launching and the gates of the service |
| BK5xx | runs: workers, rollouts, scoring, proposals, search |
| BK6xx | documents, change sets, edits of the repository |
| BK7xx | this machine: files, Git, the embedded place |
| BK8xx | the API: transport, credentials, answers |
| BK9xx | usage of the command line |
"""

from collections.abc import Iterable

from beaker.core.values import value


@value
class Problem:
    """One reason why something was refused.

    `code` is stable (`BK104`); `message` says what is wrong; `where` says where (`file:line`, a JSON pointer, an
    option), empty when the message says it all; `hint` says what to do next, empty when there is nothing to add.
    A subclass carries data that a caller matches on.
    """

    code: str
    message: str
    where: str = ""
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


Problems = tuple[Problem, ...]
"""Every fault of one input, at least one, in the order of the input."""


class Refused(Exception):
    """Carries problems out of code that has to raise; a boundary turns it back into values."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: Problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("; ".join(map(str, self.problems)))
