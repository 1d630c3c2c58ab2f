"""Tests of spectra of weights: power laws, and distances from the spectra of random matrices."""

import math

import numpy as np
import pytest
from scipy.stats import kstest, pareto
from small_networks import dense, layers, sequential, t1

import baselines
from baselines.norm.heavy_tail import fit_power_law

distance, soft_rank = map(baselines.load, ("rand_distance", "mp_soft_rank"))
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(600, 200), (100, 500), (400, 380)])
def test_random_matrices(shape):
    kernel = RNG.normal(size=shape)
    assert soft_rank(dense(kernel), None) == pytest.approx(1, abs=0.06)
    assert -0.02 < distance(dense(kernel), None) <= 0


def test_square_matrices_have_a_quarter_circle_whose_radius_stays_2():
    """The values are those of WeightWatcher 0.7.7. The density (4 - x^2)^(1/2) / (pi sigma^2) needs sigma = 1 for
    integral 1.
    """
    assert soft_rank(dense(np.eye(24)), None) == pytest.approx(0.440035, abs=1e-5)
    assert soft_rank(dense(np.diag([3.0] + [0.0] * 19)), None) == pytest.approx(0.026661, abs=1e-5)


def test_a_spike_rises_above_the_bulk():
    kernel = RNG.normal(size=(300, 200))
    left, right = (np.linalg.qr(RNG.normal(size=(n, 1)))[0] for n in kernel.shape)
    spiked = kernel + 300 * left @ right.T
    largest = np.linalg.svd(spiked, compute_uv=False)[0] ** 2
    edge = (math.sqrt(300) + math.sqrt(200)) ** 2
    assert soft_rank(dense(spiked), None) == pytest.approx(edge / largest, rel=0.05)
    assert distance(dense(spiked), None) < distance(dense(kernel), None) - 0.1


@pytest.mark.parametrize("measure", [distance, soft_rank])
def test_scale_does_not_matter(measure):
    first, second = RNG.normal(size=(20, 15)) * np.arange(1, 16), RNG.normal(size=(15, 12))
    expected = measure(dense(first, second), None)
    assert measure(dense(7 * first, second / 3), None) == pytest.approx(expected, rel=1e-4)
    assert measure(dense(first, second), None) == expected


def test_equal_weights_in_any_order_are_the_same_matrix():
    constant = np.ones((12, 12))
    assert distance(dense(constant), None, min_eigenvalues=1) == pytest.approx(0, abs=1e-4)


def test_layers_of_one_channel_do_not_count_because_every_order_has_their_spectrum():
    """An example is the first convolution of grey images. Rounding once made some of these distances NaN."""
    kernel = RNG.normal(size=(192, 12)) * np.exp(RNG.normal(size=12))
    grey = sequential((6, 6, 1), layers.Conv2D(12, 3, use_bias=False), layers.Flatten(), layers.Dense(12))
    grey.set_weights([RNG.normal(size=(3, 3, 1, 12)), kernel, np.zeros(12)])
    alone = distance(dense(kernel), None, n_draws=20)
    assert alone < -0.05
    assert distance(grey, None, n_draws=20) == pytest.approx(alone, rel=0.05)
    with pytest.raises(baselines.MeasureUnavailable, match="needs a layer of several input and output channels"):
        distance(dense(RNG.normal(size=(12, 1))), None, min_eigenvalues=1)


def test_weights_of_a_convolution_are_permuted_at_each_place_of_its_window():
    model = sequential((6, 6, 8), layers.Conv2D(12, 3), layers.GlobalAveragePooling2D())
    kernel = np.random.default_rng(0).normal(size=(3, 3, 8, 12))
    kernel[0, 0] *= 30  # larger than other places, in any order of its own weights
    model.layers[0].set_weights([kernel, np.zeros(12)])
    alone = distance(dense(kernel[0, 0]), None, n_draws=20)
    assert distance(model, None, n_draws=20) == pytest.approx(alone, rel=0.15)


alpha, weighted_alpha, log_alpha_norm = map(baselines.load, ("alpha", "weighted_alpha", "log_alpha_norm"))


def test_two_values():
    """With x_min = 1, alpha is 1 + (2 - 1) / ln e = 2; the law's distribution is 1 - 1/e where the data's is 1/2."""
    fit = fit_power_law(np.array([math.e, 1.0]))
    assert fit == pytest.approx((2, 1, 1 / 2 - math.exp(-1)), rel=1e-9)


@pytest.mark.parametrize("exponent", [1.5, 2.5, 6])
def test_draws_from_a_pareto_law(exponent):
    draws = pareto(exponent - 1, scale=0.3).rvs(3000, random_state=1)
    fit = fit_power_law(draws)
    tail = draws[draws >= fit.x_min]
    assert fit.alpha == pytest.approx(1 + 1 / np.mean(np.log(tail / fit.x_min)), rel=1e-9)
    assert fit.alpha == pytest.approx(exponent, abs=4 * (exponent - 1) / math.sqrt(len(tail)))
    statistic = kstest(tail, pareto(fit.alpha - 1, scale=fit.x_min).cdf).statistic  # both sides of each step
    assert fit.distance == pytest.approx(statistic, abs=1.1 / len(tail))


@pytest.mark.parametrize("measure", [distance, soft_rank, alpha])
def test_too_few_eigenvalues_are_refused(measure):
    for model in (t1(), dense(np.zeros((7, 12)))):
        with pytest.raises(baselines.MeasureUnavailable, match="needs a layer with 8 eigenvalues, which"):
            measure(model, None)
    assert alpha(t1(), None, min_eigenvalues=2) > 1


def test_layers_without_a_power_law_do_not_count():
    """Such layers have equal eigenvalues (up to rounding), a single eigenvalue, or no eigenvalue above 1e-5."""
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    single, tiny = np.diag([3.0] + [0.0] * 19), 1e-4 * rng.normal(size=(20, 20))
    kernel = rng.normal(size=(20, 20))
    for without in (np.eye(20), rotation, single, tiny):
        with pytest.raises(baselines.MeasureUnavailable, match="needs a layer with eigenvalues that are not all equal"):
            alpha(dense(without), None)
        assert alpha(dense(without, kernel), None) == pytest.approx(alpha(dense(kernel), None), rel=1e-4)
