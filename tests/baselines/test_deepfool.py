"""DeepFool: exact for linear networks, and across the boundary for others."""

import numpy as np
import pytest
import tensorflow as tf
from small_networks import dataset, dense, layers

import baselines
from baselines.core.subject import Subject
from baselines.margin.deepfool import _changes

margin = baselines.load("deepfool_margin")
POINTS = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
LABELS = np.arange(40) % 3


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_a_linear_network_has_planes_as_boundaries(n_classes):
    kernel = np.random.default_rng(1).normal(size=(5, 3))
    found = margin(dense(kernel), dataset(POINTS, LABELS), n_classes=n_classes)
    logits = POINTS @ kernel
    order = np.argsort(-logits, axis=1)
    distances = [
        min(
            (row[first] - row[other]) / np.linalg.norm(kernel[:, first] - kernel[:, other])
            for other in others[: n_classes - 1]
        )
        for row, (first, *others) in zip(logits, order, strict=True)
    ]
    assert found == pytest.approx(-np.mean(distances / np.linalg.norm(POINTS, axis=1)), rel=1e-4)


def network():
    tf.keras.utils.set_random_seed(0)
    return tf.keras.Sequential(
        [tf.keras.Input((5,)), layers.Dense(20, "tanh"), layers.Dense(8, "elu"), layers.Dense(3)]
    )


def test_the_answer_changes_behind_the_boundary_and_not_before():
    subject = Subject(network(), dataset(POINTS, LABELS))
    order = np.argsort(-subject.network.outputs(POINTS)[0], axis=1).astype(np.int32)
    changes = _changes(subject.network, POINTS, order, 50, 1.02)
    behind, before = (
        subject.network.outputs((POINTS + factor * changes).astype(np.float32))[0].argmax(axis=1)
        for factor in (1.03, 0.5)
    )
    assert (behind != order[:, 0]).mean() > 0.9
    assert (before == order[:, 0]).mean() > 0.9


@pytest.mark.rest
def test_the_scale_of_logits_and_of_inputs_does_not_matter():
    model, other = network(), network()
    *hidden, kernel, bias = model.get_weights()
    other.set_weights([hidden[0] / 8, *hidden[1:], 4 * kernel, 4 * bias])
    expected = margin(model, dataset(POINTS, LABELS))
    assert expected < -0.01
    assert margin(other, dataset(8 * POINTS, LABELS)) == pytest.approx(expected, rel=1e-3)


def test_examples_without_a_size_or_a_gradient_do_not_count():
    kernel = np.eye(5, 3)
    expected = margin(dense(kernel), dataset(POINTS, LABELS))
    more = np.concatenate([POINTS, np.zeros((3, 5))])
    assert margin(dense(kernel), dataset(more, np.zeros(43))) == pytest.approx(expected, rel=1e-5)
    with pytest.raises(baselines.MeasureUnavailable, match="have a gradient"):
        margin(dense(np.zeros((5, 4)), np.ones((4, 3))), dataset(POINTS, LABELS))
