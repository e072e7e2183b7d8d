"""Mutates a copy of the core with mutmut and prints the score: `python tests/mutation.py CHECKOUT [MUTANT ...]`.

The copy keeps the checkout clean; mutmut works in the folder that holds the configuration. A whole core takes an hour
or more, so the copy (`mutation/` of the working directory) is kept and a later run goes on where the last one stopped:
it tries what was not tried yet, every function that changed since, and every mutant that no test noticed. Deleting the
folder starts over.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

COPIED = ("beaker", "docs", "tests", "pyproject.toml", "README.md")
LEFT_OUT = {"__pycache__", "_build"}
SURVIVED = 0


def files_of(folder: Path) -> set[Path]:
    """Every file below the copied names of a checkout, relative to it."""
    found = set()
    for name in COPIED:
        for here, folders, files in os.walk(folder / name):
            folders[:] = [one for one in folders if one not in LEFT_OUT]
            found.update((Path(here) / file).relative_to(folder) for file in files)
        if (folder / name).is_file():
            found.add(Path(name))
    return found


def bring_up_to_date(work: Path, checkout: Path) -> None:
    """Make the copy equal to the checkout, touching only what differs."""
    wanted = files_of(checkout)
    for stale in files_of(work) - wanted:
        (work / stale).unlink()
        (work / "mutants" / stale).unlink(missing_ok=True)
    for name in wanted:
        source, target = checkout / name, work / name
        if not target.is_file() or source.read_bytes() != target.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


def try_survivors_again(work: Path) -> None:
    """Forget the verdict on every mutant that no test noticed: the tests may have grown."""
    for path in (work / "mutants").rglob("*.meta"):
        verdicts = json.loads(path.read_text())
        known = verdicts["exit_code_by_key"]
        verdicts["exit_code_by_key"] = {name: None if code == SURVIVED else code for name, code in known.items()}
        path.write_text(json.dumps(verdicts))


checkout, names = Path(sys.argv[1]), sys.argv[2:]
work = Path("mutation")
work.mkdir(exist_ok=True)
bring_up_to_date(work, checkout)
try_survivors_again(work)

mutmut = [sys.executable, "-m", "mutmut"]
with (work / "run.log").open("wb") as log:  # its spinner writes a line per frame
    done = subprocess.run([*mutmut, "run", *names], cwd=work, stdout=log, check=False)
subprocess.run([*mutmut, "export-cicd-stats"], cwd=work, stdout=subprocess.DEVNULL, check=True)
stats = json.loads((work / "mutants" / "mutmut-cicd-stats.json").read_text())
tried = sum(stats[kind] for kind in ("killed", "survived", "timeout", "suspicious", "no_tests"))
caught = stats["killed"] + stats["timeout"]
print(
    f"mutants tried: {tried} of {stats['total']}; noticed: {caught} ({caught / max(tried, 1):.1%}); "
    f"survived: {stats['survived']}; without a test: {stats['no_tests']}"
)
sys.exit(0 if tried else done.returncode or 1)
