"""Tests of the independence test by adversarial examples, and of its translations: values, bounds, no bias."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring_examples import FEW

from scoring import needed_shifts
from scoring.overfitting import (
    ANY_GENERATOR,
    TRANSLATION,
    RiskEstimates,
    bernstein_half_width,
    bernstein_interval,
    independence_p_value,
    pairwise_independence_test,
)
from scoring.translations import AdversarialGenerator, nearest_translation, strongest_translation

POINTS, VARIANCES = st.integers(10, 10**6), st.floats(0, 0.25)
STATISTICS, RANGES = st.floats(1e-4, 0.5), st.sampled_from([1.0, TRANSLATION, ANY_GENERATOR])


def test_without_a_move_nothing_is_rejected() -> None:
    one, other, none = (independence_p_value(500, 0.0, statistic, 2.0) for statistic in (0.1, -0.1, 0.0))
    assert (one, none) == (other, 1.0)
    losses = [0, 1, 1, 0]
    still = RiskEstimates.of(losses, losses, np.ones(4))
    assert (still.error_rate, still.adversarial_error_rate, still.adversarial_estimate) == (0.5, 0.5, 0.5)
    test = pairwise_independence_test(still)
    assert (test.statistic, test.p_value) == (0.0, 1.0)


@given(POINTS, VARIANCES, STATISTICS, RANGES)
def test_the_printed_formula_and_its_inverse(
    n_points: int, variance: float, statistic: float, value_range: float
) -> None:
    deviation = math.sqrt(variance)
    exponent = variance + 3 * value_range * statistic - deviation * math.sqrt(variance + 6 * value_range * statistic)
    printed = min(1.0, 3 * math.exp(-n_points / (9 * value_range**2) * exponent))
    p_value = independence_p_value(n_points, variance, statistic, value_range)
    assert p_value == pytest.approx(printed, rel=1e-5)
    if 1e-300 < p_value < 1:
        assert bernstein_half_width(n_points, variance, p_value, value_range) == pytest.approx(statistic)


def estimates(seed: int = 0, n_points: int = 400, moved: float = 0.2, density: float = 0.4) -> RiskEstimates:
    random = np.random.default_rng(seed)
    losses = (random.random(n_points) < 0.1).astype(float)
    moved_losses = np.maximum(losses, random.random(n_points) < moved)
    return RiskEstimates.of(losses, moved_losses, np.where(moved_losses > losses, density, random.random(n_points)))


def test_intervals_are_bernstein_bounds_within_the_range_of_a_risk() -> None:
    one = estimates(n_points=4000)
    for values in (one.losses, one.weighted_losses):
        low, high = bernstein_interval(values)
        width = bernstein_half_width(4000, float(values.var()), 0.05, 1.0)
        assert (low, high) == (pytest.approx(values.mean() - width), pytest.approx(values.mean() + width))
    assert bernstein_interval(np.zeros(1000)) == (0.0, pytest.approx(3 * math.log(60) / 1000))
    assert bernstein_interval(np.ones(1000))[1] == 1.0
    assert bernstein_interval(one.losses, 0.99)[1] > bernstein_interval(one.losses)[1]


def test_several_models_are_averaged_point_by_point() -> None:
    several = [estimates(seed) for seed in range(5)]
    differences = np.mean([one.differences for one in several], axis=0)
    test = pairwise_independence_test(*several, difference_range=TRANSLATION)
    assert (test.statistic, test.n_models) == (pytest.approx(differences.mean()), 5)
    assert test.p_value == independence_p_value(400, differences.var(), differences.mean(), TRANSLATION)
    assert pairwise_independence_test(*[several[0]] * 3).p_value == pytest.approx(
        pairwise_independence_test(several[0]).p_value
    )


def of(losses: list[float], moved: list[float], densities: list[float]) -> Callable[[], object]:
    return lambda: RiskEstimates.of(losses, moved, densities)


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (of([0, 1], [0, 1], [1]), "one length"),
        (of([], [], []), "one length"),
        (of([0, 0.5], [0, 1], [1, 1]), "losses: expected 0 or 1"),
        (of([0, 1], [0, 1], [1, 1.5]), "from 0 to 1"),
        (of([0, 1], [0, 1], [1, np.nan]), "from 0 to 1"),
        (of([0, 1], [0, 0], [1, 1]), "leaves misclassified points"),
        (lambda: pairwise_independence_test(estimates(n_points=10), estimates(n_points=11)), "the same points"),
        (pairwise_independence_test, "at least one"),
        (
            lambda: strongest_translation(2).estimates(np.zeros((2, 7, 7))),
            r"expected shape \(n_images, 13, 13\), found \(2, 7, 7\)",
        ),
        (lambda: strongest_translation(1).estimates(np.full((2, 7, 7), np.nan)), "found NaN"),
    ],
)
def test_what_no_generator_and_no_test_set_can_give_is_refused(refused: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        refused()


def around(centre_margins: np.ndarray, radius: int) -> np.ndarray:
    """Return the grid of one image: these margins in its middle, and margins of right predictions elsewhere."""
    grid = np.full((1, 6 * radius + 1, 6 * radius + 1), -1.0)
    first = 3 * radius - centre_margins.shape[0] // 2
    grid[0, first : first + centre_margins.shape[0], first : first + centre_margins.shape[1]] = centre_margins
    return grid


def on_a_torus(margins: np.ndarray, radius: int) -> np.ndarray:
    """Return the grids of all images of a cyclic space: image (i, j) has `margins[i, j]`, and shifts wrap around."""
    size, shifts = len(margins), np.arange(-3 * radius, 3 * radius + 1)
    rows, columns = np.divmod(np.arange(size * size), size)
    return margins[(rows[:, None, None] + shifts[:, None]) % size, (columns[:, None, None] + shifts[None, :]) % size]


GENERATORS = pytest.mark.parametrize(
    "make", [strongest_translation, nearest_translation], ids=lambda make: make.__name__
)


@GENERATORS
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), radius=st.integers(1, 2), wrong=st.floats(0.05, 0.6))
def test_the_weighted_estimate_of_a_model_that_knows_no_test_set_is_its_risk(make, seed, radius, wrong) -> None:
    """This holds exactly over all images of a finite space if the generator preserves the density."""
    margins = np.random.default_rng(seed).normal(size=(8 * radius, 8 * radius))
    margins -= np.quantile(margins, 1 - wrong)
    estimates = make(radius).estimates(on_a_torus(margins, radius))
    assert estimates.adversarial_estimate == pytest.approx(estimates.error_rate)
    assert estimates.adversarial_error_rate >= estimates.error_rate
    moved = estimates.moved_losses > estimates.losses
    assert (estimates.densities[moved] <= 0.5).all()


@given(seed=st.integers(0, 10**6))
def test_both_find_an_adversarial_example_wherever_there_is_one_in_parts_or_at_once(seed: int) -> None:
    margins = np.random.default_rng(seed).normal(loc=-1, size=(20, 7, 7))
    first, second = (make(1).estimates(margins) for make in (strongest_translation, nearest_translation))
    with pytest.MonkeyPatch.context() as patch:  # images are estimated in parts
        patch.setattr("scoring.translations._NUMBERS", 7 * 81)
        np.testing.assert_array_equal(nearest_translation(1).estimates(margins).densities, second.densities)
    np.testing.assert_array_equal(first.moved_losses, second.moved_losses)
    np.testing.assert_array_equal(first.moved_losses > 0, (margins[:, 2:5, 2:5] > 0).any(axis=(1, 2)))


def target(generator: AdversarialGenerator, grid: np.ndarray) -> tuple[int, int]:
    """Return the shift by which the generator moves the image in the middle."""
    moves_to = generator._targets(grid)
    middle = moves_to.shape[1] // 2
    row, column = divmod(int(moves_to[0, middle, middle]), grid.shape[2])
    return row - grid.shape[1] // 2, column - grid.shape[2] // 2


def test_generators_choose_the_largest_margin_or_the_shortest_way() -> None:
    centre = np.array([[0.9, -1, -1], [-1, -1, 0.1], [-1, -1, -1]])
    assert target(strongest_translation(1), around(centre, 1)) == (-1, -1)
    assert target(nearest_translation(1), around(centre, 1)) == (0, 1)
    # As in the paper's Figure 3; the other neighbours are misclassified, and stay.
    margins = around(np.array([[0.1, 0.1, 0.1], [-1, 0.9, -1], [0.1, 0.1, 0.1]]), 1)
    assert strongest_translation(1).estimates(margins).densities[0] == pytest.approx(1 / 3)


@GENERATORS
@pytest.mark.parametrize(
    ("centre", "expected"),
    [
        ([[-1, 0.5, -1], [0.5, -1, 0.5], [-1, 0.5, -1]], (-1, 0)),
        ([[0.9, 0.9, 0.9], [0.9, 0.1, 0.9], [0.9, 0.9, 0.9]], (0, 0)),
        (np.full((3, 3), -0.5), (0, 0)),
        (np.zeros((3, 3)), (0, 0)),
    ],
    ids=["of equals the first from top and left", "misclassified itself", "no misclassified neighbour", "ties"],
)
def test_where_an_image_moves(make, centre, expected) -> None:
    """A tie of two classes counts as a right prediction."""
    assert target(make(1), around(np.array(centre), 1)) == expected
    lone = np.full((3, 3), -1.0)
    lone[1, 1] = 0.5  # the image itself is misclassified, and attracts all its neighbours
    estimates = make(1).estimates(around(lone, 1))
    assert (estimates.error_rate, estimates.adversarial_error_rate) == (1.0, 1.0)
    assert estimates.densities[0] == pytest.approx(1 / 9)


def known_step_by_step(grid: np.ndarray, generators) -> tuple[np.ndarray, int]:
    """Reveal the needed margins of `grid` step by step; return the revealed margins (else NaN) and number of steps."""
    known, steps = np.full_like(grid, np.nan), 0
    while (wanted := needed_shifts(known, generators) & np.isnan(known)).any():
        known[wanted] = grid[wanted]
        steps += 1
    return known, steps


@FEW
@given(seed=st.integers(0, 10**6), largest=st.integers(1, 3), level=st.floats(-2, 1))
def test_they_suffice_for_every_generator(seed: int, largest: int, level: float) -> None:
    grid = np.random.default_rng(seed).normal(level, 1, size=(12, 6 * largest + 1, 6 * largest + 1))
    radii = range(1, largest + 1)
    generators = [make(radius) for make in (strongest_translation, nearest_translation) for radius in radii]
    known, steps = known_step_by_step(grid, generators)
    assert steps <= 3
    for generator in generators:
        inner = slice(3 * (largest - generator.radius), 3 * (largest + generator.radius) + 1)
        expected = generator.estimates(grid[:, inner, inner])
        for unknown in (-np.inf, np.inf):  # at any other margins
            found = generator.estimates(np.where(np.isnan(known), unknown, known)[:, inner, inner])
            np.testing.assert_array_equal(found.moved_losses, expected.moved_losses)
            np.testing.assert_array_equal(found.densities, expected.densities)


def test_images_that_no_candidate_misclassifies_need_no_more_than_the_candidates() -> None:
    known, steps = known_step_by_step(np.full((3, 13, 13), -1.0), [strongest_translation(2)])
    assert (steps, np.isfinite(known).sum()) == (1, 3 * 25)
