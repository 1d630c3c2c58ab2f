"""The shifts that decide the estimates, found step by step."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scoring import nearest_translation, needed_shifts, strongest_translation


def known_step_by_step(grid: np.ndarray, generators) -> tuple[np.ndarray, int]:
    """What is known in the end of a grid, and after how many steps."""
    known, steps = np.full_like(grid, np.nan), 0
    while (wanted := needed_shifts(known, generators) & np.isnan(known)).any():
        known[wanted] = grid[wanted]
        steps += 1
    return known, steps


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
        for unknown in (-np.inf, np.inf):  # whatever the others are
            found = generator.estimates(np.where(np.isnan(known), unknown, known)[:, inner, inner])
            np.testing.assert_array_equal(found.moved_losses, expected.moved_losses)
            np.testing.assert_array_equal(found.densities, expected.densities)


def test_images_that_no_candidate_misclassifies_need_no_more_than_the_candidates() -> None:
    known, steps = known_step_by_step(np.full((3, 13, 13), -1.0), [strongest_translation(2)])
    assert (steps, np.isfinite(known).sum()) == (1, 3 * 25)


def test_they_are_few_where_most_translations_are_misclassified() -> None:
    grid = np.full((1, 31, 31), 1.0)
    known, _ = known_step_by_step(grid, [strongest_translation(5)])
    assert np.isfinite(known).sum() == 121
