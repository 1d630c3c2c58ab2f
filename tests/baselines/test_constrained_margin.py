"""Tests of distances from the decision boundary along principal components: closed forms, a grid, invariances."""

import math

import numpy as np
import pytest
from small_networks import dataset, dense, labelled

import baselines
from baselines.core.subject import Subject
from baselines.margin.constrained_margin import boundary_distances, elbow, leading_components

constrained_margin = baselines.load("constrained_margin")


def images(n=200, seed=0):
    """Return examples whose variance lies mostly along the first two axes."""
    return np.random.default_rng(seed).normal(size=(n, 5)) * [10, 8, 0.3, 0.2, 0.1]


def test_a_linear_network():
    """The boundary is a hyperplane. Within a subspace, its distance is the margin over the norm of the projected
    normal.
    """
    rng = np.random.default_rng(1)
    kernel = rng.normal(size=(5, 2))
    model, points = dense(kernel), images()
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
    """The boundary is |x| + |y| = 2, so a point inside has the distance (2 - |x| - |y|) / sqrt 2 from an edge."""
    kernels = [[1, -1, 0, 0], [0, 0, 1, -1]], [[1.0, 0.0]] * 4
    model = dense(*kernels, biases=[[0.0] * 4, [0.0, 2.0]])  # logits |x| + |y| and 2
    points = [[0.9, 0.5], [-0.6, 0.7], [0.5, -0.5], [-0.4, -0.5]]
    expected = [(2 - abs(x) - abs(y)) / math.sqrt(2) for x, y in points]
    assert constrained_margin(model, labelled(model, points)) == pytest.approx(-np.mean(expected), rel=1e-4)


def curved(seed=3):
    rng = np.random.default_rng(seed)
    return dense(rng.normal(size=(2, 16)), rng.normal(size=(16, 3)), biases=[rng.normal(size=16), rng.normal(size=3)])


@pytest.mark.rest
def test_against_a_search_over_a_grid():
    model = curved()
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


def network(rotation, scale_in=1.0, scale_out=1.0):
    rng = np.random.default_rng(2)
    return dense(scale_in * rotation.T @ rng.normal(size=(5, 12)), scale_out * rng.normal(size=(12, 3)))


@pytest.mark.rest
def test_rotations_and_scale():
    """Rotated inputs and larger logits change no value; larger inputs are farther from the boundary."""
    rotation, points = np.linalg.qr(np.random.default_rng(5).normal(size=(5, 5)))[0], images()
    plain = network(np.eye(5))
    value = constrained_margin(plain, labelled(plain, points))
    assert value < 0
    for model, seen, factor in (
        (network(rotation.T), points @ rotation.T, 1),
        (network(np.eye(5), scale_out=9), points, 1),
        (network(np.eye(5), scale_in=0.5), 2 * points, 2),
    ):
        assert constrained_margin(model, labelled(model, seen)) == pytest.approx(factor * value, rel=0.01)


def test_wrong_answers_do_not_count():
    model, points = dense([[1.0, -1.0], [0.0, 0.0]]), [[1.0, 0.0], [3.0, 1.0], [-7.0, 2.0]]
    assert constrained_margin(model, dataset(points, [0, 0, 0]), n_components=2) == pytest.approx(-2, rel=1e-5)
    with pytest.raises(baselines.MeasureUnavailable, match="classified correctly"):
        constrained_margin(model, dataset(points, [1, 1, 0]))
    with pytest.raises(baselines.MeasureUnavailable, match="inputs that differ"):
        constrained_margin(model, dataset([[1.0, 0.0]] * 3, [0, 0, 0]))


@pytest.mark.parametrize("n", [3, 40])
def test_components_are_those_of_a_singular_value_decomposition(n):
    points = images(n)
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
