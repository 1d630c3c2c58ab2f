"""Reads a competition task from disk and validates it before anything runs."""

#: Default of --tasks.
DEFAULT_DIRECTORY = "task_data"

#: The modules that other rooms use.
MODULES = (
    "contents", "data", "decoding", "demo", "digests", "hidden", "incomplete", "layout", "model", "notes",
    "page", "selection", "shapes", "summary", "task",
)  # fmt: skip
