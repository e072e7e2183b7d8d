"""The command line: arguments in, one request out, one rendering."""
