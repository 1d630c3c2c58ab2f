"""The resolution of a task: the smallest possible p-value, and the smallest detectable difference of two scores."""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from scoring.batches import MOST_RESAMPLED, official_scores
from scoring.conditioning import conditioning
from scoring.errors import ScoreUndefined
from scoring.grid import Grid
from scoring.official import official_inputs, require_official
from scoring.paired import PairedTask
from scoring.quantiles import normal_scores
from scoring.retrained import FULL_SCORE, retrained_scores
from scoring.streams import stream

LEVEL = 0.05  #: significance level of the one-sided test
POWER = 0.8  #: probability with which the test detects the difference
TYPICAL = 0.25  #: mean score of the two simulated measures, 0 to 1
DRAWS = 200  #: number of draws of the noise; a standard deviation from 200 draws has an error of 5 %
TRIED = 4000  #: number of draws times models in each step of the search for the standard deviation of the noise
STEPS = 10  #: number of bisection steps of this search


def smallest_p_value(grid: Grid) -> float:
    """Return the smallest p-value that any measure can have on a grid with an official score.

    A p-value for a pair of hyperparameters is at least 1 / the number of permutations among models that share both
    values. The result is the largest of these bounds over pairs, as a score's p-value is the largest over pairs.
    """
    require_official(grid)
    n_models, sizes = len(grid.models), dict(zip(grid.names, grid.sizes, strict=True))
    n_groups = [sizes[a] * sizes[b] for a, b in conditioning(grid).sets]
    return max(1 / math.prod([math.factorial(n_models // number)] * number) for number in n_groups)


def detectable_difference(gap: ArrayLike, grid: Grid, seed: int = 0) -> float:
    """Return the smallest true difference of two scores that a test detects with probability `POWER`, in points.

    It is (z(1 - LEVEL) + z(POWER)) times the standard error of the difference; z(p) is the normal quantile of p. The
    error is simulated with two measures, each the normal scores of the gap plus independent normal noise. The noise is
    so strong that their mean score is `TYPICAL`; if pure noise scores more, the measures are pure noise.

    Gaps (train minus test accuracy) are finite, shape (n_models,), in the order of the grid. The same `seed` gives the
    same noise.

    Raises:
        ScoreUndefined: the grid has no official score, or all gaps are equal.
        ValueError: wrong length or numbers that are not finite.

    Source: Miller, "Adding error bars to evals", 2024, on the minimum detectable effect.
    """
    exact, _, cond = official_inputs(gap, gap, grid)
    if np.ptp(exact) == 0:
        raise ScoreUndefined("detectable difference: expected gaps that differ, found equal ones")
    noise = stream("resolution", seed).normal(size=(DRAWS if exact.size <= MOST_RESAMPLED else 2, exact.size))
    signal, gaps = normal_scores(exact[None])[0], exact[None]
    tried = noise[: TRIED // exact.size + 1]
    least, most = 0.0, math.pi / 2
    for _ in range(STEPS):
        middle = (least + most) / 2
        score = official_scores(math.cos(middle) * signal + math.sin(middle) * tried, gaps, cond).mean()
        least, most = (middle, most) if score > TYPICAL else (least, middle)
    measures = math.cos(most) * signal + math.sin(most) * noise
    if exact.size <= MOST_RESAMPLED:
        error = FULL_SCORE * math.sqrt(2) * official_scores(measures, gaps, cond).std(ddof=1)
    else:
        first, second = retrained_scores([PairedTask(grid, exact, measures)]).T
        error = (first - second).std(ddof=1)
    quantiles = NormalDist().inv_cdf(1 - LEVEL) + NormalDist().inv_cdf(POWER)
    return quantiles * float(error)
