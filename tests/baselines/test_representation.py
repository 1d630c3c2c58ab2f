"""Tests of collapse and dimension of the penultimate representation: closed forms, peers, invariances."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
from matrix import rest
from small_networks import dataset, dense, layers

import baselines
from baselines.core.subject import Subject
from baselines.representation.dimension import slope
from baselines.representation.penultimate import penultimate

cdnv, nc1, dimension, rankme = map(baselines.load, ("cdnv", "neural_collapse_nc1", "intrinsic_dimension", "rankme"))


def showing(points, scale=1.0, rotation=None):
    """A network whose penultimate representation is its input, scaled and rotated."""
    size = np.shape(points)[1]
    kernel = scale * (np.eye(size) if rotation is None else rotation)
    return dense(kernel, np.ones((size, 4)), activation=None)


def value(measure, points, labels, **parameters):
    return measure(showing(points), dataset(points, labels), **parameters)


#: Two classes with variance 1 at distance 4, along another axis.
PAIRS = [[0, -1], [0, 1], [4, -1], [4, 1]]


def test_pairs_of_points_in_closed_form():
    assert value(cdnv, PAIRS, [0, 0, 1, 1]) == pytest.approx((1 + 1) / (2 * 16))
    assert value(nc1, PAIRS, [0, 0, 1, 1]) == pytest.approx(0, abs=1e-12)  # no variance in the direction of the means
    # Sigma_W is 1, Sigma_B is 4 for means at -2 and 2.
    points = [[-3, 0], [-1, 0], [1, 0], [3, 0]]
    assert value(nc1, points, [0, 0, 1, 1]) == pytest.approx(1 / 4 / 2)
    assert value(cdnv, points, [0, 0, 1, 1]) == pytest.approx((1 + 1) / (2 * 16))
    points = [[1, 0], [-1, 0], [1, 0], [-1, 0]]
    assert value(cdnv, points, [0, 0, 1, 1]) == pytest.approx(1 / (2 * 1e-12))
    assert value(nc1, points, [0, 0, 1, 1]) == 0


def clusters(seed=0, n=90, size=5):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    return (rng.normal(size=(3, size)) * 3)[labels] + rng.normal(size=(n, size)) * [1, 2, 0.5, 1, 1], labels


def test_against_covariance_matrices():
    points, labels = clusters()
    groups = [points[labels == label] for label in range(3)]
    means = np.array([group.mean(axis=0) for group in groups])
    within = sum(len(g) * np.cov(g.T, bias=True) for g in groups) / len(points)
    between = np.cov(means.T, bias=True)
    expected = np.trace(within @ np.linalg.pinv(between, rcond=1e-9)) / 3
    assert value(nc1, points, labels) == pytest.approx(expected, rel=1e-4)
    variances = [np.trace(np.cov(group.T, bias=True)) for group in groups]
    pairs = [
        (variances[i] + variances[j]) / (2 * np.sum((means[i] - means[j]) ** 2))
        for i, j in itertools.combinations(range(3), 2)
    ]
    assert value(cdnv, points, labels) == pytest.approx(np.mean(pairs), rel=1e-5)


@pytest.mark.parametrize("name", ["cdnv", "neural_collapse_nc1", "intrinsic_dimension", "rankme"])
def test_scale_and_rotation_of_the_representation_do_not_matter(name):
    points, labels = clusters()
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))[0]
    measure = baselines.load(name)
    expected = measure(showing(points), dataset(points, labels))
    moved = measure(showing(points, 7, rotation), dataset(points, labels))
    assert moved == pytest.approx(expected, rel=1e-4)
    assert expected != 0


@pytest.mark.parametrize("measure", [cdnv, nc1])
def test_collapsed_classes_are_0_and_spread_is_more(measure):
    points, labels = clusters()
    centers = np.array([points[labels == label].mean(axis=0) for label in range(3)])
    assert value(measure, np.round(centers)[labels], labels) == 0
    values = [value(measure, centers[labels] + s * (points - centers[labels]), labels) for s in (0.1, 0.2, 1)]
    assert values == sorted(values)
    assert values[1] / values[0] == pytest.approx(4, rel=1e-3)


@pytest.mark.parametrize("measure", [cdnv, nc1])
def test_classes_with_one_example_do_not_count(measure):
    points, labels = clusters()
    more = np.concatenate([points, [[50.0] * 5]]), np.append(labels, 3)
    assert value(measure, *more) == pytest.approx(value(measure, points, labels), rel=1e-6)
    with pytest.raises(baselines.MeasureUnavailable, match="two classes with two examples each"):
        value(measure, PAIRS, [0, 0, 0, 1])


def test_the_representation_is_what_the_last_weight_layer_takes_in():
    tf.keras.utils.set_random_seed(0)
    first = [tf.keras.Input((4, 4, 2)), layers.Conv2D(3, 2), layers.BatchNormalization(), layers.ReLU()]
    last = [layers.Flatten(), layers.Dense(3, "softmax")]
    model = tf.keras.Sequential([*first, *last])
    images = np.random.default_rng(0).normal(size=(10, 4, 4, 2)).astype(np.float32)
    subject = Subject(model, dataset(images, np.zeros(10)))
    features, _ = penultimate(subject, 100, 0)
    expected = tf.keras.Sequential([*first, last[0]])(subject.sample(100).inputs)
    assert features == pytest.approx(expected.numpy(), rel=1e-4, abs=1e-6)


@pytest.mark.rest
@pytest.mark.parametrize("size", [2, rest(1), rest(5)])
def test_intrinsic_dimension_of_a_subspace(size):
    rng = np.random.default_rng(size)
    points = rng.random((4000, size)) @ rng.normal(size=(size, 8))
    assert value(dimension, points, np.zeros(4000), n_samples=4000) == pytest.approx(size, rel=0.1)


@pytest.mark.parametrize("fraction", [0.5, 0.9])
def test_the_slope_of_quantiles_is_their_exponent(fraction):
    with np.errstate(divide="ignore"):
        ratios = (1 - np.arange(1, 401) / 400) ** (-1 / 3.0)  # the last one is infinite, and left out
    assert slope(np.random.default_rng(0).permutation(ratios), fraction) == pytest.approx(3)


def test_ratios_of_distances_as_in_the_authors_code():
    points = np.array([0.0, 1.0, 3.0, 7.0])
    ratios = [3 / 1, 2 / 1, 3 / 2, 6 / 4]
    assert value(dimension, points[:, None], np.zeros(4)) == pytest.approx(slope(np.array(ratios), 0.9), rel=1e-6)
    points = np.random.default_rng(1).normal(size=(60, 3))
    distances = np.sort(np.linalg.norm(points[:, None] - points[None], axis=2), axis=1)
    x = np.sort(np.log(distances[:, 2] / distances[:, 1]))[:54]
    y = -np.log(1 - np.arange(1, 55) / 60)
    assert value(dimension, points, np.zeros(60)) == pytest.approx(float(x @ y / (x @ x)), rel=1e-5)


def test_examples_without_a_ratio_of_distances_do_not_count():
    """As in the authors' code, examples with an exact copy or with two equally near neighbours are left out."""
    points = np.random.default_rng(0).random((300, 2))
    expected = value(dimension, points, np.zeros(300))
    others = 50 + np.array([[0, 0], [0, 0], [9, 9], [9, 8], [9, 10], [20, 20], [20, 21], [20, 19]])
    between = 50 + np.array([[9, 8], [9, 10], [20, 21], [20, 19]])  # copies of middle neighbours
    assert value(dimension, np.concatenate([points, others, between]), np.zeros(312)) == pytest.approx(expected)
    assert value(dimension, np.repeat(points[:2], 3, axis=0), np.zeros(6)) == 0


def test_a_lattice_has_no_intrinsic_dimension():
    points = np.stack(np.meshgrid([0, 1, 2], [0, 1, 2]), axis=-1).reshape(-1, 2)
    with pytest.raises(baselines.MeasureUnavailable, match="are not equally far, which are lacking"):
        value(dimension, points, np.zeros(9))


@pytest.mark.parametrize(("spectrum", "expected"), [([1, 1, 1, 1], 4), ([1, 0, 0, 0], 1), ([3, 1, 0, 0], 4 / 3**0.75)])
def test_rank_of_a_known_spectrum(spectrum, expected):
    """The effective rank of the spectrum (3/4, 1/4) is exp of its entropy, 4 / 3^(3/4)."""
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.normal(size=(n, 4)))[0] for n in (50, 4))
    points = (left * spectrum) @ right.T
    assert value(rankme, points, np.zeros(50)) == pytest.approx(-expected, rel=1e-4)


def test_rank_against_a_singular_value_decomposition():
    points = np.random.default_rng(3).normal(size=(20, 30))  # fewer examples than features
    shares = np.linalg.svd(points, compute_uv=False)
    shares = shares / shares.sum() + 1e-7
    expected = np.exp(-np.sum(shares * np.log(shares)))
    assert value(rankme, points, np.zeros(20)) == pytest.approx(-expected, rel=1e-5)
