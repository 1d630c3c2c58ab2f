"""Errors for inputs that cannot be scored; each message is one readable line."""


class GridError(ValueError):
    """The models do not form a grid of hyperparameters with at most one model per cell."""


class ScoreUndefined(ValueError):
    """The inputs are valid, but the score is not defined for them, for example if too few hyperparameters vary."""
