"""Largest eigenvalues of symmetric matrices that are known by their products with vectors, by Lanczos' iteration.

There are two for two purposes. A product with a Hessian costs passes over the training set, so these are counted, and
the value is as good as so many make it. A product with a layer and its adjoint is cheap, so ARPACK goes on until the
value is good; it looks for the largest in size, which is the same for a matrix without negative eigenvalues.
"""

from collections.abc import Callable

import numpy as np

from baselines.core.sample import Array

#: Relative error, or change between two steps, at which an eigenvalue is good enough.
TOLERANCE = 1e-4


def largest_eigenvalue(product: Callable[[Array], Array], begin: Array, n_steps: int) -> float:
    """Largest eigenvalue of a symmetric matrix that is known by its products with vectors (n,).

    Old directions are not kept: rounding lets them come back, which repeats eigenvalues but moves none.
    """
    from scipy.linalg import eigvalsh_tridiagonal

    vector, previous, beta = begin / np.linalg.norm(begin), np.zeros_like(begin), 0.0
    diagonal: list[float] = []
    beside: list[float] = []
    value = -np.inf
    for _ in range(n_steps):
        found = product(vector.astype(np.float32)) - beta * previous
        diagonal.append(float(vector @ found))
        before, value = value, float(eigvalsh_tridiagonal(diagonal, beside)[-1])
        found = found - diagonal[-1] * vector
        beta = float(np.linalg.norm(found))
        if abs(value - before) <= TOLERANCE * abs(value) or beta == 0:
            break
        beside.append(beta)
        vector, previous = found / beta, vector
    return value


def largest_eigenvalue_of_positive(product: Callable[[Array], Array], begin: Array) -> float:
    """Largest eigenvalue of a symmetric matrix without negative ones; vectors (n,) are float32."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    operator = LinearOperator((len(begin), len(begin)), product, dtype=np.float32)
    return float(eigsh(operator, k=1, v0=begin, tol=TOLERANCE, return_eigenvectors=False)[0])
