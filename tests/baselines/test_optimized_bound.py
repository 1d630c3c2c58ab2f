"""Tests of the optimized PAC-Bayes bound: its complexity for all priors, and a descent whose end is known."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from small_networks import dataset, dense
from test_sharpness import ONE_FEATURE

import baselines
from baselines import MeasureUnavailable
from baselines.core.kl_bound import log_bound
from baselines.sharpness.optimized_bound import CONFIDENCE, complexity


def trained():
    rng = np.random.default_rng(1)
    kernels, inputs = [rng.normal(size=(4, 8)), rng.normal(size=(8, 3))], rng.normal(size=(300, 4))
    return kernels, inputs, (np.maximum(inputs @ kernels[0], 0) @ kernels[1]).argmax(axis=1)


bound = baselines.load("pacbayes_optimized")


def with_start(model, *kernels):
    model.initial_weights = [np.float32(kernel) for kernel in kernels]
    return model


@pytest.mark.parametrize("distance", [0.0, 0.3, 50.0])
@pytest.mark.parametrize("scale", [-3.0, -0.5])
def test_the_complexity_is_that_of_the_best_prior_there_is(distance, scale):
    logarithms, m = scale + 0.3 * np.random.default_rng(0).normal(size=40), 500
    found = []
    for j in range(1, 3000):
        prior = 0.1 * math.exp(-j / 100)
        divergence = (np.sum(np.exp(2 * logarithms)) + distance) / prior / 2 - 20 + 20 * math.log(prior)
        rest = 2 * math.log(100 * math.log(0.1 / prior)) + math.log(math.pi**2 * m / (6 * CONFIDENCE))
        found.append((divergence - logarithms.sum() + rest) / (m - 1))
    assert complexity(logarithms, distance, m) == pytest.approx(min(found), rel=1e-3)


def test_noise_on_which_nothing_depends_becomes_that_of_the_prior():
    """All units are dead, so the noise becomes the prior's; of the complexity, only the choice of the prior remains."""
    arrays = [[[-1.0, -2.0]], [0.0, 0.0], [[0.5, 0.2], [0.1, 0.3]], [5.0, 0.0]]
    model = with_start(dense(*arrays[::2], biases=arrays[1::2]), *arrays)
    data = dataset(np.ones((100, 1)), np.arange(100) // 90)
    rest = math.log(math.pi**2 * 100 / (6 * CONFIDENCE))
    choices = [log_bound(0.1, (2 * math.log(j) + rest) / 99) for j in (1, 1000)]
    assert choices[0] < bound(model, data, n_steps=600) < choices[1]
    assert bound(model, data, n_steps=0) > choices[1]
    with pytest.raises(MeasureUnavailable, match="needs two training examples"):
        bound(with_start(dense([[1.0, 0.0]]), [[0.0, 0.0]]), dataset([[1.0]], [0]))


@pytest.mark.rest
def test_the_descent_ends_where_the_objective_is_smallest():
    """The logits are (a x, b x), so the loss depends only on the noise of a - b, which is normal."""
    kernel, start, m = [[1.5, -1.0]], [[0.5, 0.0]], 400
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()

    def objective(logarithms):
        width = math.sqrt(np.exp(2 * logarithms).sum())
        losses = np.logaddexp(0, -(2.5 + width * points)) / math.log(2)
        return weights @ losses + math.sqrt(complexity(logarithms, 2.0, m) / 2)

    best = minimize(objective, np.log([0.3, 0.3]), method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-10}).x
    error = math.erfc(2.5 / math.sqrt(2 * np.exp(2 * best).sum())) / 2
    data = dataset(ONE_FEATURE[0] * 5, ONE_FEATURE[1] * 5)
    found = bound(with_start(dense(kernel), start), data, n_steps=1500, step_size=0.02, n_draws=2000)
    assert found == pytest.approx(log_bound(error, complexity(best, 2.0, m)), rel=0.03)


@pytest.mark.rest
def test_optimized_noise_gives_a_smaller_bound_and_a_way_from_the_start_a_larger_one():
    kernels, inputs, labels = trained()
    data = dataset(inputs, labels)
    near, far = (with_start(dense(*kernels), *(share * kernel for kernel in kernels)) for share in (0.9, -1))
    assert bound(near, data) < 0.9 * bound(near, data, n_steps=0)
    assert bound(near, data) < bound(far, data)
    assert np.array_equal(near.get_weights()[0], np.float32(kernels[0]))
