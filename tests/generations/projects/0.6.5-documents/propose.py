import os
from pathlib import Path

path = Path(os.environ["BEAKER_WORKSPACE"]) / "documents" / "book" / "rules.txt"
path.write_text("".join(f"{letter}=vowel\n" for letter in "aeiou"))
