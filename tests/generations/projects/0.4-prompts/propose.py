import os
from pathlib import Path

path = Path(os.environ["BEAKER_WORKSPACE"]) / "documents" / "prompts" / "vowels.md"
path.write_text("aeiou")
