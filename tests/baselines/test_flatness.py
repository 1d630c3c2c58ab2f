"""Tests of normalized sharpness and relative flatness: their definitions, closed forms, scales without effect."""

from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf
from scipy.optimize import minimize
from scipy.special import log_softmax
from small_networks import T1_DATA, dataset, dense, layers, sequential, t1
from test_gradients import NETWORKS, examples, of_each_logit

import baselines
from baselines.core.fisher import fisher_diagonal
from baselines.core.subject import Subject
from baselines.network import per_example
from baselines.sharpness.normalized_sharpness import by_channels, moments_by_channels, smallest

sharpness = baselines.load("normalized_sharpness")


def drawn(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    return rng.gamma(0.5, size=(rows, columns)), rng.gamma(0.5, size=(rows, columns))


def test_the_minimum_is_that_of_another_search():
    h, s = drawn(5, 4)

    def value(logarithms):
        product = np.exp(np.add.outer(logarithms[:5], logarithms[5:]))
        return np.sum(h * product + s / product) / 2

    assert smallest(h, s) == pytest.approx(minimize(value, np.zeros(9), tol=1e-10).fun, rel=1e-5)


def test_closed_forms_where_channels_without_curvature_or_weights_add_nothing():
    assert smallest(np.array([[3.0]]), np.array([[12.0]])) == pytest.approx(6)
    h, s = drawn(1, 6)
    assert [smallest(h, s), smallest(h.T, s.T)] == pytest.approx([np.sqrt(h * s).sum()] * 2)
    rows, columns = np.array([1.0, 2.0, 5.0]), np.array([3.0, 0.1])
    product = np.outer(rows, columns)
    assert smallest(1 / product, product) == pytest.approx(6)  # the variances that it needs are a product
    h, s = drawn(4, 3)
    alone = smallest(h, s)
    idle = np.zeros((4, 1))
    assert smallest(np.hstack([h, idle]), np.hstack([s, np.ones_like(idle)])) == pytest.approx(alone)
    assert smallest(np.vstack([h, np.ones((1, 3))]), np.vstack([s, np.zeros((1, 3))])) == pytest.approx(alone)
    assert smallest(np.diag([1.0, 1.0]), np.array([[0.0, 1.0], [0.0, 0.0]])) == 0
    assert smallest(np.zeros((2, 2)), np.ones((2, 2))) == 0


def test_t1_by_hand_and_a_dead_unit():
    """The minimum over u, v, x, y of (u + v) (x + y) (36 / (u x) + 25 / (v y)) is (36^(1/3) + 25^(1/3))^3."""
    spread = np.e / (1 + np.e) ** 2
    of_one = np.sqrt(spread) * (np.cbrt(36) + np.cbrt(25)) ** 1.5
    assert sharpness(t1(), dataset(*T1_DATA)) == pytest.approx(2 * of_one, rel=1e-5)
    assert sharpness(dense([[-1.0]], [[1.0, 2.0]]), dataset(np.ones((4, 1)), [0, 1, 0, 1])) == 0


@pytest.mark.rest
@pytest.mark.parametrize("stacked", [0, per_example.STACKED], ids=["apart", "stacked"])
@pytest.mark.parametrize("make", NETWORKS.values(), ids=NETWORKS)
def test_curvatures_belong_to_their_weights(make, stacked, monkeypatch):
    monkeypatch.setattr(per_example, "STACKED", stacked)
    model = make()
    images, labels = examples(model.input_shape[1:], 6)
    subject = Subject(model, dataset(images, labels))
    network = subject.network
    expected = [0.0] * len(network.variables)
    for image in subject.sample(6).inputs:
        logits, rows = of_each_logit(network, image)
        p = tf.nn.softmax(logits).numpy()
        for place in range(len(expected)):
            gradients = np.array([row[place] for row in rows])
            mean = np.tensordot(p, gradients, 1)
            expected[place] += (np.tensordot(p, gradients**2, 1) - mean**2) / 6
    of_weight_layers = sum(len(network.trained(place)) for place in network.weight_nodes)
    expected_of_kernels = [array for array in expected[:of_weight_layers] if array.ndim > 1]
    found = moments_by_channels(network, fisher_diagonal(subject, 6, 10, 0))
    for moments, kernel, array in zip(found, network.kernels, expected_of_kernels, strict=True):
        expected = by_channels(network, replace(kernel, array=array))
        np.testing.assert_allclose(moments, expected, rtol=2e-3, atol=1e-6)


def test_scales_of_units_do_not_matter():
    rng = np.random.default_rng(3)
    first, second, scales = rng.normal(size=(4, 6)), rng.normal(size=(6, 3)), rng.uniform(0.2, 5, 6)
    data = dataset(rng.normal(size=(80, 4)), rng.integers(0, 3, 80))
    plain, moved = (sharpness(dense(first * c, second / c[:, None]), data) for c in (np.ones(6), scales))
    assert moved == pytest.approx(plain, rel=1e-3)
    inputs = rng.normal(size=(80, 4))
    units = np.array([1.0, 10.0, 0.1, 3.0])
    one, other = (
        sharpness(dense(first / c[:, None], second), dataset(inputs * c, np.arange(80) % 3))
        for c in (np.ones(4), units)
    )
    assert other == pytest.approx(one, rel=1e-3)


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


def test_one_layer_in_closed_form_behind_a_convolution_and_saturated():
    """For two classes with p = 1/2, the value is E |x|^2 |w_0 - w_1|^2 / 4; for certain predictions, it is 0."""
    kernel = np.array([[3.0, 3.0], [1.0, -1.0]])
    data = dataset([[2.0, 0.0], [4.0, 0.0]], [0, 1])
    assert relative_flatness(dense(kernel), data) == pytest.approx((4 + 16) / 2 * 4 / 4)
    assert relative_flatness(dense([[1e3, -1e3]]), dataset(np.ones((4, 1)), np.zeros(4))) == pytest.approx(0, abs=1e-6)
    model = sequential((4, 4, 1), layers.Conv2D(2, 2), layers.Flatten(), layers.Dense(3))
    assert relative_flatness(model, dataset(np.ones((3, 4, 4, 1)), [0, 1, 2])) > 0
