"""Reading one field out of a nested result by its dotted path."""

from typing import Any


def extract_field_from_object(obj: Any, field_path: str) -> Any:
    """What stands at `field_path` (`"vendor.name"`) in `obj`; `None` when anything on the way is missing.

    A segment is a key of a `dict`, else an attribute. Empty segments are ignored, so `""` is `obj` itself. There is no
    indexing into lists, and a key that holds a dot is out of reach. Falsy values are returned as they are.
    """
    found = obj
    for segment in field_path.split("."):
        if not segment:
            continue
        if found is None:
            return None
        if isinstance(found, dict):
            found = found.get(segment)
        else:
            try:
                found = getattr(found, segment, None)
            except (TypeError, KeyError):
                # A property that cannot answer is a missing field; other errors are the customer's own.
                return None
    return found
