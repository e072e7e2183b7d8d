"""Addresses that a service names for a browser: only those of web pages are opened."""

from urllib.parse import urlsplit


def is_web_page(url: str) -> bool:
    """Whether `url` is an http(s) address with a host, without blanks or control characters."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable() and " " not in url
    except ValueError:
        return False
