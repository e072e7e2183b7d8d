"""What an interpreter tells of itself, as JSON on standard output. Its text is handed to that interpreter with `-c`.

It runs before anything is known of the interpreter, so it keeps to what every Python 3 has. Its one argument names the
modules that Beaker needs, with commas between them.
"""

import importlib.util
import json
import os
import sys


def _release() -> "str | None":
    """The Beaker that is installed: `None` for none, and an empty text for something else of that name."""
    found = importlib.util.find_spec("beaker")
    if found is None:
        return None
    for folder in found.submodule_search_locations or ():
        if os.path.isfile(os.path.join(folder, "runtime", "interpreter_probe.py")):
            try:
                return str(importlib.import_module("beaker").__version__)
            except Exception:  # a foreign distribution of that name may do anything when it is imported
                return ""
    return ""


def _lacks(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is None
    except Exception:  # finders that are installed there may raise anything; what cannot be found is lacking
        return True


if __name__ == "__main__":
    # What lies in the working directory says nothing of the interpreter.
    sys.path[:] = [entry for entry in sys.path if entry]
    told = {
        "version": list(sys.version_info[:3]),
        "release": _release(),
        "missing": [name for name in sys.argv[1].split(",") if _lacks(name)],
    }
    print(json.dumps(told))
