"""Runs complexity measures on trained Keras models, in sandboxes with a time limit, and records the results."""

__version__ = "0.1.0"
