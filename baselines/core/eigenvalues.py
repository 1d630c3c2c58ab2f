"""Largest eigenvalues of symmetric matrices that are known by their products with vectors, by Lanczos' iteration.

The largest one comes in two ways. A product with a Hessian costs passes over the training set, so these are counted,
and the value is as good as so many make it. A product with a layer and its adjoint is cheap, so ARPACK goes on until
the value is good; it looks for the largest in size, which is the same for a matrix without negative eigenvalues.
Computing several eigenvalues stores all Lanczos vectors, each as long as the weights.
"""

import itertools
from collections.abc import Callable

import numpy as np

from baselines.core.product import product
from baselines.core.sample import Array

#: Relative error, or change between two steps, at which an eigenvalue is good enough.
TOLERANCE = 1e-4

#: Rows, and columns, of a basis that are multiplied at once.
ROWS, COLUMNS = 4, 2**18

#: Part of the largest product below which what is left of a product is rounding.
ROUNDING = 1e-6


def largest_eigenvalue(multiply: Callable[[Array], Array], begin: Array, n_steps: int) -> float:
    """Largest eigenvalue of a symmetric matrix that is known by its products with vectors (n,).

    Old directions are not kept: rounding lets them come back, which repeats eigenvalues but moves none.
    """
    from scipy.linalg import eigvalsh_tridiagonal

    vector, previous, beta = begin / np.linalg.norm(begin), np.zeros_like(begin), 0.0
    diagonal: list[float] = []
    beside: list[float] = []
    value = -np.inf
    for _ in range(n_steps):
        found = multiply(vector.astype(np.float32)) - beta * previous
        diagonal.append(float(vector @ found))
        before, value = value, float(eigvalsh_tridiagonal(diagonal, beside)[-1])
        found = found - diagonal[-1] * vector
        beta = float(np.linalg.norm(found))
        if abs(value - before) <= TOLERANCE * abs(value) or beta == 0:
            break
        beside.append(beta)
        vector, previous = found / beta, vector
    return value


def largest_eigenvalue_of_positive(multiply: Callable[[Array], Array], begin: Array) -> float:
    """Largest eigenvalue of a symmetric matrix without negative ones; vectors (n,) are float32."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    operator = LinearOperator((len(begin), len(begin)), multiply, dtype=np.float32)
    return float(eigsh(operator, k=1, v0=begin, tol=TOLERANCE, return_eigenvectors=False)[0])


def ritz_values(multiply: Callable[[Array], Array], size: int, n_steps: int, rng: np.random.Generator) -> Array:
    """Eigenvalues, the extreme ones first to be right, after `n_steps` of Lanczos' iteration on all old directions.

    All eigenvalues if there are as many steps as the matrix has rows. Where the iteration ends early, it begins again
    in a direction not seen yet, so that an eigenvalue comes as often as the matrix has it.

    Args:
        multiply: the product of a symmetric matrix with a vector (size,).
        size: rows of the matrix.
        n_steps: products; as many float32 vectors are kept.
        rng: draws the directions to begin with.
    """
    from scipy.linalg import eigvalsh_tridiagonal

    n_steps = min(n_steps, size)
    basis = np.zeros((n_steps, size), np.float32)
    diagonal, beside = np.zeros(n_steps), np.zeros(n_steps)
    vector, largest = _orthogonal(rng.normal(size=size), basis[:0]), 0.0
    for step in range(n_steps):
        basis[step] = vector / np.linalg.norm(vector)
        found = multiply(basis[step]).astype(np.float64)
        diagonal[step] = basis[step] @ found
        largest = max(largest, float(np.linalg.norm(found)))
        vector = _orthogonal(found, basis[: step + 1])
        beside[step] = np.linalg.norm(vector)
        if beside[step] <= ROUNDING * largest:
            vector, beside[step] = _orthogonal(rng.normal(size=size), basis[: step + 1]), 0.0
    found = eigvalsh_tridiagonal(diagonal, beside[:-1])
    values: Array = found[::-1]
    return values


def _orthogonal(vector: Array, basis: Array) -> Array:
    """What is left of a vector (n,) orthogonal to orthonormal rows (steps, n); twice, because of rounding.

    A product makes several copies of its factors, so it is made of a part of the basis at a time: rows of the first,
    columns of the second one.
    """
    # No row is alone: its sum would be rounded otherwise.
    starts = [*range(0, max(len(basis) - 1, 1), ROWS), len(basis)]
    for _ in range(2):
        column = vector.astype(np.float32)[:, None]
        parts = np.concatenate([product(basis[i:j], column) for i, j in itertools.pairwise(starts)])
        blocks = (slice(i, i + COLUMNS) for i in range(0, len(vector), COLUMNS))
        vector = vector - np.concatenate([product(parts.T, np.ascontiguousarray(basis[:, b]))[0] for b in blocks])
    return vector
