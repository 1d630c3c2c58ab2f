"""Error rates and kappas of classes: closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scoring import error_rates, one_vs_rest_kappas

CONFUSIONS = (
    st.integers(2, 6)
    .flatmap(lambda n: arrays(np.int64, (n, n), elements=st.integers(0, 30)))
    .map(
        lambda counts: counts + np.eye(len(counts), dtype=np.int64)  # an example of every class at least
    )
)


def test_the_example_with_twenty_of_twenty_five():
    both = one_vs_rest_kappas([[20, 5], [10, 15]])
    assert both == pytest.approx([0.4, 0.4])
    assert error_rates([[20, 5], [10, 15]]) == pytest.approx([0.2, 0.4])


def test_a_perfect_prediction():
    counts = np.diag([3, 10, 1])
    assert one_vs_rest_kappas(counts) == pytest.approx(1)
    assert (error_rates(counts) == 0).all()


def test_an_independent_prediction_is_chance():
    counts = np.outer([10, 20, 30], [6, 3, 1])
    assert one_vs_rest_kappas(counts) == pytest.approx(0, abs=1e-12)


def test_only_one_class_is_agreed_upon_trivially():
    assert one_vs_rest_kappas([[7]]) == 1


def test_of_two_classes_both_have_the_usual_kappa():
    from sklearn.metrics import cohen_kappa_score

    true, given_ = np.repeat([0, 0, 1, 1], [20, 5, 10, 15]), np.repeat([0, 1, 0, 1], [20, 5, 10, 15])
    assert one_vs_rest_kappas([[20, 5], [10, 15]]) == pytest.approx(cohen_kappa_score(true, given_))


@given(CONFUSIONS)
def test_each_class_has_the_kappa_of_its_own_table(counts):
    total = counts.sum()
    for number, kappa in enumerate(one_vs_rest_kappas(counts)):
        hit = counts[number, number]
        missed, wrongly = counts[number].sum() - hit, counts[:, number].sum() - hit
        table = np.array([[hit, missed], [wrongly, total - hit - missed - wrongly]]) / total
        expected = table.sum(axis=1) @ table.sum(axis=0)
        assert kappa == pytest.approx((np.trace(table) - expected) / (1 - expected) if expected < 1 else 1)


@given(CONFUSIONS, st.randoms(use_true_random=False))
def test_renumbering_the_classes_renumbers_the_results(counts, random):
    order = random.sample(range(len(counts)), len(counts))
    shuffled = counts[np.ix_(order, order)]
    np.testing.assert_allclose(one_vs_rest_kappas(shuffled), one_vs_rest_kappas(counts)[order])
    np.testing.assert_allclose(error_rates(shuffled), error_rates(counts)[order])


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1, 2]], "expected a square matrix"),
        ([[1, -2], [1, 1]], "negative or not finite"),
        ([[1, 2], [0, 0]], "found none of class 1"),
    ],
)
def test_other_matrices_are_refused(counts, message):
    for function in (error_rates, one_vs_rest_kappas):
        with pytest.raises(ValueError, match=message):
            function(counts)
