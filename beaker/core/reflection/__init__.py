"""Asking a language model for an edit: the prompt out of the evidence, and the edit out of the answer.

Everything here is a decision over values. Who sends the request, and writes the edit into a working copy, is
`engine.proposers.reflection`.
"""
