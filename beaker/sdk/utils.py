"""Small things that application code imports from here; their homes are elsewhere."""

from beaker.sdk.field_paths import extract_field_from_object
from beaker.sdk.json_safe import to_json_safe

__all__ = ["extract_field_from_object", "to_json_safe"]
