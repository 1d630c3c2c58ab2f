"""Tasks of many models, whose scores vary so little that fewer draws and first-order approximations are enough."""

MOST_RESAMPLED = 300
"""On tasks of more models, intervals and p-values come from first-order approximations; docs/statistics.md says how
close they are. Up to here, all scores of resampled models are computed."""
FEWEST = 10  #: draws on the largest tasks


def enough_draws(n: int, n_models: int) -> int:
    """Return how many draws of a score have a mean as sure as `n` draws have on `MOST_RESAMPLED` models.

    The variance of a score falls with the number of models.
    """
    return min(n, max(FEWEST, n * MOST_RESAMPLED // n_models))
