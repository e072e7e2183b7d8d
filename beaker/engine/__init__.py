"""Optimizes: executes the commands of the search; candidates, evaluations, proposers."""
