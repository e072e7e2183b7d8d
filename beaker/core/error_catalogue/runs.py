"""What the codes BK5xx mean: runs: workers, rollouts, scoring, proposals, search."""

ENTRIES = {
    "BK501": (
        "A stored candidate cannot be read.",
        "Start a new run; report it if nothing touched the state.",
    ),
    "BK531": (
        "After a restart, the project prepared something else than what the run began with.",
        "Make `prepare_run` and `load_cases` give the same for the same rows, and start a new run.",
    ),
    "BK532": (
        "The split to be evaluated has no case.",
        "Name the other split, or add rows.",
    ),
    "BK533": (
        "The candidate has documents of other groups than the Integration declares.",
        "Evaluate it with the Integration that made it.",
    ),
    "BK540": (
        "`max_rollouts` is too small for the smallest possible run.",
        "Set it to the number that is named, or more, or use fewer cases.",
    ),
    "BK541": (
        "A setting of the search is out of its range.",
        "Correct it; docs/optimization.md lists the ranges.",
    ),
    "BK542": (
        "A split of the search has no case, or a case id stands twice.",
        "Correct the dataset or its ids.",
    ),
    "BK545": (
        "Another version of the search wrote this run's log.",
        "Finish the run with the Beaker that started it, or start a new one.",
    ),
    "BK546": (
        "The log of a search is damaged.",
        "Start a new run; report it if nothing touched the state.",
    ),
    "BK550": (
        "A hook of the project took longer than its limit.",
        "Make it faster, or raise its limit in `timeouts`.",
    ),
    "BK551": (
        "A process of the project ended unexpectedly: killed, out of memory, crashed, or it ended itself.",
        "Read its last output; look for exits, native crashes and memory.",
    ),
    "BK552": (
        "A process of the project wrote something into the pipe that belongs to Beaker.",
        "Print to standard output or standard error only; close no file descriptors that the code did not open.",
    ),
    "BK553": (
        "The code of the baseline cannot be read.",
        "Check the files and their permissions.",
    ),
    "BK554": (
        "The code of the baseline changed while the run used it, so its scores cannot be trusted.",
        "Find what writes into its checkout; write into the scratch folder instead.",
    ),
    "BK555": (
        "Files of cases changed while the run used them.",
        "Leave them alone until the run has ended.",
    ),
    "BK556": (
        "A judge gave a verdict that is none of those it was to choose from.",
        "Ask for one of the words that are listed.",
    ),
    "BK557": (
        "`isolation: sandbox` was asked for, and this machine cannot confine processes, or was seen not to.",
        "Use a Linux that has what the message names, or `isolation: process`.",
    ),
    "BK560": (
        "The model's answer holds no edit that can be read. It is told so and asked again.",
        "If it happens often, use another model or a longer limit of output.",
    ),
    "BK561": (
        "The endpoint of the model does not answer as one.",
        "Check `base_url` of `reflection`.",
    ),
    "BK562": (
        "The model's endpoint gave no usable answer.",
        "Check its address, its key, and its limits.",
    ),
    "BK563": (
        "No prompt is short enough for the model.",
        "Use a model with a larger context, or smaller targets.",
    ),
    "BK564": (
        "The engine that was named is not installed, or cannot be made.",
        "Install the package that registers it, or read its error.",
    ),
}
