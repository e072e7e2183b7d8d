"""Sphinx settings: Markdown pages through MyST, the furo theme."""

import beaker

project = "Beaker"
copyright = "2026, the Beaker authors"
author = "the Beaker authors"
release = version = beaker.__version__

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]
html_theme = "furo"
html_title = f"Beaker {release}"
