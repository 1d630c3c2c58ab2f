"""Tests of pruning, rounding, and the bound by the length of the code of rounded weights."""

import math
from collections import Counter

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays
from scipy.optimize import brentq
from scipy.special import rel_entr
from small_networks import dataset, dense, labelled, random_kernels

import baselines
from baselines import MeasureUnavailable
from baselines.compression.code_length import code_length
from baselines.compression.pruning import rounded
from baselines.core.kl_bound import log_bound

NAMES = ("pruning_tolerance", "quantization_bits")
pruning_tolerance, quantization_bits = map(baselines.load, NAMES)

STEP = 1 / 4096  #: what bisection leaves open


def kernels():
    return random_kernels(6, 12, 9, 3)


def data():
    return labelled(dense(*kernels()), np.random.default_rng(0).normal(size=(300, 6)))


@pytest.mark.parametrize(
    ("kernel", "label", "expected"),
    [
        ([[1.0, 2, 3, 4]], 3, 1),  # all but the last; without it all logits are 0, and the first wins
        ([[1.0, 2, 4, 3]], 2, 1),
        ([[3.0, 2, 4, -5]], 2, 0.75),  # -5 is never in the way, 4 is the third to go
        ([[1.0, -2, -3, -4]], 0, 1),  # the first wins ties
    ],
)
def test_pruning_in_closed_form(kernel, label, expected):
    found = -pruning_tolerance(dense(kernel), dataset([[1.0]], [label]))
    assert found == (1 if label == 0 else pytest.approx(expected, abs=STEP))


@pytest.mark.parametrize("per_layer", [True, False])
def test_pruning_against_numpy(per_layer):
    given = data()
    inputs, labels = next(iter(given.batch(300)))
    fraction = -pruning_tolerance(dense(*kernels()), given, per_layer=per_layer)

    def accuracy(fraction):
        found = [k.astype(np.float32) for k in kernels()]
        groups = [[k] for k in found] if per_layer else [found]
        for group in groups:
            sizes = np.sort(np.concatenate([np.abs(k).ravel() for k in group]))
            bound = sizes[: int(fraction * len(sizes))].max(initial=-1)
            for k in group:
                k[np.abs(k) <= bound] = 0
        return np.mean(dense(*found)(inputs).numpy().argmax(axis=1) == labels)

    assert 0 < fraction < 1
    assert accuracy(fraction) >= 0.9
    assert accuracy(fraction + STEP) < 0.9


@pytest.mark.parametrize(("gap", "bits"), [(0.4, 3), (0.1, 4), (0.05, 5), (0.01, 7), (1e-6, 16)])
def test_bits_in_closed_form(gap, bits):
    """The weights 1 - gap and 1 are rounded differently if gap * steps > 1/2; b bits give 2^(b - 1) - 1 steps."""
    assert quantization_bits(dense([[1 - gap, 1.0]]), dataset([[1.0]], [1])) == bits


def test_one_bit_is_the_sign():
    assert quantization_bits(dense([[-1.0, 0.2]]), dataset([[1.0]], [1])) == 1
    assert rounded(np.array([[-1.0, 0.2]]), 1) == pytest.approx(np.array([[-0.6, 0.6]]))


@given(arrays(np.float32, (3, 4), elements=st.floats(-100, 100, width=32)), st.integers(2, 15))
def test_rounding(kernel, bits):
    found = rounded(kernel, bits)
    largest = np.abs(kernel).max()
    steps = 2 ** (bits - 1) - 1
    assert found.dtype == np.float32
    assert np.abs(found - kernel).max() <= largest / steps / 2 * (1 + 1e-4)
    assert len(np.unique(np.round(found / (largest or 1) * steps))) <= 2**bits - 1
    assert np.array_equal(rounded(-kernel, bits), -found)


@pytest.mark.parametrize("name", NAMES)
def test_a_network_without_accuracy_has_none_to_lose(name):
    given = data()
    wrong = given.map(lambda image, label: (image, (label + 1) % 3))
    expected = -1 if name == "pruning_tolerance" else 1
    assert baselines.load(name)(dense(*kernels()), wrong) == expected
    assert baselines.load(name)(dense(*kernels()), given, accuracy_drop=1.0) == expected


def test_a_drop_that_is_just_allowed():
    """Nine of ten examples are of class 0. Without weights, the network predicts class 0 for all: accuracy 0.9."""
    given = dataset([[1, -1]] * 9 + [[1, 1]], [0] * 9 + [1])
    assert pruning_tolerance(dense([[0, 0], [-2, 2]]), given) == -1
    assert pruning_tolerance(dense([[0, 0], [-2, 2]]), given, accuracy_drop=0.09) > -1


bound = baselines.load("lotfi_compression_bound")


@pytest.mark.parametrize("error", [0.0, 0.01, 0.3, 0.9])
@pytest.mark.parametrize("complexity", [1e-4, 0.2, 2.0])
def test_the_bound_inverts_the_relative_entropy(error, complexity):
    def excess(p):
        return rel_entr(error, p) + rel_entr(1 - error, 1 - p) - complexity

    expected = brentq(excess, error, 1 - 1e-15, xtol=1e-14)
    assert -math.expm1(-log_bound(error, complexity)) == pytest.approx(expected, rel=1e-7)


def test_bounds_that_say_nothing_still_differ_and_who_is_never_right_has_none():
    assert log_bound(0.0, 500.0) == pytest.approx(500)
    for error in np.linspace(0.01, 0.99, 50):
        assert log_bound(error, 1e4) == pytest.approx(1e4 / (1 - error), rel=1e-3)
    assert log_bound(0.25, 0.0) == pytest.approx(-math.log(0.75))
    with pytest.raises(MeasureUnavailable, match="needs a right answer"):
        log_bound(1.0, 1.0)


def test_code_of_a_kernel():
    kernel = np.array([[1, 1, 1, 1], [0, 0, -1, 2]], np.float32)
    entropy = 4 * 1 + 2 * 2 + 2 * 3  # shares of 1/2, 1/4, 1/8, 1/8
    assert code_length(kernel) == entropy + 1 + 32 + 4 * 4
    assert code_length(np.zeros((4, 2))) == 1 + 32 + 4


def test_the_whole_bound_in_another_way():
    rng = np.random.default_rng(0)
    first, second, bias, inputs = (rng.normal(size=shape) for shape in ((6, 20), (20, 3), (3,), (200, 6)))

    def answers(first, second):
        return (np.maximum(inputs @ first, 0) @ second + bias).argmax(axis=1)

    labels = answers(first, second)
    labels[:10] = (labels[:10] + 1) % 3
    found = []
    for bits in range(1, 9):
        kernels = [rounded(np.float32(kernel), bits) for kernel in (first, second)]
        length = 3 + 32 * (20 + 3)
        for kernel in kernels:
            counts = Counter(kernel.ravel().tolist()).values()
            entropy = -sum(n * math.log2(n / kernel.size) for n in counts)
            length += math.ceil(entropy) + 33 + len(counts) * math.ceil(math.log2(kernel.size + 1))
        error = np.mean(answers(*kernels) != labels)
        nats = length * math.log(2) + 2 * math.log(length) + math.log(2 * math.sqrt(200) / 0.05)
        found.append(log_bound(float(error), nats / 200))
    model = dense(first, second, biases=[np.zeros(20), bias])
    assert bound(model, dataset(inputs, labels)) == pytest.approx(min(found), rel=1e-6)
    assert np.array_equal(model.get_weights()[0], np.float32(first))
