"""Tests of the curvature of the loss: full Hessian matrices, normalized sharpness, relative flatness."""

import math

import numpy as np
import pytest
import tensorflow as tf
from matrix import full
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from small_networks import T1_DATA, dataset, dense, layers, random_problem, sequential, t1

import baselines
from baselines.core.eigenvalues import largest_eigenvalue, ritz_values
from baselines.core.subject import Subject
from baselines.sharpness.normalized_sharpness import smallest
from baselines.sharpness.scales import weight_space

trace, top_eigenvalue = map(baselines.load, ("hessian_trace", "hessian_top_eigenvalue"))
effective_dimensionality = baselines.load("effective_dimensionality")


def hessian_of_linear(kernel, images):
    blocks = [
        np.kron(np.outer(x, x), np.diag(p) - np.outer(p, p))
        for x, p in zip(images, softmax(images @ kernel, axis=1), strict=True)
    ]
    return np.mean(blocks, axis=0)


def hessian_by_differences(kernels, images, labels, step=1e-4):
    """Return the Hessian of a dense network with one hidden ReLU layer, computed by differences of gradients."""
    first, second = kernels

    def gradient(weights):
        w1, w2 = weights[: first.size].reshape(first.shape), weights[first.size :].reshape(second.shape)
        hidden = np.maximum(images @ w1, 0)
        of_logits = (softmax(hidden @ w2, axis=1) - np.eye(second.shape[1])[labels]) / len(images)
        of_hidden = of_logits @ w2.T * (hidden > 0)
        return np.concatenate([(images.T @ of_hidden).ravel(), (hidden.T @ of_logits).ravel()])

    weights = np.concatenate([first.ravel(), second.ravel()])
    steps = step * np.eye(len(weights))
    return np.array([(gradient(weights + one) - gradient(weights - one)) / (2 * step) for one in steps])


def test_hessians_of_a_linear_classifier_and_of_a_hidden_layer():
    """Labels do not matter where logits are linear in the weights."""
    rng = np.random.default_rng(0)
    kernel, images = rng.normal(size=(5, 3)), rng.normal(size=(1500, 5)) * [1, 2, 3, 1, 1]  # of several batches
    kernels, points, labels = random_problem(4, 6, 3)
    for hessian, model, data in (
        (hessian_of_linear(kernel, images), dense(kernel), dataset(images, np.zeros(1500))),
        (hessian_by_differences(kernels, points, labels), dense(*kernels), dataset(points, labels)),
    ):
        values = np.linalg.eigvalsh(hessian)
        positive = np.maximum(values, 0)
        with baselines.sharing():
            assert trace(model, data) == pytest.approx(values.sum(), rel=1e-4)
            assert top_eigenvalue(model, data) == pytest.approx(values[-1], rel=1e-3)
            for alpha in (0.01, 1.0, 5.0):
                found = effective_dimensionality(model, data, alpha=alpha, n_steps=50)
                assert found == pytest.approx(np.sum(positive / (positive + alpha)), rel=1e-2, abs=1e-3)


def test_the_largest_eigenvalue_is_not_the_largest_in_size():
    """If all weights of two layers are 0, eigenvalues have partners of opposite sign; the measure is positive."""
    model, data = dense([[0.0]], [[0.0, 0.0]], activation=None), dataset([[2.0]], [0])
    assert top_eigenvalue(model, data) == pytest.approx(np.sqrt(2), rel=1e-4)  # 2 |p - onehot|
    assert trace(model, data) == 0


# The trace, against products with every unit vector


def convolutional(*middle):
    return sequential((6, 6, 2), *middle, layers.Flatten(), layers.Dense(3))


def branches(join, activation="relu"):
    entry = tf.keras.Input((6, 6, 2))
    left, right = (layers.Conv2D(2, 3, activation=activation)(entry) for _ in range(2))
    return tf.keras.Model(entry, layers.Dense(3)(layers.Flatten()(join([left, right]))))


PIECEWISE_LINEAR = {
    "activations": lambda: convolutional(layers.Conv2D(2, 3, activation="relu6"), layers.LeakyReLU(), layers.PReLU()),
    "batch norm": lambda: convolutional(layers.Conv2D(2, 3), layers.BatchNormalization(), layers.ReLU()),
    "pooling": lambda: convolutional(layers.Conv2D(2, 3), layers.MaxPooling2D(), layers.Conv2D(2, 1), layers.ReLU()),
    "residual": lambda: branches(layers.Add()),
    "separable": lambda: convolutional(layers.SeparableConv2D(2, 3, activation="relu")),
    "the larger": lambda: branches(layers.Maximum()),
}

CURVED = {
    "gelu": lambda: convolutional(layers.Conv2D(2, 3, activation="gelu")),
    "product of branches": lambda: branches(layers.Multiply()),
    "softmax": lambda: convolutional(layers.Conv2D(2, 3), layers.Softmax()),
    "tanh": lambda: convolutional(layers.Conv2D(2, 3, activation="tanh"), layers.ReLU()),
    "transposed": lambda: convolutional(layers.Conv2DTranspose(2, 2, activation="relu")),
}


def trace_by_products(model, data):
    space = weight_space(Subject(model, data), 40, 0, folded=False)
    return sum(space.hessian_product(one)[number] for number, one in enumerate(np.eye(len(space), dtype=np.float32)))


@pytest.fixture
def images():
    rng = np.random.default_rng(6)
    return dataset(3 * rng.normal(size=(40, 6, 6, 2)), rng.integers(0, 3, 40))


@pytest.mark.rest
@pytest.mark.parametrize("make", PIECEWISE_LINEAR.values(), ids=PIECEWISE_LINEAR)
def test_trace_of_a_piecewise_linear_network_is_exact(make, images):
    tf.keras.utils.set_random_seed(0)
    model = make()
    assert trace(model, images) == pytest.approx(trace_by_products(model, images), rel=1e-3)


@pytest.mark.rest
@pytest.mark.parametrize("name", ["gelu", *map(full, list(CURVED)[1:-1]), "transposed"])
def test_trace_of_another_network_is_near(name, images):
    """These networks are not piecewise linear, or have no gradients by example, so the trace is only estimated."""
    tf.keras.utils.set_random_seed(0)
    model = CURVED[name]()
    with baselines.sharing():
        found = [trace(model, images, n_probes=15, seed=seed) for seed in range(12)]
    deviation = np.std(found)
    assert deviation > 1e-3 * np.mean(found)  # the trace of the Fisher matrix of three classes would be exact
    assert np.mean(found) == pytest.approx(trace_by_products(model, images), abs=3 * deviation / np.sqrt(12))


@pytest.mark.parametrize("odd", [layers.UpSampling2D(2, interpolation="bilinear"), layers.Activation("softsign")])
def test_layers_whose_second_derivatives_are_lacking_or_wrong_are_refused_by_name(odd, images):
    model = convolutional(layers.Conv2D(2, 3, activation="gelu"), odd)
    for measure in (trace, top_eigenvalue, effective_dimensionality):
        with pytest.raises(baselines.MeasureUnavailable, match=f"needs second derivatives, which layer {odd.name} "):
            measure(model, images)


@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_lanczos_against_numpy(scale):
    rng = np.random.default_rng(4)
    basis = np.linalg.qr(rng.normal(size=(200, 200)))[0]
    matrix = scale * (basis * np.concatenate([[-9, 5, 4.9], rng.uniform(-1, 1, 197)])) @ basis.T
    found = largest_eigenvalue(lambda vector: matrix @ vector, rng.normal(size=200), 50)
    assert found == pytest.approx(5 * scale, rel=1e-3)
    negative = largest_eigenvalue(lambda vector: -(vector * np.arange(1, 201)), rng.normal(size=200), 60)
    assert negative == pytest.approx(-1, abs=0.2)


@pytest.mark.parametrize("size", [30, 200])
def test_leading_eigenvalues_against_numpy(size):
    rng = np.random.default_rng(5)
    values = np.concatenate([[90, 50, 50, -20, 10], rng.uniform(-1, 1, size - 5)])
    basis = np.linalg.qr(rng.normal(size=(size, size)))[0]
    matrix = (basis * values) @ basis.T
    found = ritz_values(lambda vector: matrix @ vector, size, 60, np.random.default_rng(0))
    assert len(found) == min(size, 60)
    assert found[[0, -1]] == pytest.approx([90, -20], rel=1e-4)
    if size <= 60:  # an eigenvalue comes as often as the matrix has it
        assert found == pytest.approx(np.sort(values)[::-1], abs=1e-3)


@pytest.mark.rest
@pytest.mark.parametrize("margin", [1.0, 20.0, 40.0, 80.0])
def test_estimates_of_the_curvature_of_a_tiny_loss_keep_their_digits(margin):
    """For one example x = 1 the Hessian is p q (1, -1) (1, -1)', with the probabilities p and q of both classes."""
    model, data = dense([[margin, 0.0]]), dataset([[1.0]], [0])
    expected = 2 * math.exp(-margin) / (1 + math.exp(-margin)) ** 2
    by_one_probe = trace(model, data, n_probes=1)  # p q (sqrt(p) +- sqrt(q))^2
    assert by_one_probe == pytest.approx(expected, rel=2 * math.sqrt(expected / 2) + 1e-4, abs=0)
    assert effective_dimensionality(model, data, alpha=expected, n_steps=2) == pytest.approx(0.5, rel=1e-4)


SAME_BEFORE = {"slopes": lambda: layers.PReLU("ones"), "scales": lambda: layers.LayerNormalization([1, 2], 1e-9)}


@pytest.mark.parametrize("before", SAME_BEFORE.values(), ids=SAME_BEFORE)
def test_effective_dimensionality_fixes_even_slopes_and_scales_of_several_axes(before):
    draw = np.random.default_rng(1)
    points, kernel = draw.normal(size=(20, 2, 2)), draw.normal(size=(4, 2))
    points = (points - points.mean(axis=(1, 2), keepdims=True)) / points.std(axis=(1, 2), keepdims=True)
    models = [sequential((2, 2), *parts, layers.Flatten(), layers.Dense(2)) for parts in ([before()], [])]
    for model in models:
        model.layers[-1].set_weights([kernel, np.zeros(2)])
    values = [effective_dimensionality(model, dataset(points, np.arange(20) % 2), n_steps=8) for model in models]
    assert values[0] == pytest.approx(values[1], rel=1e-3)


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
