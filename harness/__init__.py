"""Runs complexity measures, sandboxed and time-limited, on trained Keras models, and keeps records."""

__version__ = "0.1.0"
