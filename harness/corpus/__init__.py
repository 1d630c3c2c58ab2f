"""Builds tasks of trained models from recipes with a grid of hyperparameters."""

#: Modules that other rooms may import.
MODULES = ("build", "catalogue", "datasets", "recipe", "sources")
