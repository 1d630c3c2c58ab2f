"""Tests of relative flatness: its definition on full Hessians, closed forms, and invariances."""

import numpy as np
import pytest
from scipy.special import log_softmax
from small_networks import dataset, dense, layers, sequential

import baselines
from baselines import MeasureUnavailable

relative_flatness = baselines.load("relative_flatness")


def loss_of(kernels, images, labels):
    *hidden, last = kernels
    for kernel in hidden:
        images = np.maximum(images @ kernel, 0)
    return -np.mean(log_softmax(images @ last, axis=1)[np.arange(len(labels)), labels])


def by_definition(kernels, number, images, labels, step=1e-5):
    """Return the sum over s and t of <w_s, w_t> Tr(H_st), with the Hessian H by differences of the loss."""
    kernel = kernels[number]
    inputs, neurons = kernel.shape

    def loss(change):
        return loss_of([*kernels[:number], kernel + change, *kernels[number + 1 :]], images, labels)

    total = 0.0
    for s in range(neurons):
        for t in range(neurons):
            trace = 0.0
            for i in range(inputs):
                one, other = np.zeros_like(kernel), np.zeros_like(kernel)
                one[i, s], other[i, t] = step, step
                trace += loss(one + other) - loss(one - other) - loss(other - one) + loss(-one - other)
            total += kernel[:, s] @ kernel[:, t] * trace / (4 * step**2)
    return total


@pytest.fixture
def deep():
    rng = np.random.default_rng(0)
    kernels = [rng.normal(size=shape) / 2 for shape in ((4, 5), (5, 4), (4, 3))]
    return kernels, rng.normal(size=(40, 4)), rng.integers(0, 3, 40)


@pytest.mark.parametrize("layer", [-1, 0, 1, 2])
def test_definition(deep, layer):
    kernels, images, labels = deep
    found = relative_flatness(dense(*kernels), dataset(images, labels), layer=layer)
    assert found == pytest.approx(by_definition(kernels, layer % 3, images, labels), rel=1e-3)


def test_one_layer_in_closed_form_and_saturated():
    """For two classes with p = 1/2, the value is E |x|^2 |w_0 - w_1|^2 / 4."""
    kernel = np.array([[3.0, 3.0], [1.0, -1.0]])
    data = dataset([[2.0, 0.0], [4.0, 0.0]], [0, 1])
    assert relative_flatness(dense(kernel), data) == pytest.approx((4 + 16) / 2 * 4 / 4)
    assert relative_flatness(dense([[1e3, -1e3]]), dataset(np.ones((4, 1)), np.zeros(4))) == pytest.approx(0, abs=1e-6)


def test_layers_that_it_cannot_treat():
    model = sequential((4, 4, 1), layers.Conv2D(2, 2, name="odd"), layers.Flatten(), layers.Dense(3))
    data = dataset(np.ones((3, 4, 4, 1)), [0, 1, 2])
    assert relative_flatness(model, data) > 0
    with pytest.raises(MeasureUnavailable, match=r"needs a dense layer .* layer odd \(Conv2D\) is not"):
        relative_flatness(model, data, layer=0)
    with pytest.raises(ValueError, match="layer: expected a number from -2 to 1, found 2"):
        relative_flatness(model, data, layer=2)
