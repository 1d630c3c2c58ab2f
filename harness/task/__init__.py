"""Reads a competition task from disk and validates it before anything runs."""

#: Default of --tasks.
DEFAULT_DIRECTORY = "task_data"

#: The modules that other rooms use.
MODULES = (
    "contents", "data", "decoding", "demo", "digests", "gap_error", "hidden", "incomplete", "layout", "model", "notes",
    "origin", "page", "part", "shapes", "some_models", "summary", "task",
)  # fmt: skip
