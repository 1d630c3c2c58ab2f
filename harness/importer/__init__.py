"""Makes a task of models and data that people already have."""

#: The modules that other rooms use.
MODULES = ("data", "run", "stated", "table")
