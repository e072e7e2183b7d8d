"""Sphinx settings: Markdown pages through MyST, the API from docstrings, the furo theme."""

import re
from typing import Any

import attrs
from sphinx.application import Sphinx
from sphinx.util.typing import stringify_annotation

import beaker

project = "Beaker"
copyright = "2026, the Beaker authors"
author = "the Beaker authors"
release = version = beaker.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]
default_role = "code"  # docstrings write code as Markdown does
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
html_theme = "furo"
html_title = f"Beaker {release}"

_QUALIFIED = re.compile(r"~?\b(\w+\.)+(?=\w)")
"""The module before the name of a type."""


def setup(app: Sphinx) -> None:
    """Have values shown with the types and defaults of their fields, which attrs keeps to itself."""
    app.connect("autodoc-process-signature", _signature)


def _signature(_app: Sphinx, what: str, _name: str, item: Any, *_: Any) -> tuple[str, str | None] | None:
    if what == "class" and getattr(item, "_is_protocol", False):
        return "", None
    if what != "class" or not attrs.has(item):
        return None
    fields = [field for field in attrs.fields(item) if field.init and not field.name.startswith("_")]
    shown = [_parameter(field) for field in fields]
    named_only = next((at for at, field in enumerate(fields) if field.kw_only), len(fields))
    return f"({', '.join([*shown[:named_only], *(['*'] if shown[named_only:] else []), *shown[named_only:]])})", None


def _parameter(field: "attrs.Attribute[Any]") -> str:
    kind = _QUALIFIED.sub("", stringify_annotation(field.type, "smart"))
    default = field.default.factory() if isinstance(field.default, attrs.Factory) else field.default
    return f"{field.name}: {kind}" + ("" if default is attrs.NOTHING else f" = {default!r}")
