"""Tests of class means, spectra and linear models of the penultimate representation."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal
from small_networks import dataset, dense, layers, sequential
from test_representation import PAIRS, clusters, value

import baselines

nc2, nc3, nc4 = (baselines.load(f"neural_collapse_nc{number}") for number in (2, 3, 4))
nearest, ratio, alpha_req, log_me, h_score, confidence, calibration = map(
    baselines.load,
    (
        "nearest_class_mean_error", "participation_ratio", "alpha_req", "log_me", "h_score", "neg_confidence",
        "expected_calibration_error",
    ),
)  # fmt: skip

#: Corners of a simplex of three classes, twice each.
SIMPLEX = np.repeat(np.eye(3), 2, axis=0)
THREE = [0, 0, 1, 1, 2, 2]


def linear(kernel, points, labels, measure, **parameters):
    """Return a measure's value on a linear network: its representation is the input, its last kernel is `kernel`."""
    model = dense(np.eye(np.shape(points)[1]), kernel, activation=None)
    return measure(model, dataset(points, labels), **parameters)


def test_collapse_of_a_simplex_whatever_classes_lack_examples():
    assert value(nc2, SIMPLEX, THREE) == pytest.approx(0, abs=1e-6)
    assert linear(np.eye(3), SIMPLEX, THREE, nc3) == pytest.approx(2 - 4 / math.sqrt(6))
    assert linear(np.eye(3) - 1 / 3, SIMPLEX, THREE, nc3) == pytest.approx(0, abs=1e-6)
    assert linear(1 / 3 - np.eye(3), SIMPLEX, THREE, nc3) == pytest.approx(4)
    kernel = np.hstack([np.eye(3) - 1 / 3, [[5.0], [-7.0], [1.0]]])
    assert linear(kernel, SIMPLEX, THREE, nc3) == pytest.approx(0, abs=1e-6)


def test_means_on_a_line_are_far_from_a_simplex():
    """The means have a Gram matrix with one nonzero eigenvalue; for a simplex, it would have two equal eigenvalues."""
    means = np.array([-1.0, 0.0, 1.0])
    gram = np.outer(means, means) / 2
    simplex = (np.eye(3) - 1 / 3) / math.sqrt(2)
    expected = math.sqrt(2 - 2 * np.sum(gram * simplex))
    assert expected == pytest.approx(math.sqrt(2 - math.sqrt(2)))
    assert value(nc2, np.repeat(means, 2)[:, None], THREE) == pytest.approx(expected, rel=1e-6)


def test_representations_that_do_not_fit_are_refused():
    model = sequential((4, 4, 1), layers.Conv2D(3, 2), layers.GlobalMaxPooling2D())
    with pytest.raises(baselines.MeasureUnavailable, match="it has 1 numbers, and the kernel takes in 4"):
        nc3(model, dataset(np.random.default_rng(0).random((6, 4, 4, 1)), THREE))
    with pytest.raises(baselines.MeasureUnavailable, match="of 12 dimensions or more"):
        value(alpha_req, clusters()[0], np.zeros(90))


def test_the_nearest_mean_and_the_networks_answer():
    points, labels = [[-1, 0], [0.4, 0], [2, 0], [-0.9, 0]], [0, 0, 1, 1]  # means -0.3 and 0.55
    assert value(nearest, points, labels) == pytest.approx(2 / 4)
    answers = [[1, -1], [0, 0]]  # class 0 where x > 0
    assert linear(answers, points, labels, nc4) == pytest.approx(4 / 4)
    assert linear(-np.array(answers), points, labels, nc4) == pytest.approx(0)


@pytest.mark.parametrize(("scales", "expected"), [((1, 1), 2), ((2, 1), (4 + 1) ** 2 / (16 + 1)), ((0, 0), 0)])
def test_variance_in_equal_and_in_unequal_parts(scales, expected):
    square = [[1, 1], [1, -1], [-1, 1], [-1, -1]]
    assert value(ratio, np.multiply(square, scales), [0, 0, 1, 1]) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_a_power_law_of_variances(exponent):
    directions = np.linalg.qr(np.random.default_rng(0).normal(size=(61, 60)) - 1)[0]
    directions = np.linalg.svd(directions - directions.mean(axis=0), full_matrices=False)[0]
    points = directions * np.arange(1, 61) ** (-exponent / 2)
    assert value(alpha_req, points, np.zeros(61)) == pytest.approx(abs(exponent - 1), abs=1e-3)


def test_the_evidence_is_the_largest_that_precisions_give():
    points, labels = clusters()
    points = points.astype(np.float32).astype(float)

    def minus_evidence(logs, target):
        weights, noise = np.exp(-logs)  # variances
        covariance = weights * points @ points.T + noise * np.eye(len(points))
        return -multivariate_normal.logpdf(target, np.zeros(len(points)), covariance)

    targets = (labels[:, None] == np.arange(3)).T.astype(float)
    best = [minimize(minus_evidence, [1.0, 1.0], args=(target,), method="Nelder-Mead").fun for target in targets]
    assert value(log_me, points, labels) == pytest.approx(np.mean(best) / len(points), rel=1e-4)


def test_labels_that_are_fitted_exactly_and_a_representation_of_zeros_have_an_evidence():
    assert math.isfinite(value(log_me, np.eye(6), THREE))
    assert math.isfinite(value(log_me, np.zeros((6, 2)), THREE))
    assert value(log_me, SIMPLEX, THREE) < value(log_me, np.zeros((6, 2)), THREE)


def test_h_score_of_collapsed_classes_and_against_covariances():
    assert value(h_score, SIMPLEX, THREE) == pytest.approx(-2, rel=1e-6)
    assert value(h_score, PAIRS, [0, 0, 1, 1]) == pytest.approx(-1, rel=1e-6)
    assert value(h_score, np.zeros((4, 2)), [0, 0, 1, 1]) == 0
    points, labels = clusters()
    means = np.stack([points[labels == label].mean(axis=0) for label in range(3)])[labels]
    expected = np.trace(np.linalg.pinv(np.cov(points.T)) @ np.cov(means.T))
    assert value(h_score, points, labels) == pytest.approx(-expected, rel=1e-5)


def test_confidence_and_calibration():
    """Half of the predictions with probability 0.8 are right, and the prediction with probability 0.6 is right."""
    given = np.eye(2), np.log([[0.8, 0.2], [0.8, 0.2], [0.4, 0.6]]), [0, 1, 1]
    assert linear(*given, confidence) == pytest.approx(-(0.8 + 0.8 + 0.6) / 3, rel=1e-6)
    assert linear(*given, calibration) == pytest.approx((2 * 0.3 + 0.4) / 3, rel=1e-6)
    assert linear(*given, calibration, n_bins=1) == pytest.approx(2.2 / 3 - 2 / 3, rel=1e-5)
    assert linear(100 * np.eye(2), [[1, 0], [0, 1]], [0, 1], calibration) == pytest.approx(0, abs=1e-12)
