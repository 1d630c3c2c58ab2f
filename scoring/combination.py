"""Combinations of measures that need the values of all models of a task."""

import numpy as np
from numpy.typing import ArrayLike

from scoring.vectors import Vector

#: What is smaller counts as 0: the measures do not vary together.
SMALLEST_LOADING = 1e-9


def pca_gi_mixup(columns: ArrayLike, *, standardize: bool = False) -> Vector:
    """Project two measures on their first principal component, over the models of one task.

    The component's sign is open: here the loading of the first measure is positive, or, where that is 0, the
    loading of the second. So the result is the same whether mixup's accuracy or its error is given. If no
    measure varies, all models get 0.

    Args:
        columns: the measures `gi_intra_l0` and `mixup_error` of each model, shape (n_models, 2), finite.
        standardize: divide each measure by its standard deviation first; the paper does not say.

    Returns:
        Combined measure of each model, shape (n_models,); larger means a larger predicted gap.

    Raises:
        ValueError: another shape, or numbers that are not finite.

    Source: Schiff et al. 2021, arXiv 2106.04765, section 4.1.2, "PCA Gi&Mi.".
    """
    values = np.asarray(columns, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != 2 or len(values) == 0:
        raise ValueError(f"columns: expected two measures of each model (n_models, 2), found {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("columns: expected finite numbers")
    varies = np.ptp(values, axis=0) > 0
    centred = np.where(varies, values - values.mean(axis=0), 0)  # exactly 0: rounding must not become a component
    if standardize:
        centred = centred / np.where(varies, centred.std(axis=0), 1)
    loadings = np.linalg.svd(centred, full_matrices=False)[2][0]
    leading = loadings[0] if abs(loadings[0]) > SMALLEST_LOADING else loadings[1]
    combined: Vector = centred @ loadings * np.sign(leading)
    return combined
