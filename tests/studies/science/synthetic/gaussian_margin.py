"""Two Gaussians with a margin between them: an example in which the density of adversarial examples is known.

Section 4 of Werpachowski et al. (2019), arXiv 1903.02380 (`scoring.overfitting`). Points are an equal mixture of two
Gaussians around e1 and -e1. Of each Gaussian, only the part beyond the margin on its own side remains. The label is the
sign of the first coordinate. Each point that a linear classifier classifies correctly gets an adversarial example: the
point after a step along the classifier's gradient, unless that changes the label.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.overfitting import RiskEstimates
from scoring.vectors import Vector


@dataclass(frozen=True)
class LinearView:
    """The properties of a linear classifier and some points that determine the estimates of its risk.

    Attributes:
        labels: -1 or 1, shape (n_points,).
        first: first coordinate of the points, shape (n_points,).
        along: component of the points in the direction of the weights, shape (n_points,).
        slope: first coordinate of that direction, in [-1, 1].
        offset: the bias, divided by the length of the weights.
    """

    labels: Vector
    first: Vector
    along: Vector
    slope: float
    offset: float

    @classmethod
    def of(cls, points: NDArray[np.floating], labels: ArrayLike, weights: ArrayLike, bias: float) -> "LinearView":
        """Return the view of points (n_points, dimension) by a classifier with weights (dimension,)."""
        vector = np.asarray(weights, dtype=np.float64)
        length = float(np.linalg.norm(vector))
        direction = vector / length
        along = np.asarray(points @ direction.astype(points.dtype), dtype=np.float64)
        first = points[:, 0].astype(np.float64)
        return cls(np.asarray(labels, dtype=np.float64), first, along, float(direction[0]), bias / length)

    @property
    def losses(self) -> NDArray[np.bool_]:
        """Whether each point is misclassified; points on the boundary count as misclassified."""
        wrong: NDArray[np.bool_] = self.labels * (self.along + self.offset) <= 0
        return wrong

    def moved(self, step: float, points: ArrayLike = True) -> "LinearView":
        """Return the view after a step of the selected points, against the sign of their labels."""
        lengths = np.where(points, -step * self.labels, 0.0)
        first, along = self.first + lengths * self.slope, self.along + lengths
        return LinearView(self.labels, first, along, self.slope, self.offset)


@dataclass(frozen=True)
class GaussianMargin:
    """The distribution of points and labels.

    Attributes:
        dimension: of the points.
        deviation: standard deviation of each coordinate.
        margin: least distance of the first coordinate from 0.
    """

    dimension: int = 500
    deviation: float = math.sqrt(500)
    margin: float = 0.025

    def sample(self, n_points: int, random: np.random.Generator) -> tuple[NDArray[np.float32], Vector]:
        """Return points (n_points, dimension) and labels (n_points,), each -1 or 1."""
        labels = random.choice([-1.0, 1.0], n_points)
        points = random.standard_normal((n_points, self.dimension), dtype=np.float32)
        points *= np.float32(self.deviation)
        distance = random.normal(1.0, self.deviation, n_points)
        while (rejected := distance <= self.margin).any():
            distance[rejected] = random.normal(1.0, self.deviation, np.count_nonzero(rejected))
        points[:, 0] = labels * distance
        return points, labels

    def log_density(self, points: ArrayLike) -> Vector:
        """Return the logarithm of the density of points (..., dimension) up to a constant, -inf in the margin."""
        array = np.asarray(points, dtype=np.float64)
        centre = np.zeros_like(array)
        centre[..., 0] = np.sign(array[..., 0])
        exponent: Vector = -((array - centre) ** 2).sum(axis=-1) / (2 * self.deviation**2)
        return np.where(np.abs(array[..., 0]) > self.margin, exponent, -np.inf)

    def density(self, view: LinearView, step: float) -> Vector:
        """Return the density h of misclassified points, shape (n_points,), in [0, 1].

        A misclassified point comes from at most two points: itself, and the point from which one step leads to it.
        """
        before = view.moved(-step)
        has_other = ~before.losses & (view.labels * before.first > self.margin)
        to_centre = view.labels * view.along - view.slope
        log_ratio = -(2 * step * to_centre + step**2) / (2 * self.deviation**2)  # of the other's density to its own
        share = np.where(has_other, (1 - np.tanh(log_ratio / 2)) / 2, 1.0)
        return np.where(view.labels * view.first > self.margin, share, 0.0)

    def estimates(self, view: LinearView, step: float) -> RiskEstimates:
        """Return the estimates of a classifier's risk with a generator that takes steps of length `step`."""
        may_move = ~view.losses & (view.labels * view.moved(step).first > 0)
        moved = view.moved(step, may_move)
        return RiskEstimates.of(view.losses, moved.losses, self.density(moved, step))
