"""Tests of measures that compare gradients of single examples: signal and noise, angles, neural tangent kernel."""

import math

import numpy as np
import pytest
import tensorflow as tf
from small_networks import dataset, dense, layers, sequential
from test_gradients import NETWORKS, examples, gradients_of_logits

import baselines
from baselines.core.fisher import fisher_diagonal
from baselines.core.subject import Subject
from baselines.gradient.tangent_kernel import tangent_kernel

gsnr, m_coherence, tic_trace, tic_diag = map(baselines.load, ("gsnr", "m_coherence", "tic_trace", "tic_diag"))
confusion, cosine, sign = map(baselines.load, ("gradient_confusion", "neg_stiffness_cosine", "neg_stiffness_sign"))


def coin(probability, right, number=200):
    """A network with the same probability of class 0 for every input; a share `right` of the examples is of class 0."""
    logit = math.log(probability / (1 - probability))
    return dense([[logit, 0.0]]), dataset(np.ones((number, 1)), np.arange(number) >= right * number)


# Gradients are +-(1 - p) or +-p, so all moments are those of a coin


@pytest.mark.parametrize(("probability", "right"), [(0.5, 0.7), (0.9, 0.6), (0.2, 0.5), (0.7, 0.7)])
def test_closed_forms_of_a_coin(probability, right):
    model, data = coin(probability, right)
    mean, square = probability - right, right * (1 - probability) ** 2 + (1 - right) * probability**2
    variance, curvature = right * (1 - right), probability * (1 - probability)
    assert square == pytest.approx(mean**2 + variance)
    assert gsnr(model, data) == pytest.approx(-(mean**2) / variance, rel=1e-3, abs=1e-6)
    assert m_coherence(model, data) == pytest.approx(-200 * mean**2 / square, rel=1e-4, abs=1e-4)
    assert tic_trace(model, data) == pytest.approx(square / curvature / 200, rel=1e-4)
    assert tic_diag(model, data) == pytest.approx(2 * square / curvature / 200, rel=1e-4)


@pytest.mark.parametrize("right", [0.25, 0.5, 1.0])
def test_pairs_of_a_coin_agree_or_are_opposed(right):
    model, data = coin(0.8, right, 8)
    n_right = int(8 * right)
    opposed = n_right * (8 - n_right) / (8 * 7 / 2)
    for measure in (cosine, sign):
        assert measure(model, data) == pytest.approx(2 * opposed - 1)
    assert confusion(model, data) == pytest.approx(1 if opposed else -1)


def require_moments(model, data, gradients):
    """Assert that measures of signal and direction have the values that these gradients (examples, weights) give."""
    number, mean, power = len(gradients), gradients.mean(axis=0), (gradients**2).mean(axis=0)
    varies = power - mean**2 > 1e-5 * power
    ratio = np.mean(mean[varies] ** 2 / (power - mean**2)[varies])
    assert gsnr(model, data) == pytest.approx(-ratio, rel=1e-3)
    assert m_coherence(model, data) == pytest.approx(-number * np.sum(mean**2) / power.sum(), rel=1e-3)
    directions = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
    cosines = (directions @ directions.T)[np.triu_indices(number, 1)]
    assert cosine(model, data) == pytest.approx(-cosines.mean(), rel=1e-3, abs=1e-5)
    assert sign(model, data) == -np.sign(cosines).mean()
    assert confusion(model, data) == pytest.approx(-cosines.min(), rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("factor", [1.0, 8.0, 30.0])
def test_against_double_precision_where_answers_are_beyond_doubt(factor):
    """The factors make the smallest margins 0.1, 1 and 4 nats, and the mean margins 6, 50 and 190 nats."""
    rng = np.random.default_rng(5)
    images, first, second = rng.normal(size=(40, 6)), rng.normal(size=(6, 8)), factor * rng.normal(size=(8, 3))
    images, first, second = (array.astype(np.float32).astype(np.float64) for array in (images, first, second))
    hidden = np.maximum(images @ first, 0)
    logits = hidden @ second
    labels, rows = logits.argmax(axis=1), np.arange(40)
    of_logits = np.exp(logits - logits.max(axis=1, keepdims=True))
    of_logits /= of_logits.sum(axis=1, keepdims=True)
    of_logits[rows, labels] = 0
    of_logits[rows, labels] = -of_logits.sum(axis=1)
    of_hidden = of_logits @ second.T * (hidden > 0)
    parts = [np.einsum("ni,nj->nij", *pair).reshape(40, -1) for pair in ((images, of_hidden), (hidden, of_logits))]
    gradients = np.concatenate(parts, axis=1)

    require_moments(dense(first, second), dataset(images, labels), gradients)


@pytest.mark.parametrize("measure", [tic_trace, tic_diag])
def test_a_network_that_is_right_beyond_doubt_has_a_tiny_criterion(measure):
    assert measure(dense([[100.0, -100.0]]), dataset(np.ones((4, 1)), np.zeros(4))) == pytest.approx(0, abs=1e-30)


@pytest.mark.parametrize("margin", [45.0, 200.0])
def test_directions_beyond_doubt(margin):
    data = dataset(np.ones((8, 1)), np.arange(8) >= 2)
    for measure in (cosine, sign):
        assert measure(dense([[margin, 0.0]]), data) == pytest.approx(2 * 12 / 28 - 1)
    everywhere_right = dataset(np.ones((8, 1)), np.zeros(8))
    for measure, expected in ((cosine, -1), (sign, -1), (confusion, -1), (m_coherence, -8)):
        assert measure(dense([[margin, 0.0]]), everywhere_right) == pytest.approx(expected)


def test_coherence_of_equal_and_of_orthogonal_gradients():
    equal = dataset(np.ones((50, 4)), np.zeros(50))
    assert m_coherence(dense(np.zeros((4, 3))), equal) == pytest.approx(-50)
    orthogonal = dataset(np.eye(50), np.zeros(50))
    assert m_coherence(dense(np.zeros((50, 3))), orthogonal) == pytest.approx(-1)


@pytest.mark.rest
@pytest.mark.parametrize("make", NETWORKS.values(), ids=NETWORKS)
def test_against_one_backward_pass_for_each_example(make):
    model = make()
    images, labels = examples(model.input_shape[1:], 8)
    network = Subject(model, dataset(images, labels)).network
    gradients = gradients_of_logits(network, images)
    p = tf.nn.softmax(network.logits(np.float32(images))).numpy().astype(np.float64)
    of_loss = np.einsum("nk,nkw->nw", p - np.eye(3)[labels], gradients)
    of_labels = p[:, :, None] * (np.einsum("nyk,nkw->nyw", p[:, None] - np.eye(3), gradients)) ** 2
    noise, fisher = (of_loss**2).mean(axis=0), of_labels.sum(axis=1).mean(axis=0)

    data = dataset(images, labels)
    require_moments(model, data, of_loss)
    assert tic_trace(model, data) == pytest.approx(noise.sum() / fisher.sum() / 8, rel=1e-3)
    assert tic_diag(model, data, epsilon=1e-4) == pytest.approx(np.sum(noise / (fisher + 1e-4)) / 8, rel=2e-3)


@pytest.mark.rest
def test_random_directions_have_the_fisher_matrix_as_their_mean():
    model = NETWORKS["few positions"]()
    images, labels = examples((8, 8, 2), 200)
    subject = Subject(model, dataset(images, labels))
    exact, drawn = fisher_diagonal(subject, 200, 3, 0), fisher_diagonal(subject, 200, 2, 0)
    assert drawn.sum() != exact.sum()
    assert drawn.sum() == pytest.approx(exact.sum(), rel=0.1)


alignment, complexity = map(baselines.load, ("ntk_alignment", "ntk_complexity"))

RNG = np.random.default_rng(0)
POINTS, LABELS = RNG.normal(size=(12, 5)).astype(np.float32), np.arange(12) % 3


def test_orthogonal_examples_of_a_linear_network_share_nothing():
    """The kernel is half the identity, so the complexity without ridge is sqrt(2 * 2), and the alignment 1/sqrt(5)."""
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


def test_against_jacobians_one_by_one():
    model, data = network(), dataset(POINTS, LABELS)
    subject = Subject(model, data)
    kernel, corners = tangent_kernel(subject, 12, 10, 0)
    order = [int(np.flatnonzero((one == POINTS).all(axis=1))[0]) for one in subject.sample(12).inputs]
    gradients = gradients_of_logits(subject.network, POINTS[order])
    gradients = gradients - gradients.mean(axis=1, keepdims=True)  # of the centred logits
    assert kernel == pytest.approx(np.einsum("icw,jcw->ij", gradients, gradients) / 3, rel=1e-3, abs=1e-5)
    assert np.linalg.norm(corners, axis=1) == pytest.approx(1)
    targets = np.eye(3)[LABELS[order]] - 1 / 3
    center = np.eye(12) - 1 / 12
    expected = np.sum((center @ kernel @ center) * (targets @ targets.T))
    scale = np.linalg.norm(center @ kernel @ center) * np.linalg.norm(center @ targets @ targets.T @ center)
    assert alignment(model, data) == pytest.approx(-expected / scale, rel=1e-4)
    inverse = np.linalg.inv(kernel / kernel.trace() * 6 + 5e-4 * np.eye(12))
    assert complexity(model, data) == pytest.approx(np.sqrt(2 * np.trace(targets.T @ inverse @ targets) * 1.5 / 12))


def test_random_combinations_have_the_kernel_as_their_mean():
    subject = Subject(network(12), dataset(POINTS, np.arange(12)))
    exact, _ = tangent_kernel(subject, 12, 12, 0)
    drawn, _ = tangent_kernel(subject, 12, 11, 0)
    assert drawn.shape == exact.shape
    assert not np.allclose(drawn, exact)
    assert drawn.trace() == pytest.approx(exact.trace(), rel=0.3)


@pytest.mark.rest
@pytest.mark.parametrize("measure", [alignment, complexity])
def test_neither_a_function_that_is_added_to_all_logits_nor_the_scale_of_the_kernel_matters(measure, monkeypatch):
    model, data = network(), dataset(POINTS, LABELS)
    expected = measure(model, data)
    kernel, bias = model.layers[-1].get_weights()
    model.layers[-1].set_weights([kernel + np.arange(4)[:, None], bias])
    assert measure(model, data) == pytest.approx(expected, rel=1e-4)

    def scaled(*arguments):
        kernel, labels = tangent_kernel(*arguments)
        return 25 * kernel, labels

    monkeypatch.setattr("baselines.gradient.tangent_kernel.tangent_kernel", scaled)
    assert measure(network(), data) == pytest.approx(expected, rel=1e-4)
