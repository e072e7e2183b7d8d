"""Removing folders that customer code worked in."""

import os
import shutil
import subprocess
from pathlib import Path


def remove_folder(root: Path) -> None:
    """Remove a folder whatever was done to its modes or its depth; nothing happens when there is none."""
    try:
        shutil.rmtree(root, ignore_errors=True)
    except RecursionError:
        pass  # nested deeper than Python follows
    if os.path.lexists(root):
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            subprocess.run([*command, "--", str(root)], stderr=subprocess.DEVNULL, check=False)
