"""Builds tasks of trained models from recipes with a grid of hyperparameters."""
