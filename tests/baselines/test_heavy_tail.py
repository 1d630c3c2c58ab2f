"""Power laws in spectra: closed forms, draws from Pareto laws, values of WeightWatcher, spectra by hand."""

import math

import numpy as np
import pytest
import tensorflow as tf
from scipy.stats import kstest, pareto
from small_networks import dataset, dense, layers, t1

import baselines
from baselines.norm.heavy_tail import fit_power_law

alpha, weighted_alpha, log_alpha_norm = map(baselines.load, ("alpha", "weighted_alpha", "log_alpha_norm"))


def test_two_values():
    """With x_min = 1 alpha is 1 + (2 - 1) / ln e = 2, and the law reaches 1 - 1/e where the data reach 1/2."""
    fit = fit_power_law(np.array([math.e, 1.0]))
    assert fit == pytest.approx((2, 1, 1 / 2 - math.exp(-1)), rel=1e-9)


@pytest.mark.parametrize("exponent", [1.5, 2.5, 6])
def test_draws_from_a_pareto_law(exponent):
    draws = pareto(exponent - 1, scale=0.3).rvs(3000, random_state=1)
    fit = fit_power_law(draws)
    tail = draws[draws >= fit.x_min]
    assert fit.alpha == pytest.approx(1 + 1 / np.mean(np.log(tail / fit.x_min)), rel=1e-9)
    assert fit.alpha == pytest.approx(exponent, abs=4 * (exponent - 1) / math.sqrt(len(tail)))
    statistic = kstest(tail, pareto(fit.alpha - 1, scale=fit.x_min).cdf).statistic  # looks at both sides of each step
    assert fit.distance == pytest.approx(statistic, abs=1.1 / len(tail))


def test_only_the_tail_is_fitted():
    rng = np.random.default_rng(0)
    body, tail = rng.uniform(0.01, 1, 1000), pareto(2, scale=1).rvs(2000, random_state=2)
    fit = fit_power_law(np.concatenate([body, tail]))
    assert fit.x_min == pytest.approx(1, rel=0.2)
    assert fit.alpha == pytest.approx(3, rel=0.1)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (np.random.default_rng(0).normal(size=60) ** 2, (3.7404435718044513, 1.4600339171202577, 0.0880184139989271)),
        (np.exp(2 * np.random.default_rng(1).normal(size=100)), (2.388146603350164, 3.197074613463734, 0.104676508591)),
        (np.random.default_rng(3).normal(size=19) ** 2, (1.4490422072657614, 0.046482136732355114, 0.0980541675650)),
        (np.random.default_rng(2).normal(size=12) ** 2, (1.5204781462515238, 0.07907944080804252, 0.1119051492513)),
        (np.random.default_rng(4).normal(size=6) ** 2, (1.1011837395264514, 2.7073958042910964e-05, 0.342227512190)),
    ],
)
def test_fits_of_weightwatcher(data, expected):
    """What `WWFit` of its version 0.7.7 finds for alpha, x_min and D; below 20 values alpha's bias is corrected."""
    assert fit_power_law(data) == pytest.approx(expected, rel=1e-9)


def test_scale_moves_x_min_alone():
    data = np.random.default_rng(0).normal(size=60) ** 2
    once, twice = fit_power_law(data), fit_power_law(1000 * data)
    assert twice == pytest.approx((once.alpha, 1000 * once.x_min, once.distance), rel=1e-9)


def layer(eigenvalues, seed=0):
    """A kernel whose correlation matrix has these eigenvalues."""
    rng, n = np.random.default_rng(seed), len(eigenvalues)
    left, right = (np.linalg.qr(rng.normal(size=(n, n)))[0] for _ in range(2))
    return (left * np.sqrt(eigenvalues)) @ right


def test_layers_with_known_spectra():
    first, second = (np.exp(np.random.default_rng(seed).normal(size=12)) for seed in (1, 2))
    model = dense(layer(first), layer(second), activation=None)
    fits = [fit_power_law(first).alpha, fit_power_law(second).alpha]
    assert alpha(model, None) == pytest.approx(np.mean(fits), rel=1e-4)
    tops = np.log10([first.max(), second.max()])
    assert weighted_alpha(model, None) == pytest.approx(np.mean(fits * tops), rel=1e-4)
    norms = [math.log10(np.sum(x**a)) for x, a in zip((first, second), fits, strict=True)]
    assert log_alpha_norm(model, None) == pytest.approx(np.mean(norms), rel=1e-4)


def test_scaling_a_layer():
    """By c: eigenvalues times c^2, so both logarithms grow by 2 alpha log10 c."""
    kernel = layer(np.exp(np.random.default_rng(1).normal(size=12)))
    plain, scaled = dense(kernel), dense(10 * kernel)
    exponent = alpha(plain, None)
    assert alpha(scaled, None) == pytest.approx(exponent, rel=1e-4)
    for measure in (weighted_alpha, log_alpha_norm):
        assert measure(scaled, None) - measure(plain, None) == pytest.approx(2 * exponent, rel=1e-4)


def convolution(*middle, channels=5):
    tf.keras.utils.set_random_seed(0)
    return tf.keras.Sequential([tf.keras.Input((6, 6, channels)), *middle, layers.Flatten(), layers.Dense(2)])


def test_a_convolution_is_a_matrix_at_each_place_of_its_window():
    model = convolution(layers.Conv2D(7, 3))
    kernel = model.get_weights()[0].astype(np.float64)
    squares = np.concatenate([np.linalg.svd(kernel[i, j], compute_uv=False) ** 2 for i in range(3) for j in range(3)])
    fit = fit_power_law(squares)  # the dense layer has two eigenvalues and does not count
    assert alpha(model, None) == pytest.approx(fit.alpha, rel=1e-4)
    assert weighted_alpha(model, None) == pytest.approx(fit.alpha * math.log10(squares.max() / 2), rel=1e-4)


def test_normalization_is_not_folded():
    model = convolution(layers.Conv2D(7, 3), layers.BatchNormalization())
    norm = model.layers[1]
    expected = weighted_alpha(model, None)
    norm.set_weights([10 * norm.get_weights()[0], *norm.get_weights()[1:]])
    assert weighted_alpha(model, None) == expected


def test_too_few_eigenvalues_are_refused():
    for model in (t1(), dense(np.zeros((12, 12)))):
        with pytest.raises(baselines.MeasureUnavailable, match="needs a layer with 8 eigenvalues, which"):
            alpha(model, dataset([[1.0, 1.0]], [0]))
    assert alpha(t1(), None, min_eigenvalues=2) > 1


def test_layers_without_a_power_law_do_not_count():
    """Equal eigenvalues, but for rounding, a single one, and eigenvalues up to 1e-5, which are 0."""
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    single, tiny = np.diag([3.0] + [0.0] * 19), 1e-4 * rng.normal(size=(20, 20))
    kernel = rng.normal(size=(20, 20))
    for without in (np.eye(20), rotation, single, tiny):
        with pytest.raises(baselines.MeasureUnavailable, match="needs a layer with eigenvalues that are not all equal"):
            alpha(dense(without), None)
        assert alpha(dense(without, kernel), None) == pytest.approx(alpha(dense(kernel), None), rel=1e-4)
