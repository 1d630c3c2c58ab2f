"""Runs complexity measures on trained Keras models, sandboxed and time-limited, and records the results."""

__version__ = "0.1.0"
