"""Generators that move images at random: where they move them, and estimates without bias."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from translated_images import around, on_a_torus

from scoring import random_translation, random_translation_or_none
from scoring.overfitting import ANY_GENERATOR, RiskEstimates, pairwise_independence_test

GENERATORS = pytest.mark.parametrize(
    "make", [random_translation, random_translation_or_none], ids=lambda make: make.__name__
)


def over_all_draws(make, radius: int, margins: np.ndarray) -> list[RiskEstimates]:
    """The estimates for each shift that may be drawn, the same for all images: all have one probability."""
    generator = make(radius)
    return [generator.estimates(margins, np.full(len(margins), number)) for number in range(len(generator.shifts))]


@GENERATORS
@given(seed=st.integers(0, 10**6), radius=st.integers(1, 2), wrong=st.floats(0.05, 0.6))
def test_the_expectation_of_the_estimate_is_the_risk(make, seed, radius, wrong) -> None:
    """Over all images of a torus and all draws, exactly."""
    margins = np.random.default_rng(seed).normal(size=(8 * radius, 8 * radius))
    margins -= np.quantile(margins, 1 - wrong)
    everything = over_all_draws(make, radius, on_a_torus(margins, radius))
    expected = np.mean([estimates.adversarial_estimate for estimates in everything])
    assert expected == pytest.approx(everything[0].error_rate)


@pytest.mark.parametrize(("make", "density"), [(random_translation, 1 / 2), (random_translation_or_none, 9 / 17)])
def test_a_lone_error_among_correct_neighbours(make, density: float) -> None:
    """Each of eight neighbours moves there with a probability of 1/8, or of 1/9 if it may stay."""
    margins = around(np.array([[-1.0, -1, -1], [-1, 1, -1], [-1, -1, -1]]), 1)
    estimates = make(1).estimates(margins, [0])
    assert (estimates.losses[0], estimates.moved_losses[0]) == (1, 1), "it stays"
    assert estimates.densities[0] == pytest.approx(density)


@GENERATORS
def test_the_density_falls_with_every_correct_neighbour(make) -> None:
    found = []
    for n_correct in range(9):
        neighbours = np.where(np.arange(8) < n_correct, -1.0, 1.0)
        margins = around(np.insert(neighbours, 4, 1.0).reshape(3, 3), 1)
        found.append(make(1).estimates(margins, [0]).densities[0])
    assert found[0] == 1, "misclassified neighbours stay"
    assert (np.diff(found) < 0).all()


def test_only_one_of_them_may_stay() -> None:
    assert random_translation(2).shifts.shape == (24, 2)
    assert random_translation_or_none(2).shifts.shape == (25, 2)
    assert not (random_translation(2).shifts == 0).all(axis=1).any()
    drawn = random_translation(1).draw(4000, np.random.default_rng(0))
    assert np.bincount(drawn, minlength=8).min() > 400


def test_correct_images_move_wherever_they_are_told() -> None:
    margins = around(np.array([[0.5, -1, -1], [-1, -1, -1], [-1, -1, -1]]), 1)
    moved = [estimates.moved_losses[0] for estimates in over_all_draws(random_translation, 1, margins)]
    assert moved == [1, 0, 0, 0, 0, 0, 0, 0]


def test_it_finds_a_fitted_model_only_with_the_wider_range() -> None:
    margins = np.random.default_rng(0).normal(-1.2, 1, size=(3000, 7, 7))
    margins[:, 3, 3] = -1
    generator = random_translation(1)
    estimates = generator.estimates(margins, generator.draw(3000, np.random.default_rng(1)))
    test = pairwise_independence_test(estimates, difference_range=ANY_GENERATOR)
    assert test.statistic > 0
    assert test.p_value < 1e-6


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"drawn: expected shape \(2,\), found \(3,\)"):
        random_translation(1).estimates(np.zeros((2, 7, 7)), [0, 0, 0])
    with pytest.raises(ValueError, match="found NaN"):
        random_translation(1).estimates(np.full((2, 7, 7), np.nan), [0, 0])
