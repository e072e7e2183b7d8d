"""What it means when a hosted API refuses a launch because setting up the code failed: no run, and what to do."""

from beaker.core.problems import Problem, Problems
from beaker.core.responses import ApiProblem

_BUILD_KEYS = ("integration_build_id", "spec_version_id")
"""What the build that failed is called, by generation."""

_MEANINGS = {
    "OPTIMIZATION_PLAYBOOK_CONFIGURATION_FAILED": (
        "BK487",
        "the code does not belong to what this agent optimizes, so no run was created",
        "give the integration (or Spec) the name back that it had, or use another agent",
    ),
    "OPTIMIZATION_PLAYBOOK_GENERATION_FAILED": (
        "BK488",
        "setting up failed at the service, so no run was created",
        "launch it again",
    ),
}


def launch_outcome_unknown(problem: Problem) -> bool:
    """Whether a launch that failed so may have started a run all the same: no answer, or a service that broke."""
    return isinstance(problem, ApiProblem) and (problem.status == 0 or problem.status >= 500)


def key_text(key: str) -> str:
    """The key of a launch that failed, in words."""
    return f"idempotency key of this launch: {key}"


def with_key(problems: Problems, key: str) -> Problems:
    """Why a launch failed, the key of the launch behind the first hint: for whoever reads nothing but problems."""
    first, *others = problems
    hint = "\n".join(filter(None, (first.hint, key_text(key))))
    return Problem(first.code, first.message, first.where, hint), *others


def unknown_outcome(problem: Problem, key: str) -> Problem:
    """`problem`, saying that the launch can be repeated with its idempotency `key` whatever became of it."""
    hint = f"whether a run was started is unknown; repeat safely with --idempotency-key {key}"
    return Problem(problem.code, problem.message, problem.where, hint)


def explained_refusal(problem: Problem) -> Problem:
    """The refusal of a launch in words (BK487, BK488), when it is one of these; `problem` itself when it is another.

    Any generation's name for the build that failed is shown.
    """
    detail = problem.detail if isinstance(problem, ApiProblem) and problem.status == 409 else None
    if not isinstance(detail, dict) or (code := str(detail.get("code"))) not in _MEANINGS:
        return problem
    number, message, hint = _MEANINGS[code]
    build = next((detail[key] for key in _BUILD_KEYS if isinstance(detail.get(key), str)), "unknown")
    return Problem(number, f"{message} (build {build})", hint=hint)
