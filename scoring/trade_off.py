"""The trade-off of the practical generalization metric: small errors on diverse data, by a small model."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

POINTS = 41  #: number of interpolation points per axis for the search
DECIMALS = 9  #: sums are compared with 9 decimals, because interpolated numbers that are equal in theory may differ

Cube = NDArray[np.float64]


@dataclass(frozen=True)
class TradeOff:
    """The size, SSIM and share of unseen classes with the smallest sum of objective and weighted penalty."""

    size: float  #: number of weights
    ssim: float  #: structural similarity of the noisy images, in (0, 1]
    unseen: float  #: share of unseen classes, in [0, 1)
    objective: float  #: objective at the point
    penalty: float  #: penalty at the point, before it is multiplied by the weight
    values: Mapping[str, float]  #: name -> value at the point of each array in the argument `also`


def trade_off(
    objective: ArrayLike,
    sizes: ArrayLike,
    ssim: ArrayLike,
    unseen: ArrayLike,
    *,
    weight: float = 1.0,
    also: Mapping[str, ArrayLike] | None = None,
) -> TradeOff:
    """Return the point that minimises objective + weight * ((1 - unseen)^2 + ssim^2 + size^2).

    The objective is known for each cell (size, ssim, unseen), and interpolated linearly between cells. In the penalty,
    sizes are scaled linearly to [0, 1]. On each axis, `POINTS` equidistant coordinates and the coordinates of the cells
    are tried, in all combinations. Among equal minima, the smallest size wins, then the smallest SSIM, then the
    smallest share of unseen classes. This is eq. 4 of Huang, Yu and Zhang with tight bounds, without their random
    search.

    Args:
        objective: value of each cell, shape (n_sizes, n_ssim, n_unseen), finite.
        sizes: numbers of weights, ascending.
        ssim: structural similarities, ascending.
        unseen: shares of unseen classes, ascending.
        weight: factor of the penalty, lambda in the paper, at least 0.
        also: name -> further values of each cell, to be interpolated at the point.

    Raises:
        ValueError: shapes do not fit, an axis is not ascending, a number is not finite, or `weight` is negative.
    """
    axes = [_ascending(name, axis) for name, axis in (("sizes", sizes), ("ssim", ssim), ("unseen", unseen))]
    cells = {name: _cells(name, cube, axes) for name, cube in {"objective": objective, **(also or {})}.items()}
    if not (weight >= 0 and np.isfinite(weight)):
        raise ValueError(f"weight: expected a finite number, at least 0, found {weight}")
    fine = [_refined(axis) for axis in axes]
    found = _interpolated(cells.pop("objective"), axes, fine)
    penalty = (_scaled(fine[0]) ** 2)[:, None, None] + (fine[1] ** 2)[:, None] + (1 - fine[2]) ** 2
    at = np.unravel_index(np.argmin(np.round(found + weight * penalty, DECIMALS)), found.shape)
    point = [np.array([one[position]]) for one, position in zip(fine, at, strict=True)]
    values = {name: _interpolated(cube, axes, point).item() for name, cube in cells.items()}
    best_size, best_ssim, best_unseen = (one.item() for one in point)
    return TradeOff(best_size, best_ssim, best_unseen, float(found[at]), float(penalty[at]), values)


def _ascending(name: str, axis: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(axis, np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all() or not (np.diff(values) > 0).all():
        raise ValueError(f"{name}: expected ascending numbers, found {values}")
    return values


def _cells(name: str, cube: ArrayLike, axes: list[NDArray[np.float64]]) -> Cube:
    cells, shape = np.asarray(cube, np.float64), tuple(axis.size for axis in axes)
    if cells.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, found {cells.shape}")
    if not np.isfinite(cells).all():
        raise ValueError(f"{name}: expected finite numbers")
    return cells


def _refined(axis: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.union1d(np.linspace(axis[0], axis[-1], POINTS), axis) if axis.size > 1 else axis


def _scaled(axis: NDArray[np.float64]) -> NDArray[np.float64]:
    width = axis[-1] - axis[0]
    return (axis - axis[0]) / width if width else np.zeros_like(axis)


def _interpolated(cube: Cube, axes: list[NDArray[np.float64]], at: list[NDArray[np.float64]]) -> Cube:
    from scipy.interpolate import RegularGridInterpolator

    kept = [position for position in range(3) if axes[position].size > 1]
    shape = tuple(one.size for one in at)
    if not kept:
        return cube
    interpolate = RegularGridInterpolator([axes[position] for position in kept], cube.squeeze())
    mesh = np.meshgrid(*(at[position] for position in kept), indexing="ij")
    return np.asarray(interpolate(np.stack(mesh, axis=-1)), np.float64).reshape(shape)
