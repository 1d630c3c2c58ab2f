"""Finds the tasks of a competition, reads them and validates them before a measure runs."""

#: Default of the option --tasks.
DEFAULT_DIRECTORY = "task_data"
