"""Tests of noise on the weights: PAC-Bayes bounds and their scales, average losses, and the learning coefficient."""

import math

import numpy as np
import pytest
from matrix import rest
from scipy.optimize import minimize
from small_networks import T1_DATA, dataset, dense, t1, tf, value
from test_sharpness import ONE_FEATURE

import baselines
from baselines import MeasureUnavailable
from baselines.core.kl_bound import log_bound
from baselines.core.streams import stream_seed
from baselines.sharpness.optimized_bound import CONFIDENCE, complexity
from baselines.sharpness.pacbayes import common_variance, isotropic_bound, magnitude_bound
from baselines.sharpness.worst_case import box_bound, magnitude_box_bound

SCALES = ["pacbayes_flatness", "pacbayes_mag_flatness"]

#: Kernels of T1, trained and less initial ones; sigma and m for which the values of its bounds are known.
W = np.array([3.0, 0, 0, 1, 2, 0, 0, 5])
CHANGE = np.array([2.0, 0, 0, 0, 1, 0, 0, 4])
SIGMA, M = 0.5, 1000


def exact_variance(sigma):
    return common_variance(W, sigma, 0) + np.mean(CHANGE**2)


def scale(name, model, data, **parameters):
    return value(name, model, data, **parameters) ** -0.5


def drawn(n_draws, n_weights=2):
    key = stream_seed("noise on weights", 0)
    return np.array([tf.random.stateless_normal((n_weights,), [key, draw]) for draw in range(n_draws)])


def test_bounds_of_t1():
    """Of the initial and the original weights, and that of magnitudes by Dziugaite et al., and the exact one."""
    of_weights, of_change = (common_variance(vector, SIGMA) for vector in (W, CHANGE))
    found = [isotropic_bound(vector, SIGMA, M) for vector in (CHANGE, W)]
    pairs = [(of_change, CHANGE), (of_weights, W), (of_weights, CHANGE), (exact_variance(SIGMA), W)]
    found += [magnitude_bound(variance, vector, SIGMA, M) for variance, vector in pairs]
    assert found == pytest.approx([38.600902, 56.600902, 37.246739, 34.716634, 38.484817, 33.795005], abs=1e-6)


def test_measures_put_their_scale_into_the_bounds():
    model, data = t1(), dataset(*T1_DATA)
    sigma, relative = (scale(name, model, data) for name in SCALES)
    alpha, ratio = (scale(name, model, data) for name in ("sharpness_flatness", "sharpness_mag_flatness"))
    of_weights = common_variance(W, relative)
    expected = {
        "pacbayes_init": isotropic_bound(CHANGE, sigma, 1),
        "pacbayes_orig": isotropic_bound(W, sigma, 1),
        "pacbayes_mag_init": magnitude_bound(common_variance(CHANGE, relative), CHANGE, relative, 1),
        "pacbayes_mag_init_exact": magnitude_bound(exact_variance(relative), W, relative, 1),
        "pacbayes_mag_orig": magnitude_bound(of_weights, W, relative, 1),
        "pacbayes_mag_orig:parity_mag_orig=True": magnitude_bound(of_weights, CHANGE, relative, 1),
        "sharpness_init": box_bound(CHANGE, alpha, 1),
        "sharpness_orig": box_bound(W, alpha, 1),
        "sharpness_mag_init": magnitude_box_bound(CHANGE, ratio, 1),
        "sharpness_mag_orig": magnitude_box_bound(W, ratio, 1),
    }
    assert {name: value(name, model, data) for name in expected} == pytest.approx(expected)


def test_m_is_the_whole_training_set_and_biases_get_noise_but_count_in_the_bounds_only_if_asked_for():
    model, data = dense([[2.0, 0.0]], biases=[[3.0, 0.0]]), dataset([[1.0]], [0])
    sigma = scale("pacbayes_flatness", model, data)
    assert value("pacbayes_orig", model, data) == pytest.approx(isotropic_bound(np.array([2.0]), sigma, 1))
    with_bias = value("pacbayes_orig", model, data, include_bias=True)
    assert with_bias == pytest.approx(isotropic_bound(np.array([2.0, 3.0]), sigma, 1))
    one, many = dataset(*T1_DATA), dataset(T1_DATA[0] * 50, T1_DATA[1] * 50)
    found = [value("pacbayes_orig", t1(), data, n_samples=1) for data in (one, many)]
    assert found[1] - found[0] == pytest.approx(math.log(50))


@pytest.mark.parametrize(("margin", "length"), [rest(1.0, 1.0), rest(0.1, 1.0), (0.3, 5.0)])
@pytest.mark.parametrize("has_bias", [False, True])
def test_sigma_of_a_linear_classifier_in_closed_form(margin, length, has_bias):
    """A draw z changes the prediction if sigma (z_1 - z_0) |x| exceeds the margin; a bias counts as an input of 1."""
    model = dense([[margin / length, 0.0]], biases=[[0.0, 0.0]] if has_bias else None)
    sigma = scale("pacbayes_flatness", model, dataset([[length]], [0]), n_draws=100)
    noise = drawn(100, 4 if has_bias else 2)
    harm = (noise[:, 1::2] - noise[:, ::2]) @ [length, 1.0][: noise.shape[1] // 2]
    assert sigma == pytest.approx(margin / np.sort(harm)[-11], rel=1e-3)  # ten draws exceed it


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 200)
    return dataset(rng.normal(size=(200, 4)) + 4 * np.eye(3, 4)[labels], labels)


def separating():
    first = np.hstack([np.eye(4), np.random.default_rng(1).normal(size=(4, 8))])
    return dense(first, np.vstack([3 * np.eye(4, 3), np.zeros((8, 3))]))


#: Sigma of `separating()` on the blobs by `_pacbayes_sigma` of robust-generalization-measures (Dziugaite et al. 2020,
#: commit 8e90129), with 400 draws and a tolerance of 0.001, mean of three seeds: as published, where the variance is
#: passed as the deviation; and with the root of the variance instead.
PEER = {"pacbayes_flatness": (0.5608, 0.3142), "pacbayes_mag_flatness": (0.4441, 0.4682)}


@pytest.mark.rest
@pytest.mark.parametrize("name", SCALES)
def test_sigma_of_dziugaite_et_al_with_the_deviation_put_right(blobs, name):
    published, put_right = PEER[name]
    found = scale(name, separating(), blobs, n_draws=300)
    assert found == pytest.approx(put_right, rel=0.04)
    if name == "pacbayes_flatness":
        assert published**2 == pytest.approx(found, rel=0.04)


low_pass, entropy, energy = map(baselines.load, ("low_pass_loss", "neg_local_entropy", "local_energy"))

#: Logits (a x, b x) of `ONE_FEATURE`, whose margins are all a - b.
A, B = 2.0, 1.0


@pytest.mark.parametrize("sigma", [0.01, 0.5])
def test_losses_of_a_linear_classifier(sigma):
    model, data, noise = dense([[A, B]]), dataset(*ONE_FEATURE), drawn(50)
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
    model = dense(*arrays[::2], biases=arrays[1::2])
    model.initial_weights = model.get_weights()
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
    model = dense(kernel)
    model.initial_weights = [np.float32(start)]
    found = bound(model, data, n_steps=1500, step_size=0.02, n_draws=2000)
    assert found == pytest.approx(log_bound(error, complexity(best, 2.0, m)), rel=0.03)
