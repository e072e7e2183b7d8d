"""Runs every `bench_*.py` beside this file, one after the other; `python tests/bench [WORD]` picks by name."""

import subprocess
import sys
from pathlib import Path

word = sys.argv[1] if len(sys.argv) > 1 else ""
failed = 0
for script in sorted(Path(__file__).parent.glob("bench_*.py")):
    if word in script.stem:
        print(f"## {script.stem}", flush=True)
        failed |= subprocess.run([sys.executable, str(script)], check=False).returncode
sys.exit(1 if failed else 0)
