"""Tests of the marginal likelihood of labels: probabilities of signs, covariances of random networks in closed form."""

import math

import numpy as np
import pytest
import tensorflow as tf
from small_networks import dataset, dense, layers, sequential

import baselines
from baselines import MeasureUnavailable
from baselines.core.subject import Subject
from baselines.size.marginal_likelihood import NOISE, random_covariance
from baselines.size.orthant import log_probability

bound = baselines.load("marginal_likelihood_bound")


def correlated(*correlations):
    found = np.eye(2 if len(correlations) == 1 else 3)
    for (i, j), value in zip([(0, 1), (0, 2), (1, 2)], correlations, strict=False):
        found[i, j] = found[j, i] = value
    return found


def test_independent_signs_are_coins():
    for noise in (0.0, 0.3):
        signs = np.array([1, -1, 1, 1])
        assert log_probability(np.diag([1.0, 2.0, 0.1, 5.0]), signs, noise) == pytest.approx(-4 * math.log(2))


@pytest.mark.parametrize("correlations", [(0.5,), (0.9,), (-0.6,), (0.5, 0.2, -0.3), (0.8, 0.7, 0.6)])
@pytest.mark.parametrize("noise", [0.01, 0.5])
def test_two_or_three_signs(correlations, noise):
    size = 2 if len(correlations) == 1 else 3
    angles = sum(math.asin(value / (1 + noise)) for value in correlations)
    expected = 1 / 4 + angles / (2 * math.pi) if size == 2 else 1 / 8 + angles / (4 * math.pi)
    found = math.exp(log_probability(correlated(*correlations), np.ones(size), noise))
    assert found == pytest.approx(expected, rel=0.03)


def test_many_signs_against_draws():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(6, 4))
    covariance = factors @ factors.T / 4
    drawn = rng.normal(size=(400_000, 4)) @ factors.T / 2 + math.sqrt(0.05) * rng.normal(size=(400_000, 6))
    signs = np.sign(drawn[0])
    found = math.exp(log_probability(covariance, signs, 0.05))
    assert found == pytest.approx(np.mean((drawn * signs > 0).all(axis=1)), rel=0.1)


def of_relus(images):
    """Return the arc-cosine kernel (Cho and Saul 2009): the covariance of a wide layer of ReLUs, up to its scale."""
    norms = np.linalg.norm(images, axis=1)
    angles = np.arccos(np.clip(images @ images.T / np.outer(norms, norms), -1, 1))
    return np.outer(norms, norms) * (np.sin(angles) + (math.pi - angles) * np.cos(angles))


def test_a_wide_hidden_layer_has_the_covariance_of_its_limit():
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(12, 5))
    subject = Subject(dense(rng.normal(size=(5, 400)), rng.normal(size=(400, 2))), dataset(inputs, np.arange(12) % 2))
    expected = of_relus(subject.sample(12).inputs)
    expected = expected / np.diag(expected).mean()
    np.testing.assert_allclose(random_covariance(subject, 12, 200, 0), expected, atol=0.03)


@pytest.mark.rest
@pytest.mark.parametrize("narrow", [2, 8])
def test_branches_that_are_added_have_the_covariance_of_their_sum(narrow):
    """The branches are a linear layer, whose covariance is twice that of its inputs, and a wide layer of ReLUs."""
    rng = np.random.default_rng(5)
    inputs, source = rng.normal(size=(12, 5)).astype(np.float32), tf.keras.Input((5,))
    branches = [layers.Dense(narrow)(source), layers.Dense(400, "relu")(source)]
    model = tf.keras.Model(source, layers.Add()([layers.Dense(2)(branch) for branch in branches]))
    subject = Subject(model, dataset(inputs, np.arange(12) % 2))
    images = subject.sample(12).inputs.astype(float)
    expected = images @ images.T + of_relus(images) / (2 * math.pi)
    expected = expected / np.diag(expected).mean()
    np.testing.assert_allclose(random_covariance(subject, 12, 3000, 0), expected, atol=0.06)


def kinds_of_layers():
    middle = [layers.Conv2D(4, 3), layers.BatchNormalization(), layers.PReLU(), layers.DepthwiseConv2D(2)]
    end = [layers.SeparableConv2D(5, 2), layers.LayerNormalization(), layers.Conv2DTranspose(3, 2), layers.Flatten()]
    return sequential((7, 7, 2), *middle, *end, layers.Dense(9, "relu"), layers.Dense(4))


@pytest.mark.rest
def test_trained_weights_and_the_scale_of_inputs_do_not_matter():
    rng = np.random.default_rng(2)
    images, labels = rng.normal(size=(40, 7, 7, 2)), np.arange(40) % 4
    model = kinds_of_layers()
    first = bound(model, dataset(images, labels))
    model.set_weights([np.abs(rng.normal(size=array.shape)) for array in model.get_weights()])
    assert bound(model, dataset(images, labels)) == first
    flat = dense(rng.normal(size=(5, 30)), rng.normal(size=(30, 2)))
    vectors = rng.normal(size=(40, 5))
    values = [bound(flat, dataset(scale * vectors, labels // 2)) for scale in (1, 8)]
    assert values[1] == pytest.approx(values[0], rel=1e-5)


def test_the_bound_is_that_of_the_probability_of_signs():
    rng = np.random.default_rng(3)
    model, labels = dense(rng.normal(size=(5, 30)), rng.normal(size=(30, 3))), np.arange(50) % 3
    subject = Subject(model, dataset(rng.normal(size=(50, 5)), labels))
    signs = np.where(subject.sample(50).labels > 1.5, 1, -1)
    log = log_probability(random_covariance(subject, 50, 100, 0), signs, NOISE)
    assert bound(model, subject.dataset) == pytest.approx((-log + math.log(50) + 2 * math.log(20)) / 49)
    with pytest.raises(MeasureUnavailable, match="outputs are finite and not all 0"):
        bound(dense(np.eye(2)), dataset(np.zeros((5, 2)), np.zeros(5)))
    with pytest.raises(MeasureUnavailable, match="two training examples"):
        bound(dense(np.eye(2)), dataset(np.ones((1, 2)), np.zeros(1)))


def test_labels_of_a_simple_function_are_more_likely_than_random_ones():
    rng = np.random.default_rng(4)
    inputs = rng.normal(size=(150, 5))
    model, simple = dense(rng.normal(size=(5, 60)), rng.normal(size=(60, 2))), inputs[:, 0] > 0
    likely, unlikely = (bound(model, dataset(inputs, labels)) for labels in (simple, rng.permutation(simple)))
    assert likely < 0.7 * unlikely
    assert unlikely > math.log(2)
