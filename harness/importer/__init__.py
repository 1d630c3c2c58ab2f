"""Makes a task of models and data that people already have."""

#: Modules for other rooms.
MODULES = ("data", "run", "stated", "table")
