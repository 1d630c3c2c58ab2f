"""Tests of the curvature of the loss against full Hessian matrices."""

import math

import numpy as np
import pytest
import tensorflow as tf
from matrix import full, rest
from scipy.special import softmax
from small_networks import dataset, dense, layers, random_problem, sequential

import baselines
from baselines.core.eigenvalues import largest_eigenvalue, ritz_values
from baselines.core.subject import Subject
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


@pytest.fixture
def linear():
    rng = np.random.default_rng(0)
    return rng.normal(size=(5, 3)), rng.normal(size=(1500, 5)) * [1, 2, 3, 1, 1]  # examples of several batches


@pytest.fixture
def hidden():
    return random_problem(4, 6, 3)


def test_hessians_of_a_linear_classifier_and_of_a_hidden_layer(linear, hidden):
    kernel, images = linear
    hessian = hessian_of_linear(kernel, images)
    data = dataset(images, np.zeros(len(images)))  # labels do not matter where logits are linear in the weights
    assert trace(dense(kernel), data) == pytest.approx(np.trace(hessian), rel=1e-4)
    assert top_eigenvalue(dense(kernel), data) == pytest.approx(np.linalg.eigvalsh(hessian)[-1], rel=1e-3)
    kernels, images, labels = hidden
    hessian, model, data = hessian_by_differences(*hidden), dense(*kernels), dataset(images, labels)
    assert trace(model, data) == pytest.approx(np.trace(hessian), rel=1e-4)
    assert top_eigenvalue(model, data) == pytest.approx(np.linalg.eigvalsh(hessian)[-1], rel=1e-3)


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
def test_trace_from_fewer_signs_than_classes(images):
    tf.keras.utils.set_random_seed(0)
    model = PIECEWISE_LINEAR["pooling"]()
    found = [trace(model, images, n_probes=2, seed=seed) for seed in range(12)]
    assert len(set(found)) == 12
    assert np.mean(found) == pytest.approx(trace(model, images), rel=0.1)


@pytest.mark.rest
@pytest.mark.parametrize("name", ["gelu", *map(full, list(CURVED)[1:-1]), "transposed"])
def test_trace_of_another_network_is_near(name, images):
    """These networks are not piecewise linear, or have no gradients by example, so the trace is only estimated."""
    tf.keras.utils.set_random_seed(0)
    model = CURVED[name]()
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
    if size <= 60:
        assert found == pytest.approx(np.sort(values)[::-1], abs=1e-3)


def test_an_eigenvalue_comes_as_often_as_the_matrix_has_it():
    values = np.array([4.0, 4, 4, 1, 1, 0])
    found = ritz_values(lambda vector: values * vector, 6, 10, np.random.default_rng(0))
    assert found == pytest.approx(values, abs=1e-5)


@pytest.mark.rest
@pytest.mark.parametrize("margin", [1.0, 20.0, 40.0, 80.0])
def test_estimates_of_the_curvature_of_a_tiny_loss_keep_their_digits(margin):
    """For one example x = 1 the Hessian is p q (1, -1) (1, -1)', with the probabilities p and q of both classes."""
    model, data = dense([[margin, 0.0]]), dataset([[1.0]], [0])
    expected = 2 * math.exp(-margin) / (1 + math.exp(-margin)) ** 2
    by_one_probe = trace(model, data, n_probes=1)  # p q (sqrt(p) +- sqrt(q))^2
    assert by_one_probe == pytest.approx(expected, rel=2 * math.sqrt(expected / 2) + 1e-4, abs=0)
    assert effective_dimensionality(model, data, alpha=expected, n_steps=2) == pytest.approx(0.5, rel=1e-4)


@pytest.mark.parametrize("alpha", [1.0, rest(0.01), rest(5.0)])
def test_effective_dimensionality_of_a_linear_classifier_and_of_a_hidden_layer(alpha, linear, hidden):
    kernel, images = linear
    (first, second), points, labels = hidden
    cases = [
        (hessian_of_linear(kernel, images), dense(kernel), dataset(images, np.zeros(len(images)))),
        (hessian_by_differences([first, second], points, labels), dense(first, second), dataset(points, labels)),
    ]
    for hessian, model, data in cases:
        values = np.maximum(np.linalg.eigvalsh(hessian), 0)
        expected = np.sum(values / (values + alpha))
        found = effective_dimensionality(model, data, alpha=alpha, n_steps=50)
        assert found == pytest.approx(expected, rel=1e-2, abs=1e-3)


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
