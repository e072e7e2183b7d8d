"""Mutates a copy of the core with mutmut and prints the score: `python tests/mutation.py CHECKOUT [MUTANT ...]`.

The copy keeps the checkout clean; mutmut works in the folder that holds the configuration.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

checkout, names = Path(sys.argv[1]), sys.argv[2:]
work = Path("mutation")
shutil.rmtree(work, ignore_errors=True)
work.mkdir()
for name in ("beaker", "docs", "tests", "pyproject.toml", "README.md"):
    source = checkout / name
    if source.is_dir():
        shutil.copytree(source, work / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
    else:
        shutil.copy(source, work / name)

mutmut = [sys.executable, "-m", "mutmut"]
with (work / "run.log").open("wb") as log:  # its spinner writes a line per frame
    done = subprocess.run([*mutmut, "run", *names], cwd=work, stdout=log, check=False)
subprocess.run([*mutmut, "export-cicd-stats"], cwd=work, stdout=subprocess.DEVNULL, check=True)
stats = json.loads((work / "mutants" / "mutmut-cicd-stats.json").read_text())
tried = sum(stats[kind] for kind in ("killed", "survived", "timeout", "suspicious", "no_tests"))
caught = stats["killed"] + stats["timeout"]
print(
    f"mutants tried: {tried}; noticed: {caught} ({caught / max(tried, 1):.1%}); survived: {stats['survived']}; "
    f"without a test: {stats['no_tests']}"
)
sys.exit(0 if tried else done.returncode or 1)
