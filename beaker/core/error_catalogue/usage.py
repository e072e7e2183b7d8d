"""What the codes BK9xx mean: usage of the command line."""

ENTRIES = {
    "BK900": (
        "The command line is none that Beaker understands.",
        "Read its usage; `--help` after a command explains every option.",
    ),
    "BK901": (
        "An option or command of another generation or edition is refused here.",
        "Do what the reason says instead.",
    ),
    "BK902": (
        "An id cannot be one.",
        "Copy it in full; `--wide` shows ids in full.",
    ),
    "BK904": (
        "An option has no use at this place or beside the others.",
        "Leave it out, or choose the other place.",
    ),
    "BK905": (
        "An argument is missing, blank, or given twice.",
        "Give exactly one value.",
    ),
    "BK906": (
        "The value of --config is no JSON object.",
        "Pass one JSON object, quoted for the shell.",
    ),
    "BK907": (
        "The dataset was uploaded, and no run can use it as it is. This is a warning.",
        "Add rows to the split that is named.",
    ),
    "BK908": (
        "The run has no winner.",
        "Name a candidate as RUN.N; `beaker run candidates RUN` lists them.",
    ),
    "BK909": (
        "The candidate changes nothing in the repository, so there is nothing for a branch.",
        "Fetch its change sets with `beaker candidate download`.",
    ),
    "BK910": (
        "What was to be explained is no code of a problem.",
        "A code reads BK and three digits; `beaker explain` lists all of them.",
    ),
    "BK911": (
        "There is no guide for coding agents of that name.",
        "`beaker skills list` names all of them.",
    ),
    "BK946": (
        "An argument holds bytes that are no text.",
        "Give names and ids in UTF-8.",
    ),
    "BK947": (
        "Standard output could not be written.",
        "Look at what takes it: a full disk, say.",
    ),
    "BK949": (
        "An error inside Beaker.",
        "Run it again with --verbose for the traceback, and report it.",
    ),
}
