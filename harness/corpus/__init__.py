"""Builds corpora of trained models: a recipe with a grid of hyperparameters becomes a task."""
