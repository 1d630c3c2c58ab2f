"""Generators by translation: where they move images, and estimates without bias."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from translated_images import around, on_a_torus

from scoring.translations import AdversarialGenerator, nearest_translation, strongest_translation

GENERATORS = pytest.mark.parametrize(
    "make", [strongest_translation, nearest_translation], ids=lambda make: make.__name__
)


@GENERATORS
@given(seed=st.integers(0, 10**6), radius=st.integers(1, 2), wrong=st.floats(0.05, 0.6))
def test_the_weighted_estimate_of_a_model_that_knows_no_test_set_is_its_risk(make, seed, radius, wrong) -> None:
    """Over all images of a finite space, exactly: the generator preserves the density."""
    margins = np.random.default_rng(seed).normal(size=(8 * radius, 8 * radius))
    margins -= np.quantile(margins, 1 - wrong)
    estimates = make(radius).estimates(on_a_torus(margins, radius))
    assert estimates.adversarial_estimate == pytest.approx(estimates.error_rate)
    assert estimates.adversarial_error_rate >= estimates.error_rate
    moved = estimates.moved_losses > estimates.losses
    assert (estimates.densities[moved] <= 0.5).all()


@given(seed=st.integers(0, 10**6))
def test_both_find_an_adversarial_example_wherever_there_is_one(seed: int) -> None:
    margins = np.random.default_rng(seed).normal(loc=-1, size=(20, 7, 7))
    first, second = (make(1).estimates(margins) for make in (strongest_translation, nearest_translation))
    np.testing.assert_array_equal(first.moved_losses, second.moved_losses)
    np.testing.assert_array_equal(first.moved_losses > 0, (margins[:, 2:5, 2:5] > 0).any(axis=(1, 2)))


def test_two_correct_points_moved_onto_one_wrong_point_weigh_a_third() -> None:
    """As in the paper's Figure 3; the other neighbours are misclassified, and stay."""
    margins = around(np.array([[0.1, 0.1, 0.1], [-1, 0.9, -1], [0.1, 0.1, 0.1]]), 1)
    assert strongest_translation(1).estimates(margins).densities[0] == pytest.approx(1 / 3)


@given(seed=st.integers(0, 10**6))
def test_the_weighted_estimate_varies_less_than_the_ordinary_one(seed: int) -> None:
    margins = np.random.default_rng(seed).normal(-0.5, 1, size=(8, 8))
    estimates = strongest_translation(1).estimates(on_a_torus(margins, 1))
    assert estimates.weighted_losses.var() <= estimates.losses.var() + 1e-12


def test_a_large_number_of_images_is_estimated_in_parts(monkeypatch) -> None:
    margins = np.random.default_rng(0).normal(-1, 1, size=(50, 13, 13))
    whole = nearest_translation(2).estimates(margins)
    monkeypatch.setattr("scoring.translations._NUMBERS", 7 * 81 * 25)
    np.testing.assert_array_equal(nearest_translation(2).estimates(margins).densities, whole.densities)


def target(generator: AdversarialGenerator, grid: np.ndarray) -> tuple[int, int]:
    """The shift by which the image in the middle moves."""
    moves_to = generator._targets(grid)
    middle = moves_to.shape[1] // 2
    row, column = divmod(int(moves_to[0, middle, middle]), grid.shape[2])
    return row - grid.shape[1] // 2, column - grid.shape[2] // 2


def test_the_strongest_has_the_largest_margin_and_the_nearest_the_shortest_way() -> None:
    centre = np.array([[0.9, -1, -1], [-1, -1, 0.1], [-1, -1, -1]])
    assert target(strongest_translation(1), around(centre, 1)) == (-1, -1)
    assert target(nearest_translation(1), around(centre, 1)) == (0, 1)


@GENERATORS
def test_of_equals_the_first_from_the_top_and_the_left_is_chosen(make) -> None:
    centre = np.array([[-1, 0.5, -1], [0.5, -1, 0.5], [-1, 0.5, -1]])
    assert target(make(1), around(centre, 1)) == (-1, 0)


@GENERATORS
def test_misclassified_images_stay_and_so_do_those_without_a_misclassified_neighbour(make) -> None:
    assert target(make(1), around(np.array([[0.9, 0.9, 0.9], [0.9, 0.1, 0.9], [0.9, 0.9, 0.9]]), 1)) == (0, 0)
    assert target(make(1), around(np.full((3, 3), -0.5), 1)) == (0, 0)
    assert target(make(1), around(np.zeros((3, 3)), 1)) == (0, 0), "a tie of two classes is not an error"


@GENERATORS
def test_a_lone_misclassified_translation_attracts_all_its_neighbours(make) -> None:
    centre = np.full((3, 3), -1.0)
    centre[1, 1] = 0.5  # the image itself
    estimates = make(1).estimates(around(centre, 1))
    assert (estimates.error_rate, estimates.adversarial_error_rate) == (1.0, 1.0)
    assert estimates.densities[0] == pytest.approx(1 / 9)


def test_a_grid_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected shape \(n_images, 13, 13\), found \(2, 7, 7\)"):
        strongest_translation(2).estimates(np.zeros((2, 7, 7)))
    with pytest.raises(ValueError, match="found NaN"):
        strongest_translation(1).estimates(np.full((2, 7, 7), np.nan))
