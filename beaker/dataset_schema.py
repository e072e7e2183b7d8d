"""The schema of dataset rows, for imports from here; its home is `beaker.core.dataset_schema`."""

from beaker.core.dataset_schema import STANDARD_JSONL_CASE_SCHEMA, DatasetSchema

__all__ = ["STANDARD_JSONL_CASE_SCHEMA", "DatasetSchema"]
