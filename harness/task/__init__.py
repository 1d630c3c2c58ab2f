"""Finds the tasks of a competition, and reads and checks them before a measure runs."""

#: Default of the option --tasks.
DEFAULT_DIRECTORY = "task_data"
