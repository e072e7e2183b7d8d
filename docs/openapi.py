"""Writes `schemas/openapi.json` from the endpoint table. Run `python docs/openapi.py` after the table has changed; a
test fails until it was done."""

import json
from pathlib import Path

import beaker
from beaker.core.endpoints import ENDPOINTS
from beaker.core.openapi import openapi_document

FILE = Path(__file__).parent / "schemas" / "openapi.json"


def written() -> str:
    """The document as it is published."""
    return json.dumps(openapi_document(ENDPOINTS, version=beaker.__version__), indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
