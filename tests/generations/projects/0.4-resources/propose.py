import os
from pathlib import Path

path = Path(os.environ["BEAKER_WORKSPACE"]) / "documents" / "book" / "vowels.txt"
path.write_text("a e i o u\n")
