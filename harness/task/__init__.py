"""Reads a competition task from disk and validates it before anything runs."""

#: Default of --tasks.
DEFAULT_DIRECTORY = "task_data"
