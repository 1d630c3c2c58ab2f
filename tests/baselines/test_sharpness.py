"""Tests of sharpness: the worst changes of weights in closed form, and the search for the largest harmless scale."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from matrix import rest
from small_networks import dataset, dense, layers, sequential, value

from baselines.core.bisection import bisect
from baselines.network import read_nodes
from baselines.sharpness import starter_kit as starter_sharpness
from baselines.sharpness.search import INTERVAL, LARGEST, SMALLEST, largest_harmless
from baselines.sharpness.worst_case import box_bound, magnitude_box_bound

SCALES = ["sharpness_flatness", "sharpness_mag_flatness"]

#: One feature: x = 1 is class 0, x = -1 is class 1. With logits (a x, b x) the margin is a - b. The worst change by
#: alpha leaves a - b - 2 alpha, that by a ratio r of each weight (1 - r) a - (1 + r) b: beyond, all points are lost.
ONE_FEATURE = ([[1.0], [-1.0]] * 40, [0, 1] * 40)
LINEAR = [rest(2.0, 1.0), rest(1.1, 1.0), (5.0, 1.0), rest(400.0, 200.0)]


def within(expected):
    return pytest.approx(expected, rel=1e-3)


def test_bounds_of_t1_by_hand():
    w, change, alpha, m = np.array([3.0, 0, 0, 1, 2, 0, 0, 5]), np.array([2.0, 0, 0, 0, 1, 0, 0, 4]), 0.5, 1000
    rest = math.log(2000) + 10
    assert box_bound(w, alpha, m) == pytest.approx(39 * math.log(16) + rest)
    assert box_bound(change, alpha, m) == pytest.approx(21 * math.log(16) + rest)
    for vector, square, lengths in [(w, 39, [3, 1, 2, 5]), (change, 21, [2, 1, 4])]:
        prior = 1e-6 + (0.25 + 4 * math.log(16 / 0.05)) * square / 8
        noisy = [prior / (1e-6 + 0.25 * length**2) for length in lengths]
        still = (8 - len(lengths)) * math.log(prior / 1e-6)
        expected = (sum(map(math.log, noisy)) + still) / 4 + rest
        assert magnitude_box_bound(vector, alpha, m) == pytest.approx(expected)


@pytest.mark.parametrize(("a", "b"), LINEAR)
def test_scales_of_a_linear_classifier_in_closed_form(a, b):
    alpha, relative = (value(name, dense([[a, b]]), dataset(*ONE_FEATURE)) ** -0.5 for name in SCALES)
    assert alpha == within(min((a - b) / 2, LARGEST))
    assert relative == within((a - b) / (a + b))
    assert value("sharpness_starter_kit", dense([[a, b]]), dataset(*ONE_FEATURE)) == within(-(a - b) / (a + b))


def test_alpha_of_two_layers_in_closed_form():
    alpha = value("sharpness_flatness", dense([[2.0], [0.0]], [[1.0, 0.0]]), dataset([[1.0, 0.0]], [0])) ** -0.5
    assert alpha == within(0.5)  # (2 - alpha) (1 - 2 alpha) = 0


@pytest.mark.parametrize("name", [*SCALES, "pacbayes_flatness", "pacbayes_mag_flatness"])
@pytest.mark.parametrize(
    ("images", "labels"),
    [([[0.0], [0.0]], [0, 0]), ([[0.0], [0.0]], [0, 1]), ([[1.0], [1.0]], [1, 1])],
    ids=["always right", "right half of the time", "never right"],
)
def test_a_scale_is_the_largest_where_no_change_and_no_noise_does_harm(name, images, labels):
    assert value(name, dense([[1.0, 0.0]]), dataset(images, labels)) == 1 / 4


@pytest.mark.rest
@pytest.mark.parametrize("options", [{}, {"accuracy_drop": 0.2}])
def test_a_drop_of_exactly_the_bound_is_allowed(options):
    """Each of ten examples is lost where its own weights (a, b) are: a tenth or a fifth early, the others late."""
    n_early = round(10 * options.get("accuracy_drop", 0.1))
    model, data = dense([[1.1, 1.0]] * n_early + [[1.8, 1.0]] * (10 - n_early)), dataset(np.eye(10), [0] * 10)
    assert [value(name, model, data, **options) ** -0.5 for name in SCALES] == within([0.4, 0.8 / 2.8])
    assert value("sharpness_starter_kit", model, data, **options) == within(-0.8 / 2.8)


def test_starter_kit_on_constant_predictions_and_on_wrong_labels():
    constant = dense([[0.0, 0.0]], biases=[[1.0, 0.0]])  # right half of the time, whatever happens below
    assert value("sharpness_starter_kit", constant, dataset(np.zeros((8, 1)), [0] * 8), accuracy_drop=1.0) == -2
    assert value("sharpness_starter_kit", dense([[0.0, 0.0]]), dataset(*ONE_FEATURE)) == -2
    assert value("sharpness_starter_kit", dense([[2.0, 1.0]]), NOISY) == within(-1 / 3)


def test_the_starter_kit_changes_all_that_was_trained_even_without_normalization():
    """Logits of x = -1 are (-0.25 * -2, 1): changes by a ratio r leave (1 - r) - (1 + r)^2 / 2, for r = sqrt 5 - 2."""
    model = sequential((1,), layers.Dense(2, use_bias=False), layers.PReLU())
    model.set_weights([np.array([[2.0, -1.0]]), np.array([-0.25, 0.0])])
    assert value("sharpness_starter_kit", model, dataset([[-1.0]] * 40, [1] * 40)) == within(2 - math.sqrt(5))


#: A fifth of the labels is wrong.
NOISY = dataset(ONE_FEATURE[0], ONE_FEATURE[1][:-16] + [1 - label for label in ONE_FEATURE[1][-16:]])


@pytest.mark.rest
def test_parity_with_the_code_of_the_starter_kit_assumes_an_accuracy_of_one_and_descends(monkeypatch):
    """The kit's descent undoes some harm of its random starts, so its changes do less harm than the worst changes."""
    model, data = dense([[2.0, 1.0]]), dataset(*ONE_FEATURE)
    # If the accuracy is 80 %, every change counts as too large.
    assert value("sharpness_starter_kit", model, NOISY, parity_descent=True) == pytest.approx(0, abs=1e-5)
    found = value("sharpness_starter_kit", model, data, parity_descent=True)
    assert -2 <= found < value("sharpness_starter_kit", model, data) - 0.1
    assert value("sharpness_starter_kit", model, data, parity_descent=True) == found
    assert (found * 2**19).is_integer(), "it ends at a point of the bisection"
    monkeypatch.setattr(starter_sharpness, "LEARNING_RATE", 1.0)
    assert value("sharpness_starter_kit", model, data, parity_descent=True) == pytest.approx(-2, abs=1e-5)


@pytest.mark.rest
def test_parity_with_the_code_of_the_starter_kit_moves_all_arrays_but_the_counter_of_a_normalization():
    scale = layers.Normalization()
    scale.adapt(np.asarray(ONE_FEATURE[0]))
    model = sequential((1,), scale, layers.Dense(3), layers.BatchNormalization(), layers.Dense(2))
    before = [np.array(weights) for weights in model.get_weights()]
    assert -2 <= value("sharpness_starter_kit", model, dataset(*ONE_FEATURE), parity_descent=True) <= 0
    assert all(np.array_equal(*pair) for pair in zip(before, model.get_weights(), strict=True))
    network = starter_sharpness._AllWeights(read_nodes(model))
    assert [tuple(v.shape) for v in network.variables][-8:] == [w.shape for w in before[-8:]]


def cross_entropy(kernel, x, y):
    logits = np.asarray(x) @ kernel
    return float(np.mean(np.log(np.exp(logits).sum(axis=1)) - logits[range(len(y)), y]))


def test_sam_sharpness_of_a_linear_classifier_in_closed_form():
    rng = np.random.default_rng(0)
    kernel, x, y, rho = rng.normal(size=(4, 3)), rng.normal(size=(2500, 4)), rng.integers(0, 3, 2500), 0.05
    probabilities = np.exp(x @ kernel) / np.exp(x @ kernel).sum(axis=1, keepdims=True)
    gradient = x.T @ (probabilities - np.eye(3)[y]) / len(y)
    expected = cross_entropy(kernel + rho * gradient / np.linalg.norm(gradient), x, y) - cross_entropy(kernel, x, y)
    found = value("sam_sharpness", dense(kernel), dataset(x, y), rho=rho, n_samples=2500)  # several batches
    assert found == pytest.approx(expected, rel=1e-3)


BEGIN = st.floats(SMALLEST, LARGEST)
INSIDE = st.floats(1e-5, 1.9)


def counting(margins, asked):
    return lambda scale: asked.append(scale) or margins(scale)


@given(INSIDE, BEGIN, st.floats(0.3, 6), st.floats(1e-9, 1e9))
@example(1e-5, 1.890625, 4.0, 1.0)
def test_a_step_is_found_and_a_margin_that_falls_as_a_power_is_found_quickly(place, begin, power, unit):
    step = lambda scale: np.array([1.0 if scale <= place else -1.0])  # noqa: E731
    assert largest_harmless(step, np.ones(1), 0, begin) == pytest.approx(place, rel=INTERVAL)
    asked = []
    margins = counting(lambda scale: np.array([unit * (1 - (scale / place) ** power)]), asked)
    assert largest_harmless(margins, np.array([unit]), 0, begin) == within(place)
    assert len(asked) <= 16
    asked.clear()
    largest_harmless(counting(lambda scale: np.array([1 - (scale / 0.03) ** 2]), asked), np.ones(1), 0, 0.01)
    assert len(asked) <= 6, "of a scale that is not far"


@given(st.integers(0, 99), BEGIN)
def test_it_ends_between_a_harmless_scale_and_the_smallest_one_that_was_found_harmful(seed, begin):
    rng, lost = np.random.default_rng(seed), {SMALLEST: 0}

    def margins(scale):
        lost[scale] = min(int(rng.poisson(30 * scale**0.5)), 100)
        return np.repeat([-1.0, 1.0], [lost[scale], 100 - lost[scale]])

    found = largest_harmless(margins, np.ones(100), 0.1, begin)
    harmful = min((scale for scale, number in lost.items() if number > 10), default=np.inf)
    harmless = max(scale for scale, number in lost.items() if number <= 10 and scale < harmful)
    assert found == harmless == LARGEST or harmless <= found < harmful <= harmless * (1 + 2 * INTERVAL)


#: Margins of ten answers, the first two of which are wrong, and where each of the others is lost.
STILL = np.array([-1.0, -0.1, 1, 1, 2, 2, 3, 3, 4, 4])
PLACES = np.array([0.001, 0.002, 0.02, 0.04, 0.06, 0.08, 0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize(("drop", "place"), [(0, 0.02), (0.1, 0.04), (0.2, 0.06), (0.29, 0.06), (0.7, 0.4)])
def test_so_many_right_answers_may_be_lost(drop, place):
    def margins(scale):
        return np.where(STILL > 0, STILL * (1 - scale / PLACES), STILL)

    assert largest_harmless(margins, STILL, drop, 0.01) == within(place)


def test_scales_at_the_ends_of_the_search():
    for drop in (0.8, 0.9, 1):  # all that is right may be lost
        assert largest_harmless(lambda scale: -np.ones(10), STILL, drop, 0.01) == LARGEST
    margins = lambda scale: np.array([1 - scale / 0.1, scale / 0.05 - 1])  # noqa: E731
    assert largest_harmless(margins, np.array([1.0, -1.0]), 0, 0.01) == LARGEST, "what becomes right makes up"
    for lost in (-np.inf, -1e300, -1.0, 0.0):
        assert largest_harmless(lambda _, lost=lost: np.array([lost]), np.ones(1), 0, 0.01) == SMALLEST
    asked = []
    assert largest_harmless(counting(lambda _: np.ones(1), asked), np.ones(1), 0, 0.3, 0.3) == pytest.approx(0.3)
    assert asked == [pytest.approx(0.3, rel=1e-12)]


def test_bisection_halves_the_interval_until_it_is_told_to_end():
    asked = []
    found = bisect(lambda value: asked.append(value) or value > 0.3, 0.0, 1.0, 4)
    assert asked == [0.5, 0.25, 0.375, 0.3125]
    assert found == (0.25, 0.3125, 0.3125)
    found = bisect(lambda value: value > 1e-3, 1e-6, 1.0, 50, middle=lambda low, high: math.sqrt(low * high))
    assert found.low <= 1e-3 < found.high == pytest.approx(1e-3)
    asked.clear()
    found = bisect(lambda value: asked.append(value) or True, 0.0, 1.0, 9, is_enough=lambda low, high, _: high < 0.2)
    assert (len(asked), found.high, found.tried) == (3, 0.125, 0.125)
