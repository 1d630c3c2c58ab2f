"""Builds tasks from recipes: TOML files with a dataset, an architecture, and a grid of hyperparameters."""

#: Modules that other rooms may import.
MODULES = ("build", "catalogue", "datasets", "recipe", "sources")
