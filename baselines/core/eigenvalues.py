"""Largest eigenvalues of symmetric matrices, from products with vectors, by Lanczos' iteration.

A product with a Hessian takes passes over the training set, so `largest_eigenvalue` makes a limited number of products.
A product with a layer and its adjoint is cheap, so `largest_eigenvalue_of_positive` runs ARPACK until it converges.
`ritz_values` computes several eigenvalues, and stores all Lanczos vectors, which are as long as the weights.
"""

import itertools
from collections.abc import Callable

import numpy as np

from baselines.core.product import product
from baselines.core.sample import Array

#: An eigenvalue has converged if its relative error, or its relative change in a step, is at most this.
TOLERANCE = 1e-4

#: Rows and columns of a block of the basis.
ROWS, COLUMNS = 4, 2**18

#: A remainder below this fraction of the largest product's norm counts as zero, because of rounding.
ROUNDING = 1e-6


def largest_eigenvalue(multiply: Callable[[Array], Array], begin: Array, n_steps: int) -> float:
    """Return the largest eigenvalue of a symmetric matrix (n, n), from at most `n_steps` products with vectors (n,).

    Lanczos' iteration starts at `begin`. Rounding can make an eigenvalue appear several times, but keeps its value.
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
    """Return the largest eigenvalue of a positive semidefinite matrix, from its products with float32 vectors (n,)."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    operator = LinearOperator((len(begin), len(begin)), multiply, dtype=np.float32)
    return float(eigsh(operator, k=1, v0=begin, tol=TOLERANCE, return_eigenvectors=False)[0])


def ritz_values(multiply: Callable[[Array], Array], size: int, n_steps: int, rng: np.random.Generator) -> Array:
    """Return min(n_steps, size) approximate eigenvalues of a symmetric matrix (size, size), largest first.

    Lanczos' iteration with full reorthogonalization stores a float32 vector (size,) for each product. The extreme
    eigenvalues converge first; after `size` products all are exact up to rounding. If the iteration breaks down, it
    restarts in an orthogonal direction drawn by `rng`, so that multiple eigenvalues are found as often as they occur.
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
    """Return the part of a vector (n,) orthogonal to orthonormal rows `basis`, projected twice because of rounding."""
    # no block of a single row, whose sum would be rounded differently
    starts = [*range(0, max(len(basis) - 1, 1), ROWS), len(basis)]
    for _ in range(2):
        column = vector.astype(np.float32)[:, None]
        parts = np.concatenate([product(basis[i:j], column) for i, j in itertools.pairwise(starts)])
        blocks = (slice(i, i + COLUMNS) for i in range(0, len(vector), COLUMNS))
        vector = vector - np.concatenate([product(parts.T, np.ascontiguousarray(basis[:, b]))[0] for b in blocks])
    return vector
