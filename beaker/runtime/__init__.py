"""Runs customer code: clean child processes, their protocol, the attempt lifecycle."""
