"""Tests of the Davies-Bouldin index of the classes in a layer's output."""

import hypothesis.strategies as st
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from sklearn.metrics import davies_bouldin_score
from small_networks import dataset, dense, gaussian, images, layers, sequential

import baselines
from baselines.consistency.davies_bouldin import index
from baselines.core.streams import stream_seed
from baselines.core.subject import Subject

davies_bouldin_index = baselines.load("davies_bouldin_index")


def clusters(n=40, dim=6, classes=4, seed=0):
    draw = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    return draw.normal(size=(classes, dim))[labels] + draw.normal(size=(n, dim)), labels


def conv(*first, shape=(8, 8, 1), n_classes=3):
    return gaussian(sequential(shape, *first, layers.Flatten(), layers.Dense(n_classes)), 1)


def output(model, number, inputs):
    return tf.keras.Model(model.inputs[0], model.layers[number].output)(inputs).numpy()


def pooled(features, pool):
    n, height, width, channels = features.shape
    cut = features[:, : height // pool * pool, : width // pool * pool]
    return cut.reshape(n, height // pool, pool, width // pool, pool, channels).max(axis=(2, 4))


def test_closed_form():
    points = np.array([[0.0, 0.0], [0.0, 2.0], [4.0, 0.0], [4.0, 2.0]])
    assert index(points, np.array([0, 0, 1, 1])) == pytest.approx(0.5)
    assert index(points, np.array([7, 7, 3, 3])) == pytest.approx(0.5)


@given(st.integers(0, 10_000), st.integers(2, 8), st.integers(1, 5))
@settings(max_examples=50)
def test_as_in_scikit_learn(seed, classes, dim):
    points, _ = clusters(30, dim, classes, seed)
    labels = np.random.default_rng(seed).integers(0, classes, 30)
    if len(np.unique(labels)) > 1:
        assert index(points, labels) == pytest.approx(davies_bouldin_score(points, labels))


@given(st.integers(0, 1000), st.sampled_from([1e-12, 1e-3, 1.0, 1e6]), st.floats(-100, 100))
@settings(max_examples=30)
def test_neither_place_nor_rotation_nor_scale_matters(seed, scale, shift):
    points, labels = clusters(seed=seed)
    rotation = np.linalg.qr(np.random.default_rng(seed).normal(size=(6, 6)))[0]
    assert index(scale * (points @ rotation + shift), labels) == pytest.approx(index(points, labels))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_limits(scale):
    corners, labels = scale * np.array([[0.0, 0.1], [3.0, 0.2], [0.3, 3.0]]), np.arange(9) % 3
    assert index(corners[labels], labels) == 0  # single points
    assert index(np.full((9, 2), 0.1 * scale), labels) == 0
    cross = scale * (np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]]) + 0.1)
    assert index(cross, np.array([0, 0, 1, 1])) == 0  # equal centroids
    # Two of three in one place: only pairs with the third count.
    points = np.concatenate([cross, cross[:2] + 4 * scale])
    assert index(points, np.array([0, 0, 1, 1, 2, 2])) == pytest.approx(2 / (4 * np.sqrt(2)))


SAME = {"padding": "same", "activation": "relu"}


@pytest.mark.parametrize(
    ("layer", "shape", "pooling"),
    [
        (layers.Conv2D(2, 3, **SAME), (8, 8, 1), lambda z: pooled(z, 4)),
        (layers.Conv2D(2, 3, **SAME), (9, 13, 2), lambda z: pooled(z, 4)),
        (layers.Conv2D(2, 3, **SAME), (32, 32, 3), lambda z: pooled(z, 4)),
        (layers.Conv2D(2, 3), (5, 9, 1), lambda z: z),  # smaller than a window
        (layers.Conv1D(2, 2), (9, 2), lambda z: z.reshape(60, 2, 4, 2).max(axis=2)),
    ],
)
def test_first_convolution_with_its_activation_and_the_maximum_over_windows(layer, shape, pooling):
    x, labels = images(60, *shape), np.arange(60) % 3
    model = conv(layer, shape=shape)
    expected = davies_bouldin_score(pooling(output(model, 0, x)).reshape(60, -1), labels)
    assert davies_bouldin_index(model, dataset(x, labels)) == pytest.approx(expected, rel=1e-4)


def test_mean_over_batches():
    x, labels = images(90, 8, 8, 1), np.arange(90) % 3
    model, data = conv(layers.Conv2D(2, 3)), dataset(x, labels)
    features = output(model, 0, x)
    points = {row.tobytes(): pooled(z[None], 4).ravel() for row, z in zip(x, features, strict=True)}
    seeds = [stream_seed("batches of davies_bouldin", 4, number) for number in range(3)]
    scores = []
    for seed in seeds:
        sample = Subject(model, data).sample(25, seed)
        scores.append(davies_bouldin_score(np.stack([points[row.tobytes()] for row in sample.inputs]), sample.labels))
    found = baselines.load("davies_bouldin_index:n_batches=3,batch=25,seed=4")(model, data)
    assert found == pytest.approx(np.mean(scores), rel=1e-4)
    assert len(set(scores)) == 3


@pytest.mark.parametrize(
    ("first", "number"),
    [
        ([layers.MaxPooling2D(2), layers.Conv2D(2, 3)], 1),  # pooled pixels are pixels
        ([layers.Rescaling(3.0), layers.Conv2D(2, 3), layers.BatchNormalization(), layers.ReLU()], 1),
        ([layers.Rescaling(2.0), layers.ReLU(), layers.Activation("tanh"), layers.Conv2D(2, 3)], 3),
        ([layers.Conv2D(2, 3, activation="relu"), layers.Conv2D(2, 3)], 0),
    ],
)
def test_initial_layer(first, number):
    x, labels = images(60, 8, 8, 1), np.arange(60) % 3
    model, data = conv(*first), dataset(x, labels)
    expected = davies_bouldin_score(pooled(output(model, number, x), 2).reshape(60, -1), labels)
    for layer in ("initial", str(number)):
        assert davies_bouldin_index(model, data, pool=2, layer=layer) == pytest.approx(expected, rel=1e-4)


def test_another_layer():
    x, labels = images(60, 8, 8, 1), np.arange(60) % 3
    model = conv(layers.Conv2D(2, 3))
    expected = davies_bouldin_score(model(x).numpy(), labels)
    assert davies_bouldin_index(model, dataset(x, labels), layer="2") == pytest.approx(expected, rel=1e-4)


def test_dense_networks_are_looked_at_behind_their_first_activation():
    x, labels = clusters(classes=2)
    model = dense(np.eye(6), np.ones((6, 2)))
    expected = davies_bouldin_score(np.maximum(x, 0), labels)
    assert davies_bouldin_index(model, dataset(x, labels)) == pytest.approx(expected, rel=1e-4)
    x, labels = images(60, 8, 8, 1), np.arange(60) % 3
    model = conv(layers.Flatten(), layers.Dense(5), layers.BatchNormalization(), layers.ReLU())
    model.layers[2].set_weights([np.full(5, 2.0), np.full(5, 0.5), np.zeros(5), np.full(5, 4.0)])
    expected = davies_bouldin_score(output(model, 3, x), labels)
    data = dataset(x, labels)
    assert davies_bouldin_index(model, data) == pytest.approx(expected, rel=1e-4)
    assert davies_bouldin_index(model, data, layer="0") != pytest.approx(expected, rel=1e-2)


def test_batches_with_few_examples_of_a_class():
    x, labels = images(200, 8, 8, 1), np.arange(200) % 20
    model, data = conv(layers.Conv2D(2, 3), n_classes=20), dataset(x, labels)
    found = [davies_bouldin_index(model, data, batch=10, stratified=flag) for flag in (False, True)]
    assert 0 <= found[0] < found[1]
    alone = dataset(x[:20], np.arange(20))
    assert davies_bouldin_index(model, alone) == 0
    x, labels = images(40, 8, 8, 1), np.array([0] * 39 + [1])
    model, data = conv(layers.Conv2D(2, 3)), dataset(x, labels)
    assert davies_bouldin_index(model, data, batch=10, n_batches=40) > 0
