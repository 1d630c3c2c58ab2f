"""Tests of cognitive neural activation: entropy of inputs, slope of activity over depth, areas between curves."""

import math

import hypothesis.strategies as st
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from scipy.integrate import quad
from scipy.special import softmax
from scipy.stats import entropy, pearsonr
from small_networks import dataset, dense, layers, random_kernels, sequential, t1

import baselines
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.neural_activation.area import area_between, smoothed
from baselines.neural_activation.curve import activity, augmented, correlation, curve, input_entropies, slopes

NAMES = ("cna", "cna_area", "cna_margin", "cna_area_over_margin")
cna, cna_area, cna_margin, cna_area_over_margin = map(baselines.load, NAMES)

WIDTHS = (12, 9, 7, 5, 3)


def images(n=60, shape=(12,), seed=0):
    """Images with few to many different pixels."""
    draw = np.random.default_rng(seed)
    levels = draw.integers(2, 40, (n, *[1] * len(shape)))
    return (np.floor(draw.random((n, *shape)) * levels) / levels).astype(np.float32)


def kernels():
    return random_kernels(*WIDTHS)


def data(n=60):
    return dataset(images(n), np.arange(n) % 3)


def sums_of(kernels, inputs):
    """Return the sums of pre-activations of a ReLU network without biases."""
    found = []
    for kernel in kernels:
        inputs = inputs @ kernel
        found.append(inputs.sum(axis=1))
        inputs = np.maximum(inputs, 0)
    return np.stack(found, axis=1)


def test_entropy_in_closed_form_whatever_the_order_of_pixels():
    found = input_entropies(np.array([[0.5] * 4, [0, 0.2, 0.4, 1], [0, 0, 1, 1]]), 1000, (0, 1))
    assert found == pytest.approx([0, math.log(4), math.log(2)])
    assert input_entropies(np.full((2, 3, 3, 1), 7.0), 1000, (7, 7)) == pytest.approx([0, 0])
    pixels = images(5)
    mixed = np.random.default_rng(0).permuted(pixels, axis=1)
    assert input_entropies(mixed, 1000, (0, 1)) == pytest.approx(input_entropies(pixels, 1000, (0, 1)))
    assert input_entropies(np.array([[-9.0, 0, 0.999, 30]]), 2, (0, 1)) == pytest.approx([math.log(2)])


@pytest.mark.rest
@given(st.integers(0, 1000), st.integers(1, 300), st.integers(1, 400))
@settings(max_examples=30)
def test_entropy_of_a_histogram(seed, n, n_bins):
    pixels = np.random.default_rng(seed).normal(size=(n, 20))
    span = pixels.min(), pixels.max()
    found = input_entropies(pixels.reshape(n, 2, 5, 2), n_bins, span)
    assert found == pytest.approx([entropy(np.histogram(row, n_bins, span)[0]) for row in pixels], abs=1e-12)
    assert (found <= math.log(n_bins) + 1e-12).all()


def test_slope_in_closed_form():
    assert slopes(np.array([[1.0, 2, 4, 8]]), True) == pytest.approx([2.3])
    assert slopes(np.array([[1.0, 2, 4, 8, 99]]), False) == pytest.approx([2.3])


@given(st.integers(0, 1000), st.integers(2, 9), st.floats(-5, 5), st.floats(-5, 5))
@settings(max_examples=30)
def test_slope_is_that_of_least_squares(seed, depth, shift, factor):
    sums = np.random.default_rng(seed).normal(size=(4, depth))
    found = slopes(sums, True)
    assert found == pytest.approx(np.polyfit(np.arange(depth), sums.T, 1)[0])
    assert slopes(factor * sums + shift, True) == pytest.approx(factor * found, abs=1e-9)


def test_activity_of_dense_layers():
    found, logits = activity(Subject(dense(*kernels()), data()).network, images())
    assert found == pytest.approx(sums_of(kernels(), images()), abs=1e-5)
    assert logits == pytest.approx(dense(*kernels())(images()).numpy(), abs=1e-5)


def convolutional(fused=True):
    apart = [] if fused else [layers.BatchNormalization(), layers.ReLU()]
    middle = [layers.Conv2D(4, 3, activation="relu" if fused else None), *apart, layers.Conv2D(5, 2), layers.ReLU()]
    model = sequential((6, 6, 2), *middle, layers.Flatten(), layers.Dense(3, "softmax"))
    draw = np.random.default_rng(3)
    model.set_weights([np.abs(draw.normal(size=w.shape)) - 0.3 * (w.ndim > 1) for w in model.get_weights()])
    return model


@pytest.mark.parametrize("fused", [True, False], ids=["fused activation", "batch norm"])
def test_activity_is_that_before_normalization_and_activation(fused):
    model, inputs = convolutional(fused), images(9, (6, 6, 2))
    kernel, bias = model.layers[0].get_weights()
    first = tf.nn.conv2d(inputs, kernel, 1, "VALID") + bias
    found, _ = activity(Subject(model, None).network, inputs)
    assert found.shape == (9, 3)
    assert found[:, 0] == pytest.approx(np.sum(first, axis=(1, 2, 3)), rel=1e-5)


@pytest.mark.parametrize("include", [False, True])
def test_cna_against_scipy(include):
    alpha, sums = input_entropies(images(), 1000, (images().min(), images().max())), sums_of(kernels(), images())
    expected = -pearsonr(alpha, slopes(sums if include else sums[:, :-1], True))[0]
    assert cna(dense(*kernels()), data(), include_output_layer=include) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("gain", "expected"), [(2, -1), (0.5, 1)])
def test_cna_of_a_network_that_sees_the_entropy(gain, expected):
    inputs = [[1, 0, 0, 0], [1, 1, 0, 0]]  # entropy and number of pixels grow together, up to a half
    model = dense(np.ones((4, 1)), [[gain]], np.ones((1, 2)))
    assert cna(model, dataset(inputs, [0, 1])) == pytest.approx(expected)


def test_a_constant_has_no_correlation():
    assert correlation(np.full(3, 0.1), np.arange(3.0)) == 0
    assert correlation(np.arange(3.0), np.zeros(3)) == 0
    assert cna(dense(*[0 * k for k in kernels()]), data()) == 0
    assert cna(dense(*kernels()), dataset(np.ones((5, 12)), [0] * 5)) == 0
    assert cna(dense(*kernels()), data(1)) == 0
    assert cna(t1(), dataset([[1, 1]], [0]), include_output_layer=True) == 0


def test_area_of_the_training_curve_and_that_of_augmented_images():
    subject = Subject(dense(*kernels()), data())
    inputs = subject.sample(10_000, 5).inputs
    alpha, beta = curve(subject.network, inputs, value_range=(inputs.min(), inputs.max()))
    changed = augmented(inputs, stream("augmentation of activities", 5))
    other = slopes(activity(subject.network, changed)[0], False)
    assert cna_area(dense(*kernels()), data(), seed=5) == pytest.approx(area_between((alpha, beta), (alpha, other)))


def test_area_with_parameters():
    model = dense(*kernels())
    values = [
        cna_area(model, data(), **given)
        for given in ({}, {"parity_polygon": True}, {"include_output_layer": True}, {"seed": 1}, {"n_samples": 30})
    ]
    assert len(set(values)) == 5
    assert all(0 < value < 1 for value in values)


def test_a_network_that_ignores_its_input_has_no_area():
    model = dense(*[0 * k for k in kernels()], biases=[np.arange(width) for width in WIDTHS[1:]])
    assert [measure(model, data()) for measure in (cna_area, cna_margin, cna_area_over_margin)] == [0, 0, 0]


@pytest.mark.parametrize("space", ["probabilities", "logits"])
@pytest.mark.parametrize("statistic", ["max", "p10"])
def test_margins(space, statistic):
    model, given = dense(*kernels()), {"space": space, "statistic": statistic}
    sample = Subject(model, data()).sample(10_000)
    answers = model(sample.inputs).numpy()
    answers = softmax(answers, axis=1) if space == "probabilities" else answers
    is_true = np.eye(3, dtype=bool)[sample.labels]
    margins = answers[is_true] - np.where(is_true, -np.inf, answers).max(axis=1)
    gamma = margins[:6].max() if statistic == "max" else np.sort(margins)[5]
    area = cna_area(model, data())
    assert cna_margin(model, data(), **given) == pytest.approx(gamma * area, rel=1e-4)
    assert cna_area_over_margin(model, data(), **given) == pytest.approx(area / max(gamma, 1e-6), rel=1e-4)


def test_a_network_that_is_always_wrong_has_a_negative_margin():
    biases = [np.zeros(width) for width in WIDTHS[1:-1]] + [[100, 0, 0]]
    model, wrong = dense(*kernels(), biases=biases), dataset(images(), np.arange(60) % 3 % 2 + 1)
    area = cna_area(model, wrong)
    assert cna_margin(model, wrong) == pytest.approx(-area)
    assert cna_area_over_margin(model, wrong) == pytest.approx(area / 1e-6)


def test_augmented_images_are_shifted_and_mirrored_with_noise(monkeypatch):
    monkeypatch.setattr("baselines.neural_activation.curve.NOISE", 0)
    inputs = np.arange(36, dtype=np.float32).reshape(1, 6, 6, 1).repeat(200, axis=0)
    changed = augmented(inputs, np.random.default_rng(0))
    padded = np.pad(inputs[0, :, :, 0], 4, mode="reflect")
    windows = [padded[y : y + 6, x : x + 6] for y in range(9) for x in range(9)]
    possible = {window[:, ::way].tobytes() for window in windows for way in (1, -1)}
    found = {image[:, :, 0].tobytes() for image in changed}
    assert found <= possible
    assert len(found) > 60


@pytest.mark.parametrize("shape", [(5,), (7, 2), (1, 1, 1), (3, 9, 2)])
def test_augmented_inputs_of_any_shape(shape):
    inputs = images(50, shape)
    changed = augmented(inputs, np.random.default_rng(0))
    assert changed.shape == inputs.shape
    assert changed.dtype == np.float32
    if len(shape) < 3 or shape == (1, 1, 1):
        assert np.std(changed - inputs) == pytest.approx(0.05 * np.ptp(inputs), rel=0.3)


UNIT = np.linspace(0, 1, 400)


def points(seed, n):
    draw = np.random.default_rng(seed)
    alpha = draw.random(n)
    return alpha, np.sin(3 * alpha) * draw.normal() + 0.1 * draw.normal(size=n) + draw.normal()


curves = st.builds(points, st.integers(0, 10_000), st.integers(1, 300))
flag = st.booleans()


@pytest.mark.parametrize(
    ("first", "second", "area", "of_polygon"),
    [
        (np.zeros(400), np.ones(400), 1, 0),
        (UNIT, 1 - UNIT, 0.5, 0),
        (UNIT, UNIT + np.ptp(smoothed(UNIT, UNIT)[1]), 0.5, 0.5),
    ],
    ids=["flat: alpha is no function of beta", "crossing: both sides count, but not in the polygon", "parallel"],
)
def test_areas_in_closed_form(first, second, area, of_polygon):
    curves = (UNIT, first), (UNIT, second)
    assert area_between(*curves) == pytest.approx(area)
    assert area_between(*curves, parity_polygon=True) == pytest.approx(of_polygon, abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "area"),
    [
        (([0, 2], [0, 0]), ([1, 3], [1, 1]), 1 / 3),
        ((UNIT, UNIT), (UNIT + 2, UNIT), 1),
        (([0.0], [0.0]), ([1.0], [0.0]), 1),
        (([1.0], [2.0]), ([1.0, 1.0], [3.0, 5.0]), 0),
        (([1.0], [2.0]), ([1.0], [0.0]), 0),
    ],
    ids=["only common places count", "no common place", "two points", "a place with two points", "one place"],
)
def test_curves_that_meet_in_some_places(first, second, area):
    assert area_between(first, second) == pytest.approx(area)


@given(curves)
@settings(max_examples=30)
def test_a_curve_and_itself(curve):
    assert area_between(curve, curve) == 0
    assert area_between(curve, curve, parity_polygon=True) == pytest.approx(0, abs=1e-12)


@given(curves, curves, flag, st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_symmetric_within_the_box_and_whatever_the_order_of_points(first, second, polygon, random):
    area = area_between(first, second, parity_polygon=polygon)
    assert 0 <= area <= 1 + 1e-12
    assert area_between(second, first, parity_polygon=polygon) == pytest.approx(area)
    order = np.array(random.sample(range(len(first[0])), len(first[0])))
    assert area_between((first[0][order], first[1][order]), second, parity_polygon=polygon) == pytest.approx(area)


@given(curves, curves, flag, st.floats(0.01, 100), st.floats(-10, 10))
@settings(max_examples=50)
def test_invariant_to_positive_affine_changes(first, second, polygon, factor, shift):
    area = area_between(first, second, parity_polygon=polygon)
    for axis in (0, 1):
        changed = [tuple(v * factor + shift if i == axis else v for i, v in enumerate(c)) for c in (first, second)]
        assert area_between(*changed, parity_polygon=polygon) == pytest.approx(area, abs=1e-6)


def test_the_absolute_difference_is_integrated_exactly():
    alpha = np.linspace(0, 1, 3)  # not smoothed
    first, second = (alpha, np.array([0, 1, 0.25])), (alpha, np.array([0.5, 0, 1]))
    expected = quad(lambda a: abs(np.interp(a, *first) - np.interp(a, *second)), 0, 1, points=[0.5])[0]
    assert area_between(first, second) == pytest.approx(expected, rel=1e-3)  # the corner lies between two places


def test_smoothing():
    alpha, beta = smoothed(np.array([3.0, 1, 2, 1]), np.array([5.0, 0, 7, 4]))
    assert (alpha == [1, 2, 3]).all()
    assert (beta == [2, 7, 5]).all()  # points at the same place are merged
    assert [len(smoothed(UNIT[:n], UNIT[:n])[0]) for n in (1, 7, 8, 100, 200)] == [1, 7, 7, 76, 176]
    alpha, beta = smoothed(UNIT, UNIT**2)
    assert alpha[0] == pytest.approx(UNIT[:25].mean())
    assert beta[-1] == pytest.approx((UNIT[-25:] ** 2).mean())
