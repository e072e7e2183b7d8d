"""The only place that knows formats on disk: atomic writes, YAML with lines, dotenv, JSONL, Git."""
