"""Averages over noise on the weights: closed forms of a linear classifier, and what scale changes."""

import math

import numpy as np
import pytest
from small_networks import dataset, dense, tf
from test_sharpness import ONE_FEATURE

import baselines
from baselines.core.streams import stream_seed

low_pass, entropy, energy = map(baselines.load, ("low_pass_loss", "neg_local_entropy", "local_energy"))

#: Logits (a x, b x) of `ONE_FEATURE`, whose margins are all a - b.
A, B = 2.0, 1.0


def drawn(n_draws):
    """The noise (n_draws, 2) on the two weights."""
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


def small():
    rng = np.random.default_rng(1)
    return [rng.normal(size=(4, 6)), rng.normal(size=(6, 3))], dataset(rng.normal(size=(60, 4)), np.arange(60) % 3)


@pytest.mark.rest
@pytest.mark.parametrize("sigma", [0.01, 1.0])
def test_entropy_is_at_most_the_filtered_loss_and_both_are_the_loss_without_noise(sigma):
    (first, second), data = small()
    model = dense(first, second)
    assert 0 <= entropy(model, data, gamma=sigma**-2) <= low_pass(model, data, sigma=sigma)
    loss = baselines.load("cross_entropy")(model, data)
    assert low_pass(model, data, sigma=1e-6) == pytest.approx(loss, rel=1e-4)
    assert entropy(model, data, gamma=1e12) == pytest.approx(loss, rel=1e-4)
