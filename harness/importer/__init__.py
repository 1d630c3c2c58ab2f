"""Makes a task from models and data that people already have; a table lists the models."""

#: Modules that other packages of `harness` may import.
MODULES = ("data", "run", "stated", "table")
