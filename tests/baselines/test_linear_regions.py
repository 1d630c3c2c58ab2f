"""Tests of the number of linear regions: networks with known kinks, and layers without linear pieces."""

import numpy as np
import pytest
from small_networks import dataset, dense, layers, sequential

import baselines

met, changes, patterns = map(baselines.load, ("linear_regions_met", "activation_changes", "activation_patterns"))

#: A pair of examples.
ENDS = dataset([[0.0], [1.0]], [0, 1])


def kinks(*places, activation="relu"):
    """A network with one input, whose units have their kinks at `places`."""
    width = len(places)
    return dense(
        np.ones((1, width)), np.ones((width, 2)), biases=[-np.array(places), np.zeros(2)], activation=activation
    )


@pytest.mark.parametrize("activation", ["relu", "leaky_relu"])
@pytest.mark.parametrize(
    ("places", "n_steps", "regions"),
    [((), 10, 1), ((0.55,), 10, 2), ((0.15, 0.35, 0.75), 10, 4), ((0.11, 0.12, 0.13), 10, 2), ((0.11, 0.12), 200, 3)],
)
def test_units_of_one_input_change_at_their_kinks(places, n_steps, regions, activation):
    outside = (-1.0, 2.0)  # these never change
    model = kinks(*places, *outside, activation=activation)
    assert met(model, ENDS, n_steps=n_steps) == regions
    assert changes(model, ENDS, n_steps=n_steps) == len(places)


def test_regions_in_closed_form():
    model = dense(np.ones((1, 3)), np.ones((3, 2)), activation=None)
    assert (met(model, ENDS), changes(model, ENDS), patterns(model, ENDS)) == (1, 0, 1 / 2)
    model = sequential((1,), layers.Rescaling(20.0, -7.0), layers.ReLU(6.0), layers.Dense(2))
    assert (met(model, ENDS), changes(model, ENDS)) == (3, 2)
    pooled = [layers.Dense(2), layers.Reshape((2, 1)), layers.GlobalMaxPooling1D(), layers.Dense(2)]
    model = sequential((1,), *pooled)
    model.layers[0].set_weights([np.array([[1.0, -1.0]]), np.array([0.0, 1.0])])  # x and 1 - x
    assert (met(model, ENDS, n_steps=5), changes(model, ENDS, n_steps=5)) == (2, 0)


@pytest.mark.parametrize("activation", ["relu6", "hard_tanh", "hard_sigmoid", "max_value"])
def test_the_flat_pieces_at_both_ends_are_two(activation):
    bent = layers.ReLU(max_value=6.0) if activation == "max_value" else layers.Activation(activation)
    model = sequential((1,), layers.Dense(1), bent, layers.Dense(2))
    model.layers[0].set_weights([np.ones((1, 1)), np.zeros(1)])
    data = dataset([[-20.0], [20.0]] * 5, [0, 1] * 5)
    assert patterns(model, data) == 2 / 10
    pair = dataset([[-20.0], [20.0]], [0, 1])
    assert (met(model, pair, n_steps=1), changes(model, pair, n_steps=1)) == (2, 1)
    assert (met(model, pair, n_steps=40), changes(model, pair, n_steps=40)) == (3, 2)


def test_the_mean_over_pairs():
    """Each example of the first half is paired with one of the second half; equal examples lie in the same region."""
    data = dataset([[0.0], [0.0], [0.0], [1.0]], [0, 1, 0, 1])
    assert met(kinks(0.5), data) == 1.5
    assert patterns(kinks(0.5), data) == 2 / 4


def test_against_signs_of_pre_activations():
    draw = np.random.default_rng(0)
    kernels = [draw.normal(size=shape) for shape in ((4, 6), (6, 5), (5, 2))]
    shifts = [draw.normal(size=6), draw.normal(size=5), np.zeros(2)]

    def are_active(inputs):
        first = inputs @ kernels[0] + shifts[0]
        return np.concatenate([first, np.maximum(first, 0) @ kernels[1] + shifts[1]], axis=1) > 0

    model, points = dense(*kernels, biases=shifts), draw.normal(size=(2, 4)).astype(np.float32)
    way = points[0] + np.linspace(0, 1, 33)[:, None] * (points[1] - points[0])
    signs = are_active(way)
    flips = (signs[1:] != signs[:-1]).sum(axis=1)
    assert flips.sum() > 3
    assert changes(model, dataset(points, [0, 1])) == flips.sum()
    assert met(model, dataset(points, [0, 1])) == 1 + np.count_nonzero(flips)
    images = draw.normal(size=(300, 4)).astype(np.float32)
    assert patterns(model, dataset(images, [0] * 300)) == len(np.unique(are_active(images), axis=0)) / 300
