"""What the codes BK7xx mean: this machine: files, Git, the embedded place."""

ENTRIES = {
    "BK701": (
        "A file or folder could not be read or written.",
        "Check that it exists, its permissions, and the space on the disk.",
    ),
    "BK710": (
        "Git is needed and was not found.",
        "Install it, and see that it is on PATH.",
    ),
    "BK711": (
        "The folder is in no Git repository.",
        "Go to one, or make one with `git init`.",
    ),
    "BK712": (
        "Git knows no such commit, branch or tag, or nothing has been committed yet.",
        "Commit, or fetch it.",
    ),
    "BK713": (
        "Git failed, refuses the repository, or did not answer in time.",
        "Do what Git's own words say.",
    ),
    "BK714": (
        "A path is not in the commit, or is something else there.",
        "Commit it, or name another path.",
    ),
    "BK715": (
        "The name of a tracked file is not UTF-8.",
        "Rename the file.",
    ),
    "BK716": (
        "Git does not have all of the repository's content here.",
        "Fetch it: `git fetch --unshallow`, or a full clone.",
    ),
    "BK717": (
        "A merge is unresolved, so the checkout is no one state.",
        "Finish or abort the merge.",
    ),
    "BK718": (
        "A branch cannot be made: its name is no good or taken.",
        "Choose another name.",
    ),
    "BK719": (
        "A candidate's patch does not fit the commit.",
        "Use the commit that the run started from.",
    ),
    "BK720": (
        "There is no project here to work with locally.",
        "Go to a folder with .beaker/beaker.yaml in or above it.",
    ),
    "BK721": (
        "The folder for the demo is not empty.",
        "Name another one.",
    ),
    "BK722": (
        "The worker of a run ends again and again.",
        "Read its log, which is named.",
    ),
    "BK723": (
        "The demo stopped at one of its commands.",
        "Read what that command said.",
    ),
    "BK739": (
        "The folder for local runs is a link that leads out of the repository.",
        "Remove the link, or name the folder with BEAKER_LOCAL_DIR.",
    ),
    "BK740": (
        "The state of local runs cannot be kept where it should be.",
        "Choose another folder with BEAKER_LOCAL_DIR.",
    ),
    "BK741": (
        "A run waits: variables that it needs are not set, or its worker cannot start.",
        "Set them and repeat the command.",
    ),
    "BK742": (
        "Local runs do not work on Windows.",
        "Run Beaker inside WSL.",
    ),
    "BK743": (
        "The state of local runs was deleted while it was used.",
        "Start new runs; the old ones are gone.",
    ),
    "BK744": (
        "Another `beaker serve` serves this state.",
        "Use that one, or end it first.",
    ),
    "BK745": (
        "The token of a server is not good or not private.",
        "The file holds the token alone, readable by you alone.",
    ),
    "BK746": (
        "A server cannot listen at, or be reached by, the address that was given.",
        "Choose another --host, --port or --public-url.",
    ),
    "BK747": (
        "What serving needs is not installed.",
        "pip install 'beaker-sdk[serve]'",
    ),
    "BK748": (
        "The file that keeps values of agents on this machine is damaged.",
        "Restore it, or remove it and set the variables again.",
    ),
    "BK749": (
        "The folder has too many Python files to be looked at.",
        "Name a smaller one.",
    ),
    "BK750": (
        "A capture is not whole.",
        "Record what is named; docs/tracing.md explains each reason.",
    ),
    "BK751": (
        "There is no receipt of a capture at this path.",
        "Name the file or folder that a capture wrote.",
    ),
    "BK752": (
        "A receipt of a capture is no JSON object.",
        "Name a file that a capture wrote.",
    ),
    "BK753": (
        "Nothing in the code records the calls of models, so traces hold none and no cost is known.",
        "Do what `beaker trace instrument` names: an adapter, or `runtime.trace.model_call` around each call.",
    ),
    "BK760": (
        "A guide for coding agents that came with the package is damaged.",
        "Install Beaker anew.",
    ),
    "BK761": (
        "Where a guide for coding agents belongs lies a file that was changed, or that somebody else wrote.",
        "Compare the two (`beaker skills show`), then replace it with --force, or keep yours.",
    ),
    "BK762": (
        "Where a guide for coding agents belongs lies a link, a folder, or another thing that is no file.",
        "Move it away, or name another folder.",
    ),
}
