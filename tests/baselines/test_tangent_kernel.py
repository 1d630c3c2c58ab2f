"""Tests of the empirical neural tangent kernel: closed forms of linear networks, Jacobians one by one, invariances."""

import math

import numpy as np
import pytest
import tensorflow as tf
from small_networks import dataset, dense, layers, sequential

import baselines
from baselines.core.subject import Subject
from baselines.gradient.tangent_kernel import tangent_kernel

alignment, complexity = map(baselines.load, ("ntk_alignment", "ntk_complexity"))

RNG = np.random.default_rng(0)
POINTS, LABELS = RNG.normal(size=(12, 5)).astype(np.float32), np.arange(12) % 3


def test_orthogonal_examples_of_a_linear_network_share_nothing():
    """The kernel K is half the identity: the value is sqrt(2 * 2). For two of three classes, alignment is 1/sqrt(5)."""
    data = dataset(np.eye(6), [0, 0, 0, 1, 1, 1])
    assert complexity(dense(RNG.normal(size=(6, 2))), data, ridge=0.0) == pytest.approx(2, rel=1e-5)
    assert complexity(dense(RNG.normal(size=(6, 2))), data, ridge=1.0) == pytest.approx(math.sqrt(2), rel=1e-5)
    assert alignment(dense(RNG.normal(size=(6, 2))), data) == pytest.approx(-1 / math.sqrt(5), rel=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_examples_that_are_points_apart_are_aligned(n_classes):
    labels = np.repeat(np.arange(n_classes), 3)
    data = dataset(np.eye(n_classes)[labels], labels)
    model = dense(RNG.normal(size=(n_classes, n_classes)))
    assert alignment(model, data) == pytest.approx(-1, rel=1e-5)
    largest = len(labels) / n_classes / 2  # the eigenvalue of K along the labels
    expected = math.sqrt(2 / (largest + 0.05))
    assert complexity(model, data, ridge=0.1) == pytest.approx(expected, rel=1e-4)


def network(n_classes=3):
    tf.keras.utils.set_random_seed(1)
    hidden = [layers.Reshape((5, 1)), layers.Conv1D(3, 2, activation="tanh"), layers.Flatten(), layers.Dense(4, "elu")]
    return sequential((5,), *hidden, layers.Dense(n_classes))


def jacobian(model):
    """Return gradients (examples, classes, weights) of the centered logits, computed with one pass for each example."""
    found = []
    for point in POINTS:
        with tf.GradientTape(persistent=True) as tape:
            logits = model(point[None])[0]
            parts = tf.unstack(logits - tf.reduce_mean(logits))
        of_parts = [tape.gradient(part, model.trainable_weights) for part in parts]
        found.append([np.concatenate([np.ravel(g) for g in gradients]) for gradients in of_parts])
    return np.array(found, np.float64)


def test_against_jacobians_one_by_one():
    model, data = network(), dataset(POINTS, LABELS)
    subject = Subject(model, data)
    kernel, corners = tangent_kernel(subject, 12, 10, 0)
    order = [int(np.flatnonzero((one == POINTS).all(axis=1))[0]) for one in subject.sample(12).inputs]
    gradients = jacobian(model)[order]
    assert kernel == pytest.approx(np.einsum("icw,jcw->ij", gradients, gradients) / 3, rel=1e-3, abs=1e-5)
    assert np.linalg.norm(corners, axis=1) == pytest.approx(1)
    targets = np.eye(3)[LABELS[order]] - 1 / 3
    center = np.eye(12) - 1 / 12
    expected = np.sum((center @ kernel @ center) * (targets @ targets.T))
    scale = np.linalg.norm(center @ kernel @ center) * np.linalg.norm(center @ targets @ targets.T @ center)
    assert alignment(model, data) == pytest.approx(-expected / scale, rel=1e-4)
    inverse = np.linalg.inv(kernel / kernel.trace() * 6 + 5e-4 * np.eye(12))
    assert complexity(model, data) == pytest.approx(np.sqrt(2 * np.trace(targets.T @ inverse @ targets) * 1.5 / 12))


@pytest.mark.rest
@pytest.mark.parametrize("measure", [alignment, complexity])
def test_a_function_that_is_added_to_all_logits_does_not_matter(measure):
    model, data = network(), dataset(POINTS, LABELS)
    expected = measure(model, data)
    kernel, bias = model.layers[-1].get_weights()
    model.layers[-1].set_weights([kernel + np.arange(4)[:, None], bias])
    assert measure(model, data) == pytest.approx(expected, rel=1e-4)


def test_random_combinations_have_the_kernel_as_their_mean():
    subject = Subject(network(12), dataset(POINTS, np.arange(12)))
    exact, _ = tangent_kernel(subject, 12, 12, 0)
    drawn, _ = tangent_kernel(subject, 12, 11, 0)
    assert drawn.shape == exact.shape
    assert not np.allclose(drawn, exact)
    assert drawn.trace() == pytest.approx(exact.trace(), rel=0.3)


@pytest.mark.rest
@pytest.mark.parametrize("measure", [alignment, complexity])
def test_the_scale_of_the_kernel_does_not_matter(measure, monkeypatch):
    data = dataset(POINTS, LABELS)
    expected = measure(network(), data)

    def scaled(*arguments):
        kernel, labels = tangent_kernel(*arguments)
        return 25 * kernel, labels

    monkeypatch.setattr("baselines.gradient.tangent_kernel.tangent_kernel", scaled)
    assert measure(network(), data) == pytest.approx(expected, rel=1e-4)


@pytest.mark.rest
def test_labels_that_similar_examples_share_are_simpler():
    points = np.concatenate([POINTS, POINTS + 0.01])
    model = network()
    sorted_labels, mixed = np.tile(LABELS, 2), np.concatenate([LABELS, (LABELS + 1) % 3])
    assert complexity(model, dataset(points, sorted_labels)) < complexity(model, dataset(points, mixed)) / 2
    assert alignment(model, dataset(points, sorted_labels)) < alignment(model, dataset(points, mixed))


def test_no_gradients_are_not_aligned():
    assert alignment(dense([[-1.0]], [[1.0, 2.0]]), dataset(np.ones((4, 1)), [0, 1, 0, 1])) == 0
