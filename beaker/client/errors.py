"""The error that the public clients raise."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beaker.core.problems import Problem, Problems


class BeakerClientError(RuntimeError):
    """A call that did not succeed.

    `status_code` is the HTTP status, 0 when there is none: no answer, an answer that cannot be used, or a call that
    this side refused. `body` is the whole answer as text, or why there is none. `detail` is what the service says in
    it, decoded; `request_id` is what the service calls the request, for a report to whoever runs it, else empty.
    """

    def __init__(self, status_code: int, body: str, detail: Any = None, request_id: str = "", hint: str = "") -> None:
        super().__init__(status_code, body, detail, request_id, hint)
        self.status_code = status_code
        self.body = body
        self.detail = detail
        self.request_id = request_id
        self.hint = hint

    def __str__(self) -> str:
        from beaker.core.responses import said, words_in
        from beaker.core.text import visible

        status = f"HTTP {self.status_code}" if self.status_code else "no HTTP status (0)"
        words = "; ".join(filter(None, (said(self.detail) or words_in(self.body.strip()), self.hint)))
        request = f" (request {self.request_id})" if self.request_id else ""
        return visible(f"{status}: {words}{request}")


ARGUMENT_CODES = ("BK2", "BK4", "BK801", "BK802", "BK815", "BK816", "BK902")
"""What the codes of problems of arguments begin with, and of files that were named in them."""

FILE_CODE = "BK701"
"""The code of a file that could not be read or written."""


def client_error(problem: "Problem") -> Exception:
    """What a problem is raised as: `ValueError` for an argument, `OSError` for a file of this machine,
    `BeakerClientError` for anything else."""
    from beaker.core.responses import ApiProblem

    told = f"{problem}; {problem.hint}" if problem.hint else str(problem)
    if isinstance(problem, ApiProblem):
        if problem.status:
            return BeakerClientError(problem.status, problem.body, problem.detail, problem.request_id, problem.hint)
        return BeakerClientError(0, told, request_id=problem.request_id)
    if problem.code.startswith(ARGUMENT_CODES):
        return ValueError(told)
    return OSError(told) if problem.code == FILE_CODE else BeakerClientError(0, told)


def client_errors(problems: "Problems") -> Exception:
    """What several problems are raised as: one `ValueError` with all of them when all are of arguments, else what the
    first other one is."""
    from beaker.core.responses import ApiProblem

    for problem in problems:
        if isinstance(problem, ApiProblem) or not problem.code.startswith(ARGUMENT_CODES):
            return client_error(problem)
    return ValueError(
        "; ".join(f"{problem} ({problem.hint})" if problem.hint else str(problem) for problem in problems)
    )
