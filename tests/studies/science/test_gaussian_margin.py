"""Tests of two Gaussians with a margin: densities, and estimates without bias."""

import numpy as np
import pytest

from tests.studies.science.synthetic.gaussian_margin import GaussianMargin, LinearView

SMALL = GaussianMargin(dimension=5, deviation=2.0, margin=0.1)
WEIGHTS, BIAS = np.array([1.0, 2.0, -1.0, 0.5, 0.0]), 0.3
STEPS = pytest.mark.parametrize("step", [0.1, 1.0, 3.0, 10.0])


def sample(n_points: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return SMALL.sample(n_points, np.random.default_rng(seed))


def test_points_are_beyond_the_margin_on_their_own_side() -> None:
    points, labels = sample(20_000)
    assert set(labels) == {-1, 1}
    assert abs(labels.mean()) < 0.03
    assert (points[:, 0] * labels).min() > 0.0999
    assert abs(points[:, 1:].mean()) < 0.02
    assert points[:, 1:].std() == pytest.approx(2, rel=0.02)


def test_the_density_is_that_of_the_sample() -> None:
    """The distribution of the first coordinate in a sample equals the integral of the density."""
    points, labels = sample(200_000)
    places = np.linspace(0.1001, 8, 60)
    grid = np.zeros((60, 5))
    grid[:, 0] = places
    density = np.exp(SMALL.log_density(grid))
    cumulative = np.append(0, np.cumsum((density[1:] + density[:-1]) / 2))
    counted = [(points[:, 0] * labels <= place).mean() for place in places]
    np.testing.assert_allclose(counted, cumulative / cumulative[-1], atol=0.006)


def test_nothing_is_in_the_margin() -> None:
    at = np.zeros((4, 5))
    at[:, 0] = [-0.2, -0.05, 0.1, 0.2]
    assert np.isfinite(SMALL.log_density(at)).tolist() == [True, False, False, True]


def test_a_density_is_of_double_precision_whatever_the_points_are_of() -> None:
    points, _ = sample(50)
    assert SMALL.log_density(points).tolist() == SMALL.log_density(points.astype(np.float64)).tolist()


def test_a_point_on_the_boundary_is_misclassified() -> None:
    view = LinearView.of(np.array([[1.0, 0.0], [2.0, 0.0]]), [1.0, 1.0], [1.0, 0.0], -1.0)
    assert view.losses.tolist() == [True, False]


def test_two_points_compare_as_their_distances_from_the_centres() -> None:
    near, far = np.array([1.0, 0, 0, 0, 0]), np.array([-3.0, 1, 0, 0, 0])
    assert SMALL.log_density(near) - SMALL.log_density(far) == pytest.approx((2**2 + 1) / (2 * 2.0**2))


@STEPS
def test_projections_give_the_density_of_the_points_themselves(step: float) -> None:
    """The density h is computed by its definition, from all points that move to a misclassified point."""
    points, labels = sample(4000)
    points = points.astype(np.float64)
    direction = WEIGHTS / np.linalg.norm(WEIGHTS)
    right = labels * (points @ WEIGHTS + BIAS) > 0
    moved = points - step * labels[:, None] * direction
    moved[~right | (moved[:, 0] * labels <= 0)] = points[~right | (moved[:, 0] * labels <= 0)]
    before = moved + step * labels[:, None] * direction
    is_other = (labels * (before @ WEIGHTS + BIAS) > 0) & (before[:, 0] * labels > 0)
    own, other = (np.exp(SMALL.log_density(array)) for array in (moved, before))
    with np.errstate(invalid="ignore"):
        densities = np.where(own > 0, own / (own + other * is_other), 0)
    estimates = SMALL.estimates(LinearView.of(points, labels, WEIGHTS, BIAS), step)
    wrong = labels * (moved @ WEIGHTS + BIAS) <= 0
    np.testing.assert_array_equal(estimates.moved_losses, wrong)
    np.testing.assert_allclose(estimates.densities[wrong], densities[wrong], atol=1e-9)


@STEPS
def test_the_estimate_has_no_bias(step: float) -> None:
    points, labels = sample(100_000, seed=3)
    differences = SMALL.estimates(LinearView.of(points, labels, WEIGHTS, BIAS), step).differences
    assert abs(differences.mean()) < 4 * differences.std() / np.sqrt(len(differences))
    assert np.abs(differences).max() > 0, "some points move"


def test_a_step_into_the_margin_weighs_nothing() -> None:
    view = LinearView.of(np.array([[0.5, 0, 0, 0, 0]]), [1.0], [1.0, 0, 0, 0, 0], -0.2)
    estimates = SMALL.estimates(view, 0.45)
    assert (estimates.losses[0], estimates.moved_losses[0], estimates.densities[0]) == (0, 1, 0)


def test_a_step_across_the_true_boundary_is_not_made() -> None:
    view = LinearView.of(np.array([[0.5, 0, 0, 0, 0]]), [1.0], [1.0, 0, 0, 0, 0], -0.2)
    estimates = SMALL.estimates(view, 0.6)
    assert (estimates.losses[0], estimates.moved_losses[0]) == (0, 0)
