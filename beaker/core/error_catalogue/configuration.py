"""What the codes BK1xx mean: configuration, selection, keys, environment, accounts."""

ENTRIES = {
    "BK101": (
        "The configuration file cannot be read as YAML: a syntax error, another encoding than UTF-8, a "
        "repeated key, or a file that is far too large.",
        "Correct the line that is named; `beaker config check` reads the whole file again.",
    ),
    "BK102": (
        "A key of the configuration has a value that its schema refuses.",
        "Give it a value of the kind that is named; `beaker config check` lists every such key.",
    ),
    "BK103": (
        "An entry of the configuration lacks a key that it cannot do without, such as `entrypoint`.",
        "Add the key to the entry; `beaker init` writes complete entries.",
    ),
    "BK104": (
        "A number of the configuration is infinite or no number.",
        "Write a finite number.",
    ),
    "BK105": (
        "The configuration has a key of an earlier generation in a place where it counts for nothing.",
        "Put the agent's key at integrations.<id>.agent_key; `beaker migrate` shows the edits.",
    ),
    "BK106": (
        "A key means nothing where it stands. This is a warning: the file works without it.",
        "Move the key to where it belongs, or take it out.",
    ),
    "BK107": (
        "The configuration uses keys of an earlier generation, which still work. This is a warning.",
        "`beaker migrate` shows the edits that bring it up to date, and `beaker migrate --write` makes them.",
    ),
    "BK108": (
        "No file is the module that an entry of the configuration names, or a key of the entry does not fit the code.",
        "Correct the key, or `source_dir` and `package_import_root`.",
    ),
    "BK109": (
        "A list of packages holds something that is no package.",
        "Write one package per item.",
    ),
    "BK110": (
        "The integration or Spec that was asked for is not in the configuration.",
        "Use one of the ids that are listed.",
    ),
    "BK111": (
        "`default_integration` or `default_spec` names an entry that does not exist.",
        "Correct it, or pass --integration-id or --spec-id.",
    ),
    "BK112": (
        "The configuration has several entries and none is the default, so it is open which one is meant.",
        "Pass --integration-id or --spec-id, or set `default_integration` or `default_spec`.",
    ),
    "BK113": (
        "The chosen entry has several faults.",
        "Correct each of the faults that are listed below it.",
    ),
    "BK114": (
        "The configuration has both integrations and Specs, so it is open which kind is meant.",
        "Pass --integration-id or --spec-id.",
    ),
    "BK115": (
        "The path of the configuration cannot be used: it must be relative and stay inside the repository.",
        "Correct --config-file or BEAKER_CONFIG_FILE.",
    ),
    "BK116": (
        "The configuration lies in no Git repository, or a link leads out of it.",
        "Put the real file into the repository; `git init` makes one.",
    ),
    "BK117": (
        "A folder that the configuration names does not exist, or leads out of the repository.",
        "Check the path; `source_dir` counts from the Git root.",
    ),
    "BK118": (
        "The configuration file that was named was found neither here nor in a folder above, up to the Git root.",
        "Give its path from here or from a folder above.",
    ),
    "BK119": (
        "There is no configuration here, or it has no integration, and the command works on one.",
        "Go to the project, or make one with `beaker init`.",
    ),
    "BK120": (
        "`required_env` is no list of names of environment variables that a project may ask for.",
        "List names of capital letters, digits and underscores, each once; names of Beaker itself are kept.",
    ),
    "BK121": (
        "An environment variable is not set, and the integration declares that it needs it.",
        "Set it in the environment or in .beaker/.env; for hosted runs, with `beaker agent env set`.",
    ),
    "BK122": (
        "There is no Python project (pyproject.toml) here, or the folder that was named does not exist.",
        "Name the folder of a project with --dir, or make a pyproject.toml.",
    ),
    "BK123": (
        "The configuration is written in a way that cannot be edited safely, so it was left alone.",
        "Add the lines that are shown by hand.",
    ),
    "BK124": (
        "The module of an entrypoint is no file, several files, or cannot be written.",
        "Name a module that is one file, or another file.",
    ),
    "BK125": (
        "A file stands where Beaker's folder .beaker belongs.",
        "Move it away.",
    ),
    "BK126": (
        "The id of an integration or Spec cannot be one.",
        "Take letters, digits, underscores and hyphens.",
    ),
    "BK127": (
        "The project has such an entry already, and it says something else.",
        "Keep it, or choose another id.",
    ),
    "BK128": (
        "`beaker init` found no factory to name, several where one is wanted, or a module it may not replace.",
        "Name what is meant, as the hint says.",
    ),
    "BK129": (
        "The entry has another agent's key now. This is a warning.",
        "Datasets and runs of the other agent stay with that one; set the key back if that was not meant.",
    ),
    "BK130": (
        "The file .beaker/.env cannot be read: no UTF-8, too large, or a link that leads out of the repository.",
        "Save it as UTF-8, with variables alone.",
    ),
    "BK131": (
        "It is not known which agent is meant.",
        "Pass --agent, set BEAKER_AGENT_KEY, or set `agent_key` in the configuration; --local needs none.",
    ),
    "BK132": (
        "The address of the API is no address, or two places are named at once.",
        "Give one http or https address, or `local`.",
    ),
    "BK133": (
        "There is no credential for the API.",
        "Run `beaker login`, or pass an API key with --api-key or BEAKER_API_KEY.",
    ),
    "BK134": (
        "A variable in .beaker/.env counts for nothing: no `required_env` lists it, or a file of a repository "
        "may not steer this machine. This is a warning.",
        "List it in `required_env`, or set it in your own environment.",
    ),
    "BK140": (
        "The Python version that the project states is none that hosted runs offer, or cannot be read.",
        "Choose one of the versions that are listed.",
    ),
    "BK141": (
        "No hosted Python version satisfies everything that the project asks for.",
        "Widen the requirement so that it allows one of them.",
    ),
    "BK142": (
        "A version specifier is none (PEP 440).",
        "Write it as in `>=3.11,<3.14`.",
    ),
    "BK143": (
        "`pip_install_from` names something that a build could not install from.",
        "Name a folder with a pyproject.toml, or a requirements file, in the repository.",
    ),
    "BK144": (
        "A model cannot be used as it is named, or an entry requires a judge and names none.",
        "Write PROVIDER:MODEL; `beaker model list` lists what there is.",
    ),
    "BK145": (
        "The code asks for the model of the run, and none was selected, or its name does not say the provider.",
        "Launch with a model written PROVIDER:MODEL.",
    ),
    "BK146": (
        "The code asks for credentials of models that exist only inside a run, or for a scorer model that the "
        "run does not configure.",
        "Outside a run, call the provider with a key of your own; for a judge, configure a scorer model.",
    ),
    "BK147": (
        "The value for an agent's variable cannot be taken: too long, no UTF-8 text, or with characters that "
        "no variable holds.",
        "Correct the value or the file that it comes from.",
    ),
    "BK149": (
        "The project asks for another Python than the one at work. This is a warning.",
        "Use an interpreter that fits; `beaker doctor` lists those that are found.",
    ),
    "BK150": (
        "There is no login for this API, or it has expired, and the command is about a person.",
        "Run `beaker login`, or name the other API with --base-url.",
    ),
    "BK151": (
        "Several agents have this name.",
        "Name the one that is meant by its key.",
    ),
    "BK152": (
        "There is no such agent.",
        "`beaker agent list` lists keys and names.",
    ),
    "BK153": (
        "The agent belongs to another repository or configuration.",
        "Take an agent with a new name for this one.",
    ),
    "BK154": (
        "A repository is not named OWNER/NAME, or none is named.",
        "Pass --repo OWNER/NAME.",
    ),
    "BK155": (
        "The system's keyring could not keep or give a credential.",
        "Install beaker-sdk[keyring] and unlock the keyring, or log in again without --keyring.",
    ),
    "BK157": (
        "BEAKER_AGENT_KEY names another agent than the configuration, and it wins. This is a warning.",
        "Unset it, or give it the same key.",
    ),
    "BK158": (
        "After another entry was added, commands mean another one than before, or need to be told which. This "
        "is a warning.",
        "Set `default_integration`, or pass --integration-id.",
    ),
    "BK160": (
        "A Python file cannot be read by this interpreter, so nothing is known of it.",
        "Correct its syntax or save it as UTF-8; use a newer Python if the syntax is newer.",
    ),
    "BK161": (
        "Something of an earlier generation cannot be changed by `beaker migrate`.",
        "Change it by hand at the place that is named; docs/generations.md shows how.",
    ),
    "BK162": (
        "The edits of a migration could not be verified, so they were undone.",
        "Read what differs, and make these changes by hand.",
    ),
}
