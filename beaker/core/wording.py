"""Counts with their noun, for sentences."""


def counted(count: object, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{count} {noun}" if str(count) == "1" else f"{count} {noun}s"
