"""Builds tasks of trained models from recipes with a grid of hyperparameters."""

#: Modules for other rooms.
MODULES = ("build", "catalogue", "datasets", "recipe", "sources")
