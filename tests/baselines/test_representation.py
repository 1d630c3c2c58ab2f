"""Tests of the penultimate representation, its classes, and the dimension of each layer's output."""

import itertools
import math

import numpy as np
import pytest
import tensorflow as tf
from scipy.optimize import minimize
from scipy.stats import multivariate_normal
from small_networks import dataset, dense, layers, sequential

import baselines
from baselines.core.subject import Subject
from baselines.representation.dimension import slope, two_nn
from baselines.representation.dimension_by_layer import dimensions
from baselines.representation.penultimate import penultimate


def value(measure, points, labels, **parameters):
    """Return a measure's value on a network whose penultimate representation is its input."""
    size = np.shape(points)[1]
    model = dense(np.eye(size), np.ones((size, 4)), activation=None)
    return baselines.load(measure)(model, dataset(points, labels), **parameters)


TWO, THREE = [0, 0, 1, 1], [0, 0, 1, 1, 2, 2]

#: Two classes with variance 1 at distance 4: along another axis, and along the same.
PAIRS, ALONG = [[0, -1], [0, 1], [4, -1], [4, 1]], [[-3, 0], [-1, 0], [1, 0], [3, 0]]

#: Corners of a simplex of three classes, twice each, and means on a line.
SIMPLEX, LINE = np.repeat(np.eye(3), 2, axis=0), [[-1], [-1], [0], [0], [1], [1]]
SQUARE = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])

#: Measures of points with these labels.
CLOSED_FORMS = [
    ("cdnv", PAIRS, TWO, (1 + 1) / (2 * 16)),
    ("cdnv", ALONG, TWO, (1 + 1) / (2 * 16)),
    ("cdnv", [[1, 0], [-1, 0], [1, 0], [-1, 0]], TWO, 1 / (2 * 1e-12)),
    ("neural_collapse_nc1", PAIRS, TWO, 0),  # no variance in the direction of the means
    ("neural_collapse_nc1", ALONG, TWO, 1 / 4 / 2),  # Sigma_W is 1, Sigma_B is 4
    ("neural_collapse_nc1", [[1, 0], [-1, 0], [1, 0], [-1, 0]], TWO, 0),
    ("neural_collapse_nc2", SIMPLEX, THREE, pytest.approx(0, abs=1e-6)),
    ("neural_collapse_nc2", LINE, THREE, math.sqrt(2 - math.sqrt(2))),  # one eigenvalue, where a simplex has two
    ("nearest_class_mean_error", [[-1, 0], [0.4, 0], [2, 0], [-0.9, 0]], TWO, 2 / 4),  # means -0.3 and 0.55
    ("participation_ratio", SQUARE, TWO, 2),
    ("participation_ratio", SQUARE * [2, 1], TWO, (4 + 1) ** 2 / (16 + 1)),
    ("participation_ratio", SQUARE * 0, TWO, 0),
    ("h_score", SIMPLEX, THREE, -2),
    ("h_score", PAIRS, TWO, -1),
    ("h_score", SQUARE * 0, TWO, 0),
]


@pytest.mark.parametrize(("name", "points", "labels", "expected"), CLOSED_FORMS)
def test_closed_forms(name, points, labels, expected):
    found = value(name, points, labels)
    assert found == (pytest.approx(expected, rel=1e-6) if isinstance(expected, int | float) else expected)


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
    assert value("neural_collapse_nc1", points, labels) == pytest.approx(expected, rel=1e-4)
    variances = [np.trace(np.cov(group.T, bias=True)) for group in groups]
    pairs = [
        (variances[i] + variances[j]) / (2 * np.sum((means[i] - means[j]) ** 2))
        for i, j in itertools.combinations(range(3), 2)
    ]
    assert value("cdnv", points, labels) == pytest.approx(np.mean(pairs), rel=1e-5)
    expected = np.trace(np.linalg.pinv(np.cov(points.T)) @ np.cov(means[labels].T))
    assert value("h_score", points, labels) == pytest.approx(-expected, rel=1e-5)


@pytest.mark.parametrize("measure", ["cdnv", "neural_collapse_nc1"])
def test_collapsed_classes_are_0_and_classes_with_one_example_do_not_count(measure):
    points, labels = clusters()
    centers = np.array([points[labels == label].mean(axis=0) for label in range(3)])
    assert value(measure, np.round(centers)[labels], labels) == 0
    more = np.concatenate([points, [[50.0] * 5]]), np.append(labels, 3)
    assert value(measure, *more) == pytest.approx(value(measure, points, labels), rel=1e-6)


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


def test_the_slope_of_quantiles_of_ratios_of_distances_as_in_the_authors_code():
    with np.errstate(divide="ignore"):
        ratios = (1 - np.arange(1, 401) / 400) ** (-1 / 3.0)  # the last one is infinite, and left out
    for fraction in (0.5, 0.9):
        assert slope(np.random.default_rng(0).permutation(ratios), fraction) == pytest.approx(3)
    points = np.array([0.0, 1.0, 3.0, 7.0])
    ratios = [3 / 1, 2 / 1, 3 / 2, 6 / 4]
    expected = pytest.approx(slope(np.array(ratios), 0.9), rel=1e-6)
    assert value("intrinsic_dimension", points[:, None], np.zeros(4)) == expected
    points = np.random.default_rng(1).normal(size=(60, 3))
    distances = np.sort(np.linalg.norm(points[:, None] - points[None], axis=2), axis=1)
    x = np.sort(np.log(distances[:, 2] / distances[:, 1]))[:54]
    y = -np.log(1 - np.arange(1, 55) / 60)
    assert value("intrinsic_dimension", points, np.zeros(60)) == pytest.approx(float(x @ y / (x @ x)), rel=1e-5)


def test_examples_without_a_ratio_of_distances_do_not_count():
    """As in the authors' code, examples with an exact copy or with two equally near neighbours are left out."""
    points = np.random.default_rng(0).random((300, 2))
    expected = value("intrinsic_dimension", points, np.zeros(300))
    others = 50 + np.array([[0, 0], [0, 0], [9, 9], [9, 8], [9, 10], [20, 20], [20, 21], [20, 19]])
    between = 50 + np.array([[9, 8], [9, 10], [20, 21], [20, 19]])  # copies of middle neighbours
    more = np.concatenate([points, others, between])
    assert value("intrinsic_dimension", more, np.zeros(312)) == pytest.approx(expected)
    assert value("intrinsic_dimension", np.repeat(points[:2], 3, axis=0), np.zeros(6)) == 0


def test_rank_against_a_singular_value_decomposition():
    points = np.random.default_rng(3).normal(size=(20, 30))  # fewer examples than features
    shares = np.linalg.svd(points, compute_uv=False)
    shares = shares / shares.sum() + 1e-7
    expected = np.exp(-np.sum(shares * np.log(shares)))
    assert value("rankme", points, np.zeros(20)) == pytest.approx(-expected, rel=1e-5)


#: Measures of linear networks: their representation is the input, and their last kernel is given.
POINTS, ANSWERS = [[-1, 0], [0.4, 0], [2, 0], [-0.9, 0]], np.array([[1, -1], [0, 0]])  # class 0 where x > 0
CENTRED = np.eye(3) - 1 / 3

#: Half of the predictions with probability 0.8 are right, and the prediction with probability 0.6 is right.
PREDICTIONS = np.eye(2), np.log([[0.8, 0.2], [0.8, 0.2], [0.4, 0.6]]), [0, 1, 1]
OF_LINEAR = [
    ("neural_collapse_nc3", np.eye(3), SIMPLEX, THREE, 2 - 4 / math.sqrt(6)),
    ("neural_collapse_nc3", CENTRED, SIMPLEX, THREE, 0),
    ("neural_collapse_nc3", -CENTRED, SIMPLEX, THREE, 4),
    ("neural_collapse_nc3", np.hstack([CENTRED, [[5.0], [-7.0], [1.0]]]), SIMPLEX, THREE, 0),  # a class of no examples
    ("neural_collapse_nc4", ANSWERS, POINTS, TWO, 4 / 4),  # means are -0.3 and 0.55
    ("neural_collapse_nc4", -ANSWERS, POINTS, TWO, 0),
    ("neg_confidence", *PREDICTIONS, -(0.8 + 0.8 + 0.6) / 3),
    ("expected_calibration_error", *PREDICTIONS, (2 * 0.3 + 0.4) / 3),
    ("expected_calibration_error:n_bins=1", *PREDICTIONS, 2.2 / 3 - 2 / 3),
    ("expected_calibration_error", 100 * np.eye(2), np.eye(2), [0, 1], 0),
]


@pytest.mark.parametrize(("name", "kernel", "points", "labels", "expected"), OF_LINEAR)
def test_closed_forms_of_linear_networks(name, kernel, points, labels, expected):
    model = dense(np.eye(np.shape(points)[1]), kernel, activation=None)
    assert baselines.load(name)(model, dataset(points, labels)) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_a_power_law_of_variances(exponent):
    directions = np.linalg.qr(np.random.default_rng(0).normal(size=(61, 60)) - 1)[0]
    directions = np.linalg.svd(directions - directions.mean(axis=0), full_matrices=False)[0]
    points = directions * np.arange(1, 61) ** (-exponent / 2)
    assert value("alpha_req", points, np.zeros(61)) == pytest.approx(abs(exponent - 1), abs=1e-3)


def test_the_evidence_is_the_largest_that_precisions_give_even_if_labels_are_fitted_exactly_or_all_is_zero():
    points, labels = clusters()
    points = points.astype(np.float32).astype(float)

    def minus_evidence(logs, target):
        weights, noise = np.exp(-logs)  # variances
        covariance = weights * points @ points.T + noise * np.eye(len(points))
        return -multivariate_normal.logpdf(target, np.zeros(len(points)), covariance)

    targets = (labels[:, None] == np.arange(3)).T.astype(float)
    best = [minimize(minus_evidence, [1.0, 1.0], args=(target,), method="Nelder-Mead").fun for target in targets]
    assert value("log_me", points, labels) == pytest.approx(np.mean(best) / len(points), rel=1e-4)
    assert math.isfinite(value("log_me", np.eye(6), THREE))
    assert value("log_me", SIMPLEX, THREE) < value("log_me", np.zeros((6, 2)), THREE) < math.inf


peak, last_to_peak = map(baselines.load, ("intrinsic_dimension_peak", "intrinsic_dimension_last_to_peak"))
DRAW = np.random.default_rng(0)
SPREAD_DATA = dataset(DRAW.normal(size=(500, 4)), [0] * 500)


def of_ranks(*widths):
    """Return a linear network: the output of layer i has 20 units, but only `widths[i]` dimensions."""
    kernels = [
        np.linalg.qr(DRAW.normal(size=(before, before)))[0][:, :width] @ DRAW.normal(size=(width, after))
        for before, width, after in zip((4, *[20] * (len(widths) - 1)), widths, [20] * len(widths), strict=True)
    ]
    return dense(*kernels, DRAW.normal(size=(20, 3)), activation=None)


def test_linear_layers_have_the_dimension_of_their_image_and_measures_look_at_the_peak():
    model = of_ranks(4, 2, 1)
    found = dimensions(Subject(model, SPREAD_DATA), 500, 0.9, 0)
    assert found[:-1] == pytest.approx([4, 2, 1], rel=0.15)
    assert found[-1] == found[-2]
    assert peak(model, SPREAD_DATA) == found.max()
    assert last_to_peak(model, SPREAD_DATA) == found[-1] / found.max()
    assert last_to_peak(of_ranks(4), SPREAD_DATA) == 1
    assert last_to_peak(dense(DRAW.normal(size=(4, 3))), SPREAD_DATA) == 1


def test_layers_in_which_neighbours_are_equally_far_are_left_out():
    places = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    data = dataset(places, [0] * 36)
    hidden = [layers.Dense(2, name="copy"), layers.Dense(2, "sigmoid", name="bent")]
    model = sequential((2,), *hidden, layers.Dense(3))
    for layer, kernel in zip(model.layers, (np.eye(2), [[0.1, 0.2], [0.05, -0.3]]), strict=False):
        layer.set_weights([np.array(kernel), np.zeros(2)])
    found = dimensions(Subject(model, data), 500, 0.9, 0)
    assert np.isnan(found).tolist() == [True, False, False]
    assert peak(model, data) == found[1]


def test_a_layer_of_one_point_has_dimension_0():
    model = dense(np.eye(4), np.zeros((4, 4)), np.eye(4, 3), activation=None)
    found = dimensions(Subject(model, SPREAD_DATA), 500, 0.9, 0)
    assert found == pytest.approx([4, 0, 0], rel=0.15)
    assert last_to_peak(model, SPREAD_DATA) == 0
    dead = dense(np.zeros((4, 4)), np.eye(4, 3))
    assert (peak(dead, SPREAD_DATA), last_to_peak(dead, SPREAD_DATA)) == (0, 1)


def test_a_layer_is_read_in_blocks_of_features(monkeypatch):
    points = DRAW.normal(size=(60, 50)).astype(np.float32) + 100
    expected = two_nn(points, 0.9)
    monkeypatch.setattr("baselines.representation.dimension.COLUMNS", 7)
    assert two_nn(points, 0.9) == expected
