"""Builds tasks from recipes: TOML files with a dataset, an architecture, and a grid of hyperparameters."""

#: Modules for other rooms.
MODULES = ("build", "catalogue", "datasets", "recipe", "sources")
