"""Tests of numbers of linear regions, and of cognitive neural activation: entropies, slopes, areas between curves."""

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

met, changes, patterns = map(baselines.load, ("linear_regions_met", "activation_changes", "activation_patterns"))

#: A pair of examples.
ENDS = dataset([[0.0], [1.0]], [0, 1])


def kinks(*places, activation="relu"):
    width = len(places)
    return dense(
        np.ones((1, width)), np.ones((width, 2)), biases=[-np.array(places), np.zeros(2)], activation=activation
    )


@pytest.mark.parametrize("activation", ["relu", "leaky_relu"])
@pytest.mark.parametrize(
    ("places", "n_steps", "regions"),
    [((), 10, 1), ((0.55,), 10, 2), ((0.15, 0.35, 0.75), 10, 4), ((0.11, 0.12, 0.13), 10, 2), ((0.11, 0.12), 200, 3)],
)
def test_units_of_one_input_change_at_their_kinks(places, n_steps, regions, activation):
    outside = (-1.0, 2.0)  # these never change
    model = kinks(*places, *outside, activation=activation)
    assert met(model, ENDS, n_steps=n_steps) == regions
    assert changes(model, ENDS, n_steps=n_steps) == len(places)


def test_regions_in_closed_form():
    model = dense(np.ones((1, 3)), np.ones((3, 2)), activation=None)
    assert (met(model, ENDS), changes(model, ENDS), patterns(model, ENDS)) == (1, 0, 1 / 2)
    model = sequential((1,), layers.Rescaling(20.0, -7.0), layers.ReLU(6.0), layers.Dense(2))
    assert (met(model, ENDS), changes(model, ENDS)) == (3, 2)
    pooled = [layers.Dense(2), layers.Reshape((2, 1)), layers.GlobalMaxPooling1D(), layers.Dense(2)]
    model = sequential((1,), *pooled)
    model.layers[0].set_weights([np.array([[1.0, -1.0]]), np.array([0.0, 1.0])])  # x and 1 - x
    assert (met(model, ENDS, n_steps=5), changes(model, ENDS, n_steps=5)) == (2, 0)


@pytest.mark.parametrize("activation", ["relu6", "hard_tanh", "hard_sigmoid", "max_value"])
def test_the_flat_pieces_at_both_ends_are_two(activation):
    bent = layers.ReLU(max_value=6.0) if activation == "max_value" else layers.Activation(activation)
    model = sequential((1,), layers.Dense(1), bent, layers.Dense(2))
    model.layers[0].set_weights([np.ones((1, 1)), np.zeros(1)])
    data = dataset([[-20.0], [20.0]] * 5, [0, 1] * 5)
    assert patterns(model, data) == 2 / 10
    pair = dataset([[-20.0], [20.0]], [0, 1])
    assert (met(model, pair, n_steps=1), changes(model, pair, n_steps=1)) == (2, 1)
    assert (met(model, pair, n_steps=40), changes(model, pair, n_steps=40)) == (3, 2)


def test_the_mean_over_pairs():
    """Each example of the first half is paired with one of the second half; equal examples lie in the same region."""
    data = dataset([[0.0], [0.0], [0.0], [1.0]], [0, 1, 0, 1])
    assert met(kinks(0.5), data) == 1.5
    assert patterns(kinks(0.5), data) == 2 / 4


def test_against_signs_of_pre_activations():
    draw = np.random.default_rng(0)
    kernels = [draw.normal(size=shape) for shape in ((4, 6), (6, 5), (5, 2))]
    shifts = [draw.normal(size=6), draw.normal(size=5), np.zeros(2)]

    def are_active(inputs):
        first = inputs @ kernels[0] + shifts[0]
        return np.concatenate([first, np.maximum(first, 0) @ kernels[1] + shifts[1]], axis=1) > 0

    model, points = dense(*kernels, biases=shifts), draw.normal(size=(2, 4)).astype(np.float32)
    way = points[0] + np.linspace(0, 1, 33)[:, None] * (points[1] - points[0])
    signs = are_active(way)
    flips = (signs[1:] != signs[:-1]).sum(axis=1)
    assert flips.sum() > 3
    assert changes(model, dataset(points, [0, 1])) == flips.sum()
    assert met(model, dataset(points, [0, 1])) == 1 + np.count_nonzero(flips)
    images = draw.normal(size=(300, 4)).astype(np.float32)
    assert patterns(model, dataset(images, [0] * 300)) == len(np.unique(are_active(images), axis=0)) / 300


NAMES = ("cna", "cna_area", "cna_margin", "cna_area_over_margin")
cna, cna_area, cna_margin, cna_area_over_margin = map(baselines.load, NAMES)

WIDTHS = (12, 9, 7, 5, 3)


def images(n=60, shape=(12,), seed=0):
    draw = np.random.default_rng(seed)
    levels = draw.integers(2, 40, (n, *[1] * len(shape)))
    return (np.floor(draw.random((n, *shape)) * levels) / levels).astype(np.float32)


KERNELS = random_kernels(*WIDTHS)
MODEL = dense(*KERNELS)
DATA = dataset(images(), np.arange(60) % 3)


def sums_of(kernels, inputs):
    found = []
    for kernel in kernels:
        inputs = inputs @ kernel
        found.append(inputs.sum(axis=1))
        inputs = np.maximum(inputs, 0)
    return np.stack(found, axis=1)


def test_entropy_in_closed_form():
    found = input_entropies(np.array([[0.5] * 4, [0, 0.2, 0.4, 1], [0, 0, 1, 1]]), 1000, (0, 1))
    assert found == pytest.approx([0, math.log(4), math.log(2)])
    assert input_entropies(np.full((2, 3, 3, 1), 7.0), 1000, (7, 7)) == pytest.approx([0, 0])
    assert input_entropies(np.array([[-9.0, 0, 0.999, 30]]), 2, (0, 1)) == pytest.approx([math.log(2)])


@given(st.integers(0, 1000), st.integers(1, 300), st.integers(1, 400))
@settings(max_examples=30)
def test_entropy_of_a_histogram(seed, n, n_bins):
    pixels = np.random.default_rng(seed).normal(size=(n, 20))
    span = pixels.min(), pixels.max()
    found = input_entropies(pixels.reshape(n, 2, 5, 2), n_bins, span)
    assert found == pytest.approx([entropy(np.histogram(row, n_bins, span)[0]) for row in pixels], abs=1e-12)


@given(st.integers(0, 1000), st.integers(2, 9))
@settings(max_examples=30)
def test_slope_is_that_of_least_squares(seed, depth):
    sums = np.random.default_rng(seed).normal(size=(4, depth))
    expected = pytest.approx(np.polyfit(np.arange(depth), sums.T, 1)[0])
    assert slopes(sums, True) == expected
    assert slopes(np.hstack([sums, [[99]] * 4]), False) == expected


@pytest.mark.parametrize("fused", [True, False], ids=["fused activation", "batch norm"])
def test_activity_is_that_before_normalization_and_activation(fused):
    apart = [] if fused else [layers.BatchNormalization(), layers.ReLU()]
    middle = [layers.Conv2D(4, 3, activation="relu" if fused else None), *apart, layers.Conv2D(5, 2), layers.ReLU()]
    model = sequential((6, 6, 2), *middle, layers.Flatten(), layers.Dense(3, "softmax"))
    draw, inputs = np.random.default_rng(3), images(9, (6, 6, 2))
    model.set_weights([np.abs(draw.normal(size=w.shape)) - 0.3 * (w.ndim > 1) for w in model.get_weights()])
    kernel, bias = model.layers[0].get_weights()
    first = tf.nn.conv2d(inputs, kernel, 1, "VALID") + bias
    found, _ = activity(Subject(model, None).network, inputs)
    assert found.shape == (9, 3)
    assert found[:, 0] == pytest.approx(np.sum(first, axis=(1, 2, 3)), rel=1e-5)


@pytest.mark.parametrize("include", [False, True])
def test_cna_against_scipy(include):
    alpha, sums = input_entropies(images(), 1000, (images().min(), images().max())), sums_of(KERNELS, images())
    expected = -pearsonr(alpha, slopes(sums if include else sums[:, :-1], True))[0]
    assert cna(MODEL, DATA, include_output_layer=include) == pytest.approx(expected, abs=1e-5)


def test_a_constant_has_no_correlation_and_no_area():
    assert correlation(np.full(3, 0.1), np.arange(3.0)) == 0
    assert correlation(np.arange(3.0), np.zeros(3)) == 0
    assert cna(MODEL, dataset(np.ones((5, 12)), [0] * 5)) == 0
    assert cna(MODEL, dataset(images(1), [0])) == 0
    assert cna(t1(), dataset([[1, 1]], [0]), include_output_layer=True) == 0
    ignoring = dense(*[0 * k for k in KERNELS], biases=[np.arange(width) for width in WIDTHS[1:]])
    assert [measure(ignoring, DATA) for measure in (cna, cna_area, cna_margin, cna_area_over_margin)] == [0, 0, 0, 0]


def test_area_of_the_training_curve_and_that_of_augmented_images():
    subject = Subject(MODEL, DATA)
    inputs = subject.sample(10_000, 5).inputs
    alpha, beta = curve(subject.network, inputs, value_range=(inputs.min(), inputs.max()))
    changed = augmented(inputs, stream("augmentation of activities", 5))
    other = slopes(activity(subject.network, changed)[0], False)
    assert cna_area(MODEL, DATA, seed=5) == pytest.approx(area_between((alpha, beta), (alpha, other)))
    options = ({}, {"parity_polygon": True}, {"include_output_layer": True}, {"seed": 1}, {"n_samples": 30})
    values = [cna_area(MODEL, DATA, **given) for given in options]
    assert len(set(values)) == 5
    assert all(0 < value < 1 for value in values)


@pytest.mark.parametrize("space", ["probabilities", "logits"])
@pytest.mark.parametrize("statistic", ["max", "p10"])
def test_margins(space, statistic):
    given = {"space": space, "statistic": statistic}
    sample = Subject(MODEL, DATA).sample(10_000)
    answers = MODEL(sample.inputs).numpy()
    answers = softmax(answers, axis=1) if space == "probabilities" else answers
    is_true = np.eye(3, dtype=bool)[sample.labels]
    margins = answers[is_true] - np.where(is_true, -np.inf, answers).max(axis=1)
    gamma = margins[:6].max() if statistic == "max" else np.sort(margins)[5]
    area = cna_area(MODEL, DATA)
    assert cna_margin(MODEL, DATA, **given) == pytest.approx(gamma * area, rel=1e-4)
    assert cna_area_over_margin(MODEL, DATA, **given) == pytest.approx(area / max(gamma, 1e-6), rel=1e-4)
    if statistic == "max":
        biases = [np.zeros(width) for width in WIDTHS[1:-1]] + [[100, 0, 0]]
        model, wrong = dense(*KERNELS, biases=biases), dataset(images(), np.arange(60) % 3 % 2 + 1)
        assert cna_area_over_margin(model, wrong, **given) == pytest.approx(cna_area(model, wrong) / 1e-6)


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


def test_augmented_inputs_of_any_shape():
    for shape in ((5,), (7, 2), (1, 1, 1), (3, 9, 2)):
        inputs = images(50, shape)
        changed = augmented(inputs, np.random.default_rng(0))
        assert (changed.shape, changed.dtype) == (inputs.shape, np.float32)
        if shape != (3, 9, 2):  # there is nowhere to shift it
            assert np.std(changed - inputs) == pytest.approx(0.05 * np.ptp(inputs), rel=0.3)


UNIT = np.linspace(0, 1, 400)


def points(seed, n):
    draw = np.random.default_rng(seed)
    alpha = draw.random(n)
    return alpha, np.sin(3 * alpha) * draw.normal() + 0.1 * draw.normal(size=n) + draw.normal()


curves = st.builds(points, st.integers(0, 10_000), st.integers(1, 300))


ABOVE = UNIT + np.ptp(smoothed(UNIT, UNIT)[1])

#: Name -> two curves, the area between them, and the area of their polygon (None: not compared).
AREAS = {
    "flat: alpha is no function of beta": ((UNIT, 0 * UNIT), (UNIT, 0 * UNIT + 1), 1, 0),
    "crossing: both sides count, but not in the polygon": ((UNIT, UNIT), (UNIT, 1 - UNIT), 0.5, 0),
    "parallel": ((UNIT, UNIT), (UNIT, ABOVE), 0.5, 0.5),
    "only common places count": (([0, 2], [0, 0]), ([1, 3], [1, 1]), 1 / 3, None),
    "no common place": ((UNIT, UNIT), (UNIT + 2, UNIT), 1, None),
    "two points": (([0.0], [0.0]), ([1.0], [0.0]), 1, None),
    "a place with two points": (([1.0], [2.0]), ([1.0, 1.0], [3.0, 5.0]), 0, None),
    "one place": (([1.0], [2.0]), ([1.0], [0.0]), 0, None),
}


@pytest.mark.parametrize(("first", "second", "area", "of_polygon"), AREAS.values(), ids=AREAS)
def test_areas_in_closed_form(first, second, area, of_polygon):
    assert area_between(first, second) == pytest.approx(area)
    if of_polygon is not None:
        assert area_between(first, second, parity_polygon=True) == pytest.approx(of_polygon, abs=1e-12)


@given(curves, curves, st.booleans(), st.randoms(use_true_random=False), st.floats(0.01, 100), st.floats(-10, 10))
@settings(max_examples=50)
def test_an_area_is_symmetric_and_has_no_unit_and_no_order_of_points(first, second, polygon, random, factor, shift):
    assert area_between(first, first, parity_polygon=polygon) == pytest.approx(0, abs=1e-12 if polygon else 0)
    area = area_between(first, second, parity_polygon=polygon)
    assert 0 <= area <= 1 + 1e-12
    assert area_between(second, first, parity_polygon=polygon) == pytest.approx(area)
    order = np.array(random.sample(range(len(first[0])), len(first[0])))
    assert area_between((first[0][order], first[1][order]), second, parity_polygon=polygon) == pytest.approx(area)
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
