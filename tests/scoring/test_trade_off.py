"""The trade-off point: corners, minima, and the weight of the penalty."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring import trade_off

SIZES, SSIM, UNSEEN = [100.0, 250.0, 1000.0], [0.6, 0.8, 1.0], [0.0, 0.25, 0.5]
CONSTANT = np.ones((3, 3, 3))


def cells(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0, 3, (3, 3, 3))


@pytest.mark.parametrize("settings", [{}, {"grid_only": True}, {"normalize_axes": True}])
def test_a_constant_objective_leaves_the_corner(settings):
    found = trade_off(CONSTANT, SIZES, SSIM, UNSEEN, **settings)
    assert (found.size, found.ssim, found.unseen) == (100, 0.6, 0.5)
    assert found.objective == pytest.approx(1)


def test_the_penalty_at_the_corner():
    assert trade_off(CONSTANT, SIZES, SSIM, UNSEEN).penalty == pytest.approx(0.5**2 + 0.6**2)
    assert trade_off(CONSTANT, SIZES, SSIM, UNSEEN, normalize_axes=True).penalty == 0


@given(st.integers(0, 1000), st.booleans())
def test_without_a_penalty_it_is_the_smallest_objective(seed, grid_only):
    objective = cells(seed)
    found = trade_off(objective, SIZES, SSIM, UNSEEN, weight=0, grid_only=grid_only)
    size, ssim, unseen = np.unravel_index(objective.argmin(), objective.shape)
    assert (found.size, found.ssim, found.unseen) == (SIZES[size], SSIM[ssim], UNSEEN[unseen])
    assert found.objective == pytest.approx(objective.min())


@given(st.integers(0, 1000), st.floats(0, 5), st.floats(0, 5))
def test_a_heavier_penalty_buys_a_smaller_one(seed, first, second):
    light, heavy = (trade_off(cells(seed), SIZES, SSIM, UNSEEN, weight=w) for w in sorted((first, second)))
    assert heavy.penalty <= light.penalty + 1e-9
    assert heavy.objective >= light.objective - 1e-9


def test_between_cells_a_linear_objective_is_found_exactly():
    """J = -2 a x with x = ssim and penalty x^2 is smallest at x = a."""
    objective = np.broadcast_to(-2 * 0.8 * np.array([0.6, 1.0])[:, None], (1, 2, 1))
    found = trade_off(objective, [5], [0.6, 1.0], [0.0])
    assert found.ssim == pytest.approx(0.8)
    assert trade_off(objective, [5], [0.6, 1.0], [0.0], grid_only=True).ssim in (0.6, 1.0)


def test_other_arrays_are_interpolated_at_the_point():
    size, ssim, unseen = np.meshgrid(SIZES, SSIM, UNSEEN, indexing="ij")
    found = trade_off(cells(3), SIZES, SSIM, UNSEEN, also={"linear": size + 10 * ssim - unseen})
    assert found.values["linear"] == pytest.approx(found.size + 10 * found.ssim - found.unseen)


def test_one_cell_is_the_point():
    found = trade_off([[[2.0]]], [7], [1.0], [0.0], also={"error": [[[0.25]]]})
    assert (found.size, found.ssim, found.unseen, found.objective, found.values["error"]) == (7, 1, 0, 2, 0.25)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sizes": [1, 1, 2]}, "sizes: expected ascending"),
        ({"unseen": [0.0, 0.1]}, "objective: expected shape"),
        ({"objective": np.full((3, 3, 3), np.nan)}, "objective: expected finite"),
        ({"weight": -1}, "weight: expected a finite number"),
    ],
)
def test_other_arguments_are_refused(settings, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        trade_off(**({"objective": CONSTANT, "sizes": SIZES, "ssim": SSIM, "unseen": UNSEEN} | settings))
