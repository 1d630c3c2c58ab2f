"""Tests of information in the weights: closed forms, differences of losses, invariances."""

import math

import numpy as np
import pytest
import tensorflow as tf
from small_networks import dataset, dense, layers, sequential

import baselines
from baselines.core.subject import Subject
from baselines.gradient.information import slopes_of_change
from baselines.network import Network

information, logarithm = map(baselines.load, ("information_in_weights", "log_information_in_weights"))


def test_one_weight_of_a_logistic_network():
    """Logits (w x, 0), label 0: the derivative by w is -(1 - p) x, p = 1 / (1 + e^-w x)."""
    model, points = dense([[2.0, 0.0]]), np.array([[1.0], [0.5], [3.0]])
    model.initial_weights = [np.array([[0.5, 0.0]])]
    slopes = 1.5 * points / (1 + np.exp(2 * points))
    data = dataset(points, [0, 0, 0])
    assert information(model, data) == pytest.approx(3 * np.mean(slopes**2), rel=1e-5)
    assert logarithm(model, data) == pytest.approx(math.log(3 * np.mean(slopes**2)), rel=1e-5)


def network():
    tf.keras.utils.set_random_seed(0)
    middle = [layers.Conv2D(4, 3, groups=2, activation="gelu"), layers.BatchNormalization(), layers.MaxPooling2D()]
    end = [layers.SeparableConv2D(3, 2, activation="tanh"), layers.Flatten(), layers.Dense(3)]
    model = sequential((6, 6, 2), *middle, *end)
    draw = np.random.default_rng(1)
    for _ in range(2):
        model.initial_weights = model.get_weights()
        model.set_weights([np.abs(w + draw.normal(0, 0.2, w.shape)) for w in model.get_weights()])
    return model


DATA = dataset(np.random.default_rng(0).normal(size=(20, 6, 6, 2)), np.arange(20) % 3)


def test_against_differences_of_losses():
    model = network()
    subject = Subject(model, DATA)
    found, sample = slopes_of_change(subject, 20, 0), subject.sample(20)
    ends = subject.network, Network(subject.nodes_at_start)
    arrays = [[v.numpy().astype(np.float64) for v in end.variables] for end in ends]
    step, losses = 1e-3, []
    for share in (step, -step):
        for variable, now, start in zip(subject.network.variables, *arrays, strict=True):
            variable.assign(now + share * (now - start))
        logits = subject.network.logits(sample.inputs)
        losses.append(tf.nn.sparse_softmax_cross_entropy_with_logits(sample.labels, logits).numpy())
    assert found == pytest.approx((losses[0] - losses[1]) / (2 * step), rel=2e-2, abs=2e-3)
    assert information(model, DATA) == pytest.approx(20 * np.mean(found**2))


@pytest.mark.rest
def test_nothing_was_learned_or_nobody_knows():
    model = network()
    model.initial_weights = model.get_weights()
    assert information(model, DATA) == 0
    assert logarithm(model, DATA) == math.log(1e-30)
    del model.initial_weights
    with pytest.raises(baselines.MeasureUnavailable, match="needs the initial weights"):
        information(model, DATA)
