import os
from pathlib import Path

workspace = Path(os.environ["BEAKER_WORKSPACE"])
path = workspace / "repository" / "words" / "kinds.py"
path.write_text(path.read_text().replace('"a"', '"aei"'))
(workspace / "documents" / "book" / "more.txt").write_text("o u\n")
