"""Decisions. Pure functions over frozen values; nothing here reads a clock, a file or the environment."""
