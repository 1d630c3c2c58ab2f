"""Tests of signal and noise of single examples' gradients: closed forms, and one backward pass for each example."""

import math

import numpy as np
import pytest
import tensorflow as tf
from small_networks import dataset, dense
from test_gradients import NETWORKS, examples, of_each_logit

import baselines
from baselines.core.fisher import fisher_diagonal
from baselines.core.subject import Subject

gsnr, m_coherence, tic_trace, tic_diag = map(baselines.load, ("gsnr", "m_coherence", "tic_trace", "tic_diag"))
confusion, cosine, sign = map(baselines.load, ("gradient_confusion", "neg_stiffness_cosine", "neg_stiffness_sign"))
ALL = [gsnr, m_coherence, tic_trace, tic_diag, confusion, cosine, sign]


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
    """With these factors, the smallest margins are 0.1, 1 and 4 nats, the mean margins 6, 50 and 190."""
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
    gradients = [  # (examples, classes, weights) of the logits
        [np.concatenate([part.ravel() for part in row]) for row in of_each_logit(network, image)[1]] for image in images
    ]
    gradients = np.array(gradients, np.float64)
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


@pytest.mark.rest
@pytest.mark.parametrize("measure", ALL)
def test_no_gradient_at_all_gives_zero(measure):
    model = dense([[-1.0]], [[1.0, 2.0]])  # a dead unit
    data = dataset(np.ones((4, 1)), [0, 1, 0, 1])
    assert measure(model, data) == 0
    assert tic_diag(model, data, epsilon=0.0) == 0
