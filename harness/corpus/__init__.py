"""Builds tasks of trained models from recipes with a grid of hyperparameters."""

#: The modules that other rooms use.
MODULES = ("build", "catalogue", "datasets", "recipe", "sources")
