"""Checks of the arrays from which scores are computed."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]


def as_vectors(measure: ArrayLike, gap: ArrayLike) -> tuple[Vector, Vector]:
    """Return measure and gap as floats (n_models,). Raise `ValueError` unless they are finite and equally long."""
    vectors = _as_vector("measure", measure), _as_vector("gap", gap)
    sizes = [vector.size for vector in vectors]
    if sizes[0] != sizes[1]:
        raise ValueError(f"measure and gap: expected the same length, found {sizes[0]} and {sizes[1]}")
    return vectors


def as_vectors_of(n_models: int, measure: ArrayLike, gap: ArrayLike) -> tuple[Vector, Vector]:
    """Return measure and gap as `as_vectors` does; raise `ValueError` also if they do not have `n_models` numbers."""
    vectors = as_vectors(measure, gap)
    if vectors[0].size != n_models:
        raise ValueError(f"measure and gap: expected one number per model ({n_models}), found {vectors[0].size}")
    return vectors


def _as_vector(what: str, values: ArrayLike) -> Vector:
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1:
        raise ValueError(f"{what}: expected one number per model, found an array of shape {vector.shape}")
    if not np.isfinite(vector).all():
        position = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise ValueError(f"{what}: expected finite numbers, found {vector[position]} at position {position}")
    return vector


def as_task_scores(scores: ArrayLike) -> NDArray[np.float64]:
    """Return scores of n submissions or pairs as floats (n_tasks, n). Raise `ValueError` unless they are finite."""
    found = np.asarray(scores, dtype=np.float64)
    if found.ndim != 2 or not np.isfinite(found).all():
        raise ValueError(f"expected finite numbers of shape (n_tasks, n), found an array of shape {found.shape}")
    return found
