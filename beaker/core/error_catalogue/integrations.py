"""What the codes BK3xx mean: integrations: import, declaration, setup, smoke."""

ENTRIES = {
    "BK300": (
        "`source_dir` or `package_import_root` leads out of the repository.",
        "Name a folder inside it, without links that leave it.",
    ),
    "BK301": (
        "`source_dir` or `package_import_root` is no folder.",
        "Check the path; it counts from the Git root.",
    ),
    "BK302": (
        "The module that the entrypoint names cannot be imported.",
        "Read the error of the module below it. What it imports must be installed in the interpreter that is named.",
    ),
    "BK303": (
        "The entry point's package is called like Beaker's own.",
        "Rename the project's package.",
    ),
    "BK304": (
        "Modules were loaded from another checkout of the repository than the one that is judged.",
        "Import by name, and compute paths that are added to sys.path from `__file__`.",
    ),
    "BK305": (
        "A module came from an installed copy instead of the checkout, so edits of candidates would have no effect.",
        "Uninstall the copy, install it as editable, or set `source_dir`.",
    ),
    "BK306": (
        "The environment that was named, is active or lies in the project has no interpreter, or is not yours.",
        "Make it anew with the command that is shown, or name the interpreter that you mean with `--python`.",
    ),
    "BK307": (
        "The project's interpreter is another Python than the one that runs Beaker.",
        "Make an environment of the same version with the command that is shown, or start Beaker from the other one.",
    ),
    "BK308": (
        "The project's interpreter has no Beaker, or lacks what Beaker needs; nothing is lent to it from elsewhere.",
        "Install it there with the command that is shown, from an index or from a folder of wheels.",
    ),
    "BK309": (
        "The project's interpreter has another release of Beaker than the one that was started.",
        "Install the same release there with the command that is shown.",
    ),
    "BK310": (
        "The declared targets are not valid.",
        "Correct `targets`; docs/configuration.md shows the form.",
    ),
    "BK311": (
        "The targets of the configuration and those of the Integration differ.",
        "Make them equal, or leave `targets` out of the configuration.",
    ),
    "BK312": (
        "The project's interpreter does not start, or does not say in time what it is.",
        "Make the environment anew, or name another interpreter with `--python`.",
    ),
    "BK320": (
        "The Integration is declared wrongly: a hook is missing, takes other arguments, or is of another kind.",
        "Correct what is named; docs/writing-an-integration.md lists every hook.",
    ),
    "BK330": (
        "Constructing the setup failed.",
        "Read the traceback; the constructor must take no arguments.",
    ),
    "BK331": (
        "A hook that must be an asynchronous context manager is none.",
        "Write `async def` with one `yield`, decorated with contextlib.asynccontextmanager.",
    ),
    "BK332": (
        "`prepare_run` raised an error.",
        "Read the traceback at the place that is named.",
    ),
    "BK333": (
        "`prepare_run` yielded something that does not fit the targets of the Integration.",
        "Yield what docs/writing-an-integration.md says for these targets.",
    ),
    "BK334": (
        "Leaving a context manager of the project raised an error, after its work was done.",
        "Correct what follows its `yield`.",
    ),
    "BK336": (
        "`load_cases` is no asynchronous generator.",
        "Write `async def load_cases` and `yield` each case.",
    ),
    "BK337": (
        "`load_cases` raised an error for a row.",
        "Read the traceback; the row is named.",
    ),
    "BK338": (
        "`load_cases` yielded something that is no Case.",
        "Write `yield Case(id=..., input=..., expected=...)`.",
    ),
    "BK339": (
        "A file of a case cannot be taken: its name, its size or its kind.",
        "Keep to the limit that is named with its count; a folder can be one CaseFile.",
    ),
    "BK340": (
        "Two cases have one id.",
        "Make ids from something that differs in every row.",
    ),
    "BK341": (
        "A case was changed after it was made.",
        "Change nothing in a case that was yielded.",
    ),
    "BK342": (
        "What the setup of a run is given about its dataset is not valid.",
        "Correct the name or the metadata of the dataset.",
    ),
    "BK343": (
        "The folder for files of cases cannot be made.",
        "Check the permissions and the space of the folder that is named.",
    ),
    "BK344": (
        "The seed documents together are too large.",
        "Give fewer or smaller documents.",
    ),
    "BK345": (
        "A folder for files was asked for a case that was never yielded.",
        "Yield a case of that id, or ask for the folder of one that is yielded.",
    ),
    "BK346": (
        "`load_cases` did not end after it was cancelled.",
        "Let CancelledError pass where it waits.",
    ),
    "BK347": (
        "`run smoke --strict` found hooks that only stand for something.",
        "Replace the placeholders that are listed.",
    ),
    "BK348": (
        "A split has no rows, or its rows give no case.",
        "A run needs cases in both splits: it learns on TRAIN and proves it on TEST.",
    ),
    "BK349": (
        "A case could not be run or scored.",
        "Read the error at the place that is named; `beaker run smoke --run-one --case ID` runs that case alone.",
    ),
    "BK350": (
        "The case recorded no call of a model, so tokens and money cannot be counted. This is a warning.",
        "Record calls with `runtime.trace.model_call`; docs/tracing.md shows how.",
    ),
    "BK351": (
        "The project uses a name of an earlier generation, which still works. This is a warning.",
        "Make the one-line change that is named; docs/generations.md lists all of them.",
    ),
    "BK352": (
        "No case has an id that `--case` named.",
        "Name ids as `load_cases` gives them; near ones are proposed. With `--limit` only the first rows give cases.",
    ),
    "BK353": (
        "The code asks models with a known framework, and records none of the calls. This is a warning.",
        "`beaker trace instrument` says what to write where; docs/tracing.md explains it.",
    ),
}
