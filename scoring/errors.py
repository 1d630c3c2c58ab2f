"""Errors of the inputs of a score; both classes derive from `ValueError`, and messages are one readable line."""


class GridError(ValueError):
    """The models do not form a grid of hyperparameters with at most one model per cell."""


class ScoreUndefined(ValueError):
    """The inputs are valid, but this score has no meaning for a grid of this shape."""
