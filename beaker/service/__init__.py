"""Answers a Beaker API: handlers, store, blobs, run workers."""
