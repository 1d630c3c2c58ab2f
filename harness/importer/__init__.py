"""Makes a task of models and data that people already have."""

#: Modules that other rooms may import.
MODULES = ("data", "run", "stated", "table")
