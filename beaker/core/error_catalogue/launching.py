"""What the codes BK4xx mean: launching and the gates of the service."""

ENTRIES = {
    "BK401": (
        "A run cannot be cancelled, resumed or debugged in the state that it is in.",
        "`beaker run status RUN` says what it is.",
    ),
    "BK402": (
        "A launch setting is not known, or is given in two spellings.",
        "Correct its name; docs/optimization.md lists all settings.",
    ),
    "BK403": (
        "A launch names a judge in its settings, where none can be named.",
        "Name it as `scorer_model` of the integration.",
    ),
    "BK404": (
        "The dataset of a launch is selected twice, or not in a way that can be read.",
        "Select one, with --dataset or --dataset-id.",
    ),
    "BK405": (
        "No dataset is selected.",
        "Pass --dataset NAME, or set `dataset_ref` in `config_defaults`.",
    ),
    "BK406": (
        "A model of a launch cannot be used as it is given.",
        "Write PROVIDER:MODEL; `beaker model list` lists what there is.",
    ),
    "BK407": (
        "The ref of a launch is none that the service can fetch: blank, detached, or not pushed.",
        "Push the branch, or name another with --ref.",
    ),
    "BK408": (
        "A launch asks for --allow-dirty where it cannot be had: only this machine has what is not committed.",
        "Commit and push, or run with --local.",
    ),
    "BK409": (
        "An option of the Spec generation does not fit the project, the place, or the other options.",
        "Follow the hint; docs/generations.md has a row per option.",
    ),
    "BK410": (
        "A setting of the optimization is not valid, or names something that is not installed.",
        "Correct it; docs/optimization.md lists every setting with its range.",
    ),
    "BK411": (
        "The service has no such dataset.",
        "`beaker dataset list` shows what it has.",
    ),
    "BK412": (
        "The dataset cannot be used by a run yet.",
        "Finish its upload, or upload one with rows in both splits.",
    ),
    "BK413": (
        "The service has no such model, or the organization has no key for its provider.",
        "`beaker model list` lists what runs can use.",
    ),
    "BK450": (
        "A request has a parameter or a key that the API refuses.",
        "Correct what is named; docs/api.md lists all.",
    ),
    "BK451": (
        "The API has no such route, or not with this method.",
        "Check the base URL; docs/api.md lists all routes.",
    ),
    "BK452": (
        "This place does not offer what was asked for.",
        "Use a place that does, as the hint says.",
    ),
    "BK453": (
        "There is no such thing at this place.",
        "Check the id; the matching `list` command shows what there is.",
    ),
    "BK454": (
        "The idempotency key stands for another launch.",
        "Use a new key for a new launch.",
    ),
    "BK455": (
        "There is no such dataset, or no such revision of it.",
        "`beaker dataset list` shows what there is.",
    ),
    "BK456": (
        "A setting of the launch is refused by the service.",
        "Correct the setting that is named.",
    ),
    "BK457": (
        "A row of an upload is not what its split promises; the files are kept.",
        "Correct the row that is named, and upload again: only what changed is sent.",
    ),
    "BK458": (
        "A variable that the run, its proposer or its model needs is not set.",
        "Set it in the environment, in .beaker/.env, or with `beaker agent env set`.",
    ),
    "BK461": (
        "Files differ from what is committed, and a run takes its code from a commit.",
        "Commit them, or launch with --allow-dirty to run them as they are.",
    ),
    "BK462": (
        "The file of the TEST split lies in what proposers can read, so the result would prove nothing.",
        "Move it out of the repository, or ignore it with .gitignore.",
    ),
    "BK463": (
        "The configuration names no integration to run.",
        "`beaker init` makes one.",
    ),
    "BK464": (
        "`dataset_ref` and `dataset_id` each name a dataset.",
        "Keep one of them.",
    ),
    "BK465": (
        "Runs on this machine take no input artifacts.",
        "Leave them out.",
    ),
    "BK466": (
        "The place runs another repository or configuration than the one that was named.",
        "Name the one that it runs, or use another place.",
    ),
    "BK467": (
        "A file changed while it was uploaded.",
        "Upload it again.",
    ),
    "BK468": (
        "An upload was completed before all files had arrived, or is complete already.",
        "Send what is missing.",
    ),
    "BK469": (
        "The time for an upload is over.",
        "Upload again; what has arrived is not sent twice.",
    ),
    "BK471": (
        "A newer Beaker wrote the state of local runs.",
        "Use that version, or another folder (BEAKER_LOCAL_DIR).",
    ),
    "BK472": (
        "The disk that holds Beaker's state is full or cannot be written.",
        "Free some space, then repeat.",
    ),
    "BK473": (
        "Beaker's state is busy with another process.",
        "Try again.",
    ),
    "BK474": (
        "Beaker's state cannot be used.",
        "Check its folder; BEAKER_LOCAL_DIR names another one.",
    ),
    "BK475": (
        "Stored content is missing or damaged.",
        "Upload it again.",
    ),
    "BK476": (
        "The commit holds a path that Git would not check out.",
        "Correct the commit.",
    ),
    "BK477": (
        "A stored evaluation cannot be read.",
        "Start a new run; report it if nothing touched the state.",
    ),
    "BK478": (
        "A submodule is an empty folder in a run. This is a warning.",
        "Put what is needed into the repository.",
    ),
    "BK479": (
        "`max_rollouts` is too small for the cases of the dataset. This is a warning.",
        "Raise it to the number that is named, or more.",
    ),
    "BK480": (
        "The command of a proposer does not look right. This is a warning.",
        "Correct it; docs/proposers.md lists the placeholders.",
    ),
    "BK481": (
        "Files that are neither committed nor ignored are not part of the run. This is a warning.",
        "`git add` what the code needs; list the rest in .gitignore.",
    ),
    "BK482": (
        "A file with variables, .beaker/.env, is tracked by Git: its values are in every clone. This is a warning.",
        "Take it out of Git (`git rm --cached`), list it in .gitignore, and replace the values that were in it.",
    ),
    "BK483": (
        "A tracked link leads out of the repository.",
        "Put the file itself into the repository.",
    ),
    "BK484": (
        "A declared target is a link, or the commit has nothing there. This is a warning.",
        "Declare the path that it leads to, and commit it.",
    ),
    "BK485": (
        "Secrets are sent to another machine unencrypted. This is a warning.",
        "Use https, or a network that you trust.",
    ),
    "BK486": (
        "A split has so few rows that a winner can hardly be told from luck. This is a warning.",
        "Add rows to the split that is named.",
    ),
    "BK487": (
        "The code does not belong to what this agent optimizes, so no run was created.",
        "Give the integration or Spec its earlier name back, or use another agent.",
    ),
    "BK488": (
        "Setting up failed at the service, so no run was created.",
        "Launch it again.",
    ),
    "BK489": (
        "There is an agent with this key already.",
        "Choose another name.",
    ),
    "BK490": (
        "The service asks for its token, and another one was sent.",
        "Set BEAKER_API_KEY to the content of its token file.",
    ),
    "BK491": (
        "A request came too slowly or was too large, so the service gave it up.",
        "Send it again, in smaller parts.",
    ),
    "BK492": (
        "A download address has expired.",
        "Ask for a new one by running the command again.",
    ),
    "BK493": (
        "The request was meant for another host than this service answers for.",
        "Use an address that it knows; `beaker serve --public-url` names one.",
    ),
    "BK494": (
        "A pull request cannot be opened for this candidate.",
        "Only the winner of a run gets one; `beaker candidate branch` needs none.",
    ),
}
