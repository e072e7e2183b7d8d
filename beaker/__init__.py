"""Beaker improves an AI system against your own cases and proves the improvement on held-out ones."""

__version__ = "0.6.5"
