"""The first principal component of two measures over the models of a task: closed form, orientation, limits."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis.extra.numpy import arrays

from scoring import kendall_tau, pca_gi_mixup

columns = arrays(np.float64, st.tuples(st.integers(2, 12), st.just(2)), elements=st.integers(-50, 50).map(float))


def angle(values: np.ndarray) -> float:
    """Direction of the largest variance, in closed form, in (-pi/2, pi/2]."""
    (a, b), (_, c) = np.cov(values, rowvar=False)
    return float(0.5 * np.arctan2(2 * b, a - c))


def has_one_direction(values: np.ndarray) -> bool:
    (a, b), (_, c) = np.cov(values, rowvar=False)
    return bool(abs(b) > 1e-6 or a > c + 1e-6)


@given(columns)
def test_closed_form(values: np.ndarray) -> None:
    assume(has_one_direction(values))
    loadings = np.array([np.cos(angle(values)), np.sin(angle(values))])
    assert loadings[0] > 0
    assert pca_gi_mixup(values) == pytest.approx((values - values.mean(axis=0)) @ loadings, abs=1e-6)


@given(columns)
def test_two_standardized_measures_count_alike(values: np.ndarray) -> None:
    (a, b), (_, c) = np.cov(values, rowvar=False)
    assume(a > 0 and c > 0 and abs(b) > 1e-6)
    first, second = ((values - values.mean(axis=0)) / values.std(axis=0)).T
    expected = (first + np.sign(b) * second) / np.sqrt(2)
    assert pca_gi_mixup(values, standardize=True) == pytest.approx(expected, abs=1e-6)


def test_by_hand() -> None:
    """Along (3, 4): projections on (0.6, 0.8) of the points less their mean (3, 4)."""
    assert pca_gi_mixup([[0, 0], [3, 4], [6, 8]]) == pytest.approx([-5, 0, 5])
    assert pca_gi_mixup([[0, 0], [3, 4], [6, 8]], standardize=True) == pytest.approx([-np.sqrt(3), 0, np.sqrt(3)])
    assert pca_gi_mixup([[0, 8], [3, 4], [6, 0]]) == pytest.approx([-5, 0, 5])


@given(columns, st.booleans())
def test_accuracy_or_error_of_mixup_makes_no_difference(values: np.ndarray, standardize: bool) -> None:
    assume(has_one_direction(values) and abs(np.cov(values, rowvar=False)[0, 1]) > 1e-6)
    other = np.column_stack([values[:, 0], 1 - values[:, 1]])
    expected = pca_gi_mixup(values, standardize=standardize)
    assert pca_gi_mixup(other, standardize=standardize) == pytest.approx(expected, abs=1e-6)


@given(columns, st.booleans())
def test_it_is_centred_finite_and_follows_the_first_measure(values: np.ndarray, standardize: bool) -> None:
    found = pca_gi_mixup(values, standardize=standardize)
    assert found.shape == (len(values),)
    assert np.isfinite(found).all()
    assert found.mean() == pytest.approx(0, abs=1e-9)
    assert found @ (values[:, 0] - values[:, 0].mean()) >= -1e-6
    explained, present = found.var(), values.var(axis=0)
    assert standardize or explained >= present.max() - 1e-6


def test_a_measure_that_does_not_vary_does_not_count() -> None:
    rising = [0.1, 0.2, 0.3, 0.7]
    for standardize in (False, True):
        for pair in ([rising, [0.1] * 4], [[0.1] * 4, rising]):
            found = pca_gi_mixup(np.transpose(pair), standardize=standardize)
            assert kendall_tau(found, rising) == 1
        assert pca_gi_mixup(np.full((4, 2), 0.1), standardize=standardize).tolist() == [0] * 4
        assert pca_gi_mixup([[0.3, 0.4]], standardize=standardize).tolist() == [0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, 2.0], "expected two measures of each model"),
        (np.ones((3, 3)), r"found \(3, 3\)"),
        (np.ones((0, 2)), r"found \(0, 2\)"),
        ([[1.0, np.nan]], "expected finite numbers"),
        ([[1.0, np.inf]], "expected finite numbers"),
    ],
)
def test_what_is_no_table_of_two_measures_is_refused(values: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pca_gi_mixup(values)  # type: ignore[arg-type]
