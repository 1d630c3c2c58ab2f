"""Tests of the bound by the length of a code: invariances, and entropies computed in another way."""

import math
from collections import Counter

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import rel_entr
from small_networks import dataset, dense

import baselines
from baselines import MeasureUnavailable
from baselines.compression.code_length import code_length
from baselines.compression.pruning import rounded
from baselines.core.kl_bound import log_bound

bound = baselines.load("lotfi_compression_bound")


def relative_entropy(q, p):
    return rel_entr(q, p) + rel_entr(1 - q, 1 - p)


@pytest.mark.parametrize("error", [0.0, 0.01, 0.3, 0.9])
@pytest.mark.parametrize("complexity", [1e-4, 0.2, 2.0])
def test_the_bound_inverts_the_relative_entropy(error, complexity):
    expected = brentq(lambda p: relative_entropy(error, p) - complexity, error, 1 - 1e-15, xtol=1e-14)
    assert -math.expm1(-log_bound(error, complexity)) == pytest.approx(expected, rel=1e-7)


def test_bounds_that_say_nothing_still_differ_and_who_is_never_right_has_none():
    assert log_bound(0.0, 500.0) == pytest.approx(500)
    for error in np.linspace(0.01, 0.99, 50):
        assert log_bound(error, 1e4) == pytest.approx(1e4 / (1 - error), rel=1e-3)
    assert log_bound(0.25, 0.0) == pytest.approx(-math.log(0.75))
    with pytest.raises(MeasureUnavailable, match="needs a right answer"):
        log_bound(1.0, 1.0)
    with pytest.raises(MeasureUnavailable, match="needs a right answer"):
        bound(dense([[1.0, -1.0]]), dataset(np.ones((5, 1)), np.ones(5)))


def test_code_of_a_kernel():
    kernel = np.array([[1, 1, 1, 1], [0, 0, -1, 2]], np.float32)
    entropy = 4 * 1 + 2 * 2 + 2 * 3  # shares of 1/2, 1/4, 1/8, 1/8
    assert code_length(kernel) == entropy + 1 + 32 + 4 * 4
    assert code_length(np.zeros((4, 2))) == 1 + 32 + 4


def network():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(6, 20)), rng.normal(size=(20, 3))], rng.normal(size=(3,)), rng.normal(size=(200, 6))


def answers(first, second, bias, inputs):
    return (np.maximum(inputs @ first, 0) @ second + bias).argmax(axis=1)


def test_the_whole_bound_in_another_way():
    (first, second), bias, inputs = network()
    labels = answers(first, second, bias, inputs)
    labels[:10] = (labels[:10] + 1) % 3
    found = []
    for bits in range(1, 9):
        kernels = [rounded(np.float32(kernel), bits) for kernel in (first, second)]
        length = 3 + 32 * (20 + 3)
        for kernel in kernels:
            counts = Counter(kernel.ravel().tolist()).values()
            entropy = -sum(n * math.log2(n / kernel.size) for n in counts)
            length += math.ceil(entropy) + 33 + len(counts) * math.ceil(math.log2(kernel.size + 1))
        error = np.mean(answers(*kernels, bias, inputs) != labels)
        nats = length * math.log(2) + 2 * math.log(length) + math.log(2 * math.sqrt(200) / 0.05)
        found.append(log_bound(float(error), nats / 200))
    model = dense(first, second, biases=[np.zeros(20), bias])
    assert bound(model, dataset(inputs, labels)) == pytest.approx(min(found), rel=1e-6)
    assert np.array_equal(model.get_weights()[0], np.float32(first))


def test_weights_without_information_are_cheap_and_more_examples_make_the_bound_smaller():
    (first, second), bias, inputs = network()

    def bound_of(kernel, n_copies=1):
        labels = answers(kernel, second, bias, inputs)
        data = dataset(np.tile(inputs, (n_copies, 1)), np.tile(labels, n_copies))
        return bound(dense(kernel, second, biases=[np.zeros(20), bias]), data)

    assert bound_of(np.where(np.arange(20) < 5, first, 0)) < bound_of(first)
    assert bound_of(first, 20) < bound_of(first)
