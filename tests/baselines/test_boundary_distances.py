"""Tests of attacks on inputs, and of distances from the decision boundary in the input space."""

import math

import numpy as np
import pytest
import tensorflow as tf
from small_networks import dataset, dense, labelled, layers, sequential

import baselines
from baselines.core.subject import Subject
from baselines.margin.constrained_margin import boundary_distances, elbow, leading_components
from baselines.margin.deepfool import _changes

pgd, fgsm, margin = map(baselines.load, ("adversarial_error", "fgsm_error", "auto_pgd_margin"))

DRAW = np.random.default_rng(0)
KERNEL = DRAW.normal(size=(5, 2))
#: Two of them are far from the others and from the boundary, so that the range does not get in the way.
POINTS = np.concatenate([DRAW.normal(size=(60, 5)), 30 * np.sign(KERNEL.T)]).astype(np.float32)
ANSWERS = (POINTS @ KERNEL).argmax(axis=1)
DISTANCES = np.abs(POINTS @ (KERNEL[:, 0] - KERNEL[:, 1])) / np.abs(KERNEL[:, 0] - KERNEL[:, 1]).sum() / 60


@pytest.mark.parametrize("measure", [pgd, fgsm])
@pytest.mark.parametrize("epsilon", [0.0, 0.01])
def test_a_linear_network_errs_within_its_distance_from_the_boundary(measure, epsilon):
    labels = np.where(np.arange(len(ANSWERS)) < 7, 1 - ANSWERS, ANSWERS)  # wrong before and behind
    error = measure(dense(KERNEL), dataset(POINTS, labels), epsilon=epsilon)
    assert error == np.mean((epsilon > DISTANCES) | (labels != ANSWERS))


@pytest.mark.parametrize(("n_halvings", "tolerance"), [(3, 0.1), (6, 1e-3)])
def test_the_margin_of_a_linear_network(n_halvings, tolerance):
    found = margin(dense(KERNEL), dataset(POINTS, ANSWERS), n_halvings=n_halvings)
    assert found == pytest.approx(-DISTANCES.mean(), rel=tolerance)


def network(factor=1.0):
    """A network whose logits have another scale."""
    tf.keras.utils.set_random_seed(0)
    hidden = [layers.Reshape((5, 1)), layers.Conv1D(8, 2, activation="relu"), layers.Flatten(), layers.Dense(9, "tanh")]
    return sequential((5,), *hidden, layers.Dense(3), layers.Rescaling(factor))


LABELS = network()(POINTS).numpy().argmax(axis=1)


@pytest.mark.rest
@pytest.mark.parametrize("measure", [pgd, fgsm])
@pytest.mark.parametrize("factor", [30.0, 1e5])
def test_answers_beyond_doubt_are_no_shield(measure, factor):
    """The loss of a certain prediction has no gradient in single precision; the attack must still find a direction."""
    assert measure(dense(factor * KERNEL), dataset(POINTS, ANSWERS), epsilon=0.03) == np.mean(DISTANCES < 0.03) > 0.1
    errors = [measure(network(scale), dataset(POINTS, LABELS)) for scale in (1.0, factor)]
    assert errors[1] == pytest.approx(errors[0], abs=0.15)  # the second class of three counts less


def test_a_dead_network_cannot_be_attacked():
    dead = dense(np.zeros((5, 4)), np.ones((4, 3)))
    data = dataset(POINTS, np.zeros(len(POINTS)))
    assert (pgd(dead, data), fgsm(dead, data), margin(dead, data)) == (0, 0, -1)


deepfool = baselines.load("deepfool_margin")
EXAMPLES = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
OF_EXAMPLES = np.arange(40) % 3


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_a_linear_network_has_planes_as_boundaries(n_classes):
    kernel = np.random.default_rng(1).normal(size=(5, 3))
    found = deepfool(dense(kernel), dataset(EXAMPLES, OF_EXAMPLES), n_classes=n_classes)
    logits = EXAMPLES @ kernel
    order = np.argsort(-logits, axis=1)
    distances = []
    for row, (first, *others) in zip(logits, order, strict=True):
        planes = [(row[first] - row[other], kernel[:, first] - kernel[:, other]) for other in others[: n_classes - 1]]
        distances.append(min(margin / np.linalg.norm(normal) for margin, normal in planes))
    assert found == pytest.approx(-np.mean(distances / np.linalg.norm(EXAMPLES, axis=1)), rel=1e-4)


def test_the_answer_changes_behind_the_boundary_and_not_before():
    tf.keras.utils.set_random_seed(0)
    smooth = sequential((5,), layers.Dense(20, "tanh"), layers.Dense(8, "elu"), layers.Dense(3))
    subject = Subject(smooth, dataset(EXAMPLES, OF_EXAMPLES))
    order = np.argsort(-subject.network.outputs(EXAMPLES)[0], axis=1).astype(np.int32)
    changes = _changes(subject.network, EXAMPLES, order, 50, 1.02)
    behind, before = (
        subject.network.outputs((EXAMPLES + factor * changes).astype(np.float32))[0].argmax(axis=1)
        for factor in (1.03, 0.5)
    )
    assert (behind != order[:, 0]).mean() > 0.9
    assert (before == order[:, 0]).mean() > 0.9


def test_examples_without_a_size_or_a_gradient_do_not_count():
    kernel = np.eye(5, 3)
    expected = deepfool(dense(kernel), dataset(EXAMPLES, OF_EXAMPLES))
    more = np.concatenate([EXAMPLES, np.zeros((3, 5))])
    assert deepfool(dense(kernel), dataset(more, np.zeros(43))) == pytest.approx(expected, rel=1e-5)


constrained_margin = baselines.load("constrained_margin")


def stretched_images(n=200, seed=0):
    """Return examples whose variance lies mostly along the first two axes."""
    return np.random.default_rng(seed).normal(size=(n, 5)) * [10, 8, 0.3, 0.2, 0.1]


def test_a_linear_network():
    """Within a subspace, a point's distance from the boundary is its margin over the norm of the projected normal."""
    rng = np.random.default_rng(1)
    kernel = rng.normal(size=(5, 2))
    model, points = dense(kernel), stretched_images()
    normal = kernel[:, 0] - kernel[:, 1]
    centered = points.astype(np.float32) - points.astype(np.float32).mean(axis=0)
    plane = np.linalg.svd(centered, full_matrices=False)[2][:2]
    expected = np.mean(np.abs(points @ normal)) / np.linalg.norm(plane @ normal)
    for parameters in ({"n_components": 2}, {"n_components": 2, "n_steps": 1}, {"n_components": 2, "rate": 1.0}):
        assert constrained_margin(model, labelled(model, points), **parameters) == pytest.approx(-expected, rel=1e-4)
    whole = np.mean(np.abs(points @ normal)) / np.linalg.norm(normal)
    assert constrained_margin(model, labelled(model, points), n_components=9) == pytest.approx(-whole, rel=1e-4)
    assert expected > whole


def test_the_boundary_of_a_network_that_is_not_linear():
    """The boundary is |x| + |y| = 2, so the distance from an inner point to it is (2 - |x| - |y|) / sqrt 2."""
    kernels = [[1, -1, 0, 0], [0, 0, 1, -1]], [[1.0, 0.0]] * 4
    model = dense(*kernels, biases=[[0.0] * 4, [0.0, 2.0]])  # logits |x| + |y| and 2
    points = [[0.9, 0.5], [-0.6, 0.7], [0.5, -0.5], [-0.4, -0.5]]
    expected = [(2 - abs(x) - abs(y)) / math.sqrt(2) for x, y in points]
    assert constrained_margin(model, labelled(model, points)) == pytest.approx(-np.mean(expected), rel=1e-4)


@pytest.mark.rest
def test_against_a_search_over_a_grid():
    rng = np.random.default_rng(3)
    kernels, biases = [rng.normal(size=(2, 16)), rng.normal(size=(16, 3))], [rng.normal(size=16), rng.normal(size=3)]
    model = dense(*kernels, biases=biases)
    points = np.random.default_rng(4).uniform(-1, 1, size=(30, 2))
    subject = Subject(model, labelled(model, points))
    sample = subject.sample(30)
    found = boundary_distances(subject.network, sample, np.eye(2, dtype=np.float32), 0.25, 60)
    side = np.linspace(-4, 4, 801)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    answers = model(grid.astype(np.float32)).numpy().argmax(axis=1)
    nearest = [
        np.linalg.norm(grid[answers != y] - x, axis=1).min() for x, y in zip(sample.inputs, sample.labels, strict=True)
    ]
    assert (found > np.array(nearest) - 0.02).all()  # none is nearer than the boundary
    assert np.median(found / nearest) < 1.05


def test_wrong_answers_do_not_count():
    model, points = dense([[1.0, -1.0], [0.0, 0.0]]), [[1.0, 0.0], [3.0, 1.0], [-7.0, 2.0]]
    assert constrained_margin(model, dataset(points, [0, 0, 0]), n_components=2) == pytest.approx(-2, rel=1e-5)


@pytest.mark.parametrize("n", [3, 40])
def test_components_are_those_of_a_singular_value_decomposition(n):
    points = stretched_images(n)
    subject = Subject(dense(np.ones((5, 2))), dataset(points, np.zeros(n)))
    found = leading_components(subject, 2, 100, 0)
    expected = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2][:2]
    assert np.abs(found @ expected.T) == pytest.approx(np.eye(2), abs=1e-3)


def test_elbow():
    """Package kneed 0.9.0 finds the same elbow for the first three curves."""
    assert elbow(np.array([10.0, 9.0, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5])) == 3
    assert elbow(1 / np.arange(1, 101)) == 10
    assert elbow(np.exp(-np.arange(60) / 7)) == 16
    assert elbow(np.array([2.0, 1.0])) == 2
    assert elbow(np.ones(4)) == 4
