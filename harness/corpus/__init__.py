"""Builds tasks from recipes: TOML files with a dataset, an architecture, and a grid of hyperparameters."""

#: Modules that other packages of `harness` may import.
MODULES = ("build", "catalogue", "datasets", "recipe", "sources")
