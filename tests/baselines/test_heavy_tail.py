"""Power laws in spectra: closed forms, draws from Pareto laws, values of WeightWatcher, spectra by hand."""

import math

import numpy as np
import pytest
from scipy.stats import kstest, pareto
from small_networks import dataset, dense, t1

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


def layer(eigenvalues, seed=0):
    """A kernel whose correlation matrix has these eigenvalues."""
    rng, n = np.random.default_rng(seed), len(eigenvalues)
    left, right = (np.linalg.qr(rng.normal(size=(n, n)))[0] for _ in range(2))
    return (left * np.sqrt(eigenvalues)) @ right


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
