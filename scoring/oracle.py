"""The noisy oracle: what a nearly perfect measure would score. A baseline from reference data only."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def noisy_oracle(gap: ArrayLike, noise: float = 0.02, seed: int = 0) -> NDArray[np.float64]:
    """The generalization gap plus independent normal noise.

    Args:
        gap: train accuracy minus test accuracy of each model, shape (n_models,).
        noise: standard deviation of the noise, in units of accuracy, 0 or more (0.02 in Jiang et al. 2019).
        seed: the same seed gives the same values.
    """
    exact = np.asarray(gap, dtype=np.float64)
    return exact + np.random.default_rng(seed).normal(0.0, noise, size=exact.shape)
