"""Reads a competition task from disk and checks everything about it before anything runs."""

#: Where tasks are looked for if nothing else is said.
DEFAULT_DIRECTORY = "task_data"
