"""Which endpoints of the API each command calls, by name, in order; nothing else may be called by it."""

from collections.abc import Mapping

COMMAND_ENDPOINTS: Mapping[str, tuple[str, ...]] = {
    "run smoke": (),
    "run trigger": ("get_current_agent", "create_optimization_run", "get_optimization_run"),
    "run status": ("get_optimization_run",),
    "run list": ("list_optimization_runs",),
    "run cancel": ("cancel_optimization_run",),
    "run pull": ("get_optimization_run", "list_candidates", "list_eval_reports", "create_candidate_download"),
    "run candidates": ("list_candidates",),
    "candidate show": (
        "list_candidates",
        "get_optimization_candidate",
        "list_eval_reports_for_candidate",
        "create_candidate_download",
    ),
    "candidate download": (
        "list_candidates",
        "create_candidate_download",
    ),
    "candidate branch": ("list_candidates", "get_optimization_run", "create_candidate_download"),
    "run eval": (
        "list_candidates",
        "get_optimization_candidate",
        "get_optimization_run",
        "create_candidate_download",
        "resolve_dataset",
        "get_dataset_download_urls",
    ),
    "run report": ("get_optimization_run", "list_candidates", "list_eval_reports", "create_candidate_download"),
    "dataset upload": ("create_dataset_upload", "complete_dataset_upload"),
    "dataset list": ("list_datasets",),
    "dataset show": ("resolve_dataset",),
    "dataset promote": ("list_datasets", "promote_dataset"),
    "changes show": (),
    "changes apply": (),
    "changes revert": (),
    "serve": (),
    "init": (),
    "completion": (),
}
"""`run trigger` looks at the run only with --watch, `candidate show` at files only with --diff; `demo` runs the other
commands and calls nothing itself."""
