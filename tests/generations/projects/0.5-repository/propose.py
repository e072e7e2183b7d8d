import os
from pathlib import Path

path = Path(os.environ["BEAKER_WORKSPACE"]) / "repository" / "words" / "kinds.py"
path.write_text(path.read_text().replace('"a"', '"aeiou"'))
