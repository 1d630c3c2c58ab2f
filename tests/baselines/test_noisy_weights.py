"""Tests of noise on the weights: average losses, the learning coefficient, and the optimized PAC-Bayes bound."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from small_networks import dataset, dense, random_problem, tf
from test_sharpness import ONE_FEATURE

import baselines
from baselines import MeasureUnavailable
from baselines.core.kl_bound import log_bound
from baselines.core.streams import stream_seed
from baselines.sharpness.optimized_bound import CONFIDENCE, complexity

low_pass, entropy, energy = map(baselines.load, ("low_pass_loss", "neg_local_entropy", "local_energy"))

#: Logits (a x, b x) of `ONE_FEATURE`, whose margins are all a - b.
A, B = 2.0, 1.0


def drawn(n_draws):
    """Return the noise that the measure draws for two weights, of shape (n_draws, 2)."""
    key = stream_seed("noise on weights", 0)
    return np.array([tf.random.stateless_normal((2,), [key, draw]) for draw in range(n_draws)])


@pytest.mark.parametrize("sigma", [0.01, 0.5])
def test_losses_of_a_linear_classifier(sigma):
    model, data = dense([[A, B]]), dataset(*ONE_FEATURE)
    noise = drawn(50)
    losses = np.logaddexp(0, -(A - B + sigma * (noise[:, 0] - noise[:, 1])))
    assert low_pass(model, data, sigma=sigma, n_draws=50) == pytest.approx(losses.mean(), rel=1e-5)
    expected = -math.log(np.mean(np.exp(-losses)))
    assert entropy(model, data, gamma=sigma**-2, n_draws=50) == pytest.approx(expected, rel=1e-5)


def test_energy_of_a_linear_classifier():
    model, data, sigma = dense([[A, B]]), dataset(*ONE_FEATURE), 0.7
    noise = drawn(200)
    wrong = A - B + sigma * (A * noise[:, 0] - B * noise[:, 1]) < 0
    assert energy(model, data, sigma=sigma, n_draws=200) == pytest.approx(wrong.mean())
    expected = math.erfc((A - B) / (sigma * math.hypot(A, B)) / math.sqrt(2)) / 2
    assert wrong.mean() == pytest.approx(expected, abs=4 * math.sqrt(expected / 200))
    assert energy(model, data, sigma=1e-6) == 0


@pytest.mark.rest
@pytest.mark.parametrize("sigma", [0.01, 1.0])
def test_entropy_is_at_most_the_filtered_loss_and_both_are_the_loss_without_noise(sigma):
    (first, second), *examples = random_problem(4, 6, 3)
    model, data = dense(first, second), dataset(*examples)
    assert 0 <= entropy(model, data, gamma=sigma**-2) <= low_pass(model, data, sigma=sigma)
    loss = baselines.load("cross_entropy")(model, data)
    assert low_pass(model, data, sigma=1e-6) == pytest.approx(loss, rel=1e-4)
    assert entropy(model, data, gamma=1e12) == pytest.approx(loss, rel=1e-4)


coefficient = baselines.load("local_learning_coefficient")

#: Four features with a coin each: at weights of zero the Hessian has 1/8 four times, and zero four times, as only the
#: difference of two logits matters. So there are four regular directions among eight weights.
COINS = dataset(np.tile(np.eye(4), (1000, 1)), np.arange(4000) // 4 % 2)
FAIR = np.zeros((4, 2))
TEMPERATURE = 4000 / math.log(4000)


@pytest.mark.rest
@pytest.mark.parametrize(("gamma", "batch"), [(1.0, 4000), (TEMPERATURE / 8, 500)])
def test_half_the_number_of_regular_directions_less_what_the_pull_takes(gamma, batch):
    step, slope = 2e-3, TEMPERATURE / 8 + gamma
    found = coefficient(
        dense(FAIR), COINS, step_size=step, gamma=gamma, n_chains=3, n_draws=1000, batch=batch, n_samples=4000
    )
    expected = 4 / 2 * TEMPERATURE / 8 / slope
    of_batches = 0 if batch == 4000 else step * TEMPERATURE**2 / 8 / 4 / batch
    expected *= (1 + of_batches) / (1 - step * slope / 4)  # steps are finite, and batches add noise of their own
    assert found == pytest.approx(expected, rel=0.12)


@pytest.mark.rest
def test_weights_on_which_nothing_depends_do_not_count():
    """Weights that lead into a dead unit or out of it do not count."""
    idle = np.concatenate([np.eye(4), np.full((4, 1), -50.0)], axis=1)
    first, second = idle, np.concatenate([FAIR, [[1.0, -1.0]]])
    options = {"step_size": 1e-2, "gamma": 10.0, "n_chains": 2, "n_draws": 1000, "batch": 4000, "n_samples": 4000}
    alone = coefficient(dense(np.eye(4), FAIR), COINS, **options)
    assert coefficient(dense(first, second), COINS, **options) == pytest.approx(alone, rel=0.1)


def test_a_single_step_in_closed_form():
    """The loss is evaluated before each step: the first draw is the trained point, the second is one step away."""
    model, data = dense([[1.0, 0.0]]), dataset(np.ones((100, 1)), np.zeros(100))
    assert coefficient(model, data, n_chains=3, n_burn_in=0, n_draws=1) == pytest.approx(0, abs=1e-5)
    tiny = {"gamma": 0.0, "n_chains": 400, "n_burn_in": 1, "n_draws": 1, "step_size": 0.01}
    found, nbeta, p = coefficient(model, data, **tiny), 100 / math.log(100), 1 / (1 + math.e)
    drift, curvature = -2 * (nbeta * 0.01 / 2) * p**2, p * (1 - p)  # of the loss: slope times step, half variance
    assert found == pytest.approx(nbeta * (drift + curvature * 0.01), abs=4 * nbeta * p * math.sqrt(0.02 / 400))


def test_chains_repeat_by_seed_and_tell_if_they_run_away():
    model = dense(np.random.default_rng(0).normal(size=(4, 2)))
    short = {"n_draws": 20, "n_burn_in": 5, "batch": 64}
    first = coefficient(model, COINS, **short)
    assert coefficient(model, COINS, **short) == first
    assert coefficient(model, COINS, **short, seed=1) != first
    with pytest.raises(MeasureUnavailable, match="ran away with steps of 1000"):
        coefficient(dense(np.eye(4), FAIR), COINS, step_size=1e3)


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
    """All units are dead, so the noise becomes the prior's, and only choosing the prior adds to the complexity."""
    arrays = [[[-1.0, -2.0]], [0.0, 0.0], [[0.5, 0.2], [0.1, 0.3]], [5.0, 0.0]]
    model = with_start(dense(*arrays[::2], biases=arrays[1::2]), *arrays)
    data = dataset(np.ones((100, 1)), np.arange(100) // 90)
    rest = math.log(math.pi**2 * 100 / (6 * CONFIDENCE))
    choices = [log_bound(0.1, (2 * math.log(j) + rest) / 99) for j in (1, 1000)]
    assert choices[0] < bound(model, data, n_steps=600) < choices[1]
    assert bound(model, data, n_steps=0) > choices[1]


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
