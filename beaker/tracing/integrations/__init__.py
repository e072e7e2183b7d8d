"""Adapters that record what frameworks do, one module each, imported one by one.

Each is given the trace explicitly, changes nothing of the framework when it is imported, and gives back what it was
given where nothing records.
"""
