"""Distance of spectra from random ones: random matrices, spikes, the law of Marchenko and Pastur."""

import math

import numpy as np
import pytest
import tensorflow as tf
from scipy.stats import entropy
from small_networks import dense, layers, t1

import baselines
from baselines.norm.random_spectra import mp_median

distance, soft_rank = map(baselines.load, ("rand_distance", "mp_soft_rank"))
RNG = np.random.default_rng(0)


def test_medians_of_the_law():
    """With a ratio of 1 the threshold of Gavish and Donoho, 4 / sqrt 3, is 2.858 roots of the median."""
    assert 4 / math.sqrt(3 * mp_median(1.0)) == pytest.approx(2.858, abs=1e-3)
    assert mp_median(1e-6) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("shape", [(400, 400), (600, 200), (100, 500)])
def test_medians_of_random_matrices(shape):
    kernel = RNG.normal(size=shape)
    values = np.linalg.svd(kernel, compute_uv=False) ** 2 / max(shape)
    assert np.median(values) == pytest.approx(mp_median(min(shape) / max(shape)), rel=0.03)
    assert soft_rank(dense(kernel), None) == pytest.approx(1, abs=0.06)
    assert -0.02 < distance(dense(kernel), None) <= 0


def test_a_spike_rises_above_the_bulk():
    kernel = RNG.normal(size=(300, 200))
    left, right = (np.linalg.qr(RNG.normal(size=(n, 1)))[0] for n in kernel.shape)
    spiked = kernel + 300 * left @ right.T
    largest = np.linalg.svd(spiked, compute_uv=False)[0] ** 2
    edge = (math.sqrt(300) + math.sqrt(200)) ** 2
    assert soft_rank(dense(spiked), None) == pytest.approx(edge / largest, rel=0.05)
    assert distance(dense(spiked), None) < distance(dense(kernel), None) - 0.1


def test_against_entropies():
    kernel = RNG.normal(size=(12, 12)) * np.exp(RNG.normal(size=12))
    drawn = np.random.default_rng(5).permutation(kernel.ravel()).reshape(kernel.shape)  # spectra hardly differ by draw
    x, z = (np.sort(np.linalg.svd(one, compute_uv=False) ** 2) for one in (kernel, drawn))
    middle = (x / x.sum() + z / z.sum()) / 2
    expected = math.sqrt((entropy(x, middle) + entropy(z, middle)) / 2)
    assert distance(dense(kernel), None, n_draws=50) == pytest.approx(-expected, rel=0.3)


@pytest.mark.parametrize("measure", [distance, soft_rank])
def test_scale_does_not_matter(measure):
    first, second = RNG.normal(size=(20, 15)) * np.arange(1, 16), RNG.normal(size=(15, 12))
    expected = measure(dense(first, second), None)
    assert measure(dense(7 * first, second / 3), None) == pytest.approx(expected, rel=1e-4)
    assert measure(dense(first, second), None) == expected


def test_equal_weights_in_any_order_are_the_same_matrix():
    constant = np.ones((12, 12))
    assert distance(dense(constant), None, min_eigenvalues=1) == pytest.approx(0, abs=1e-4)
    assert soft_rank(dense(constant), None, min_eigenvalues=1) == pytest.approx(0, abs=1e-6)


def test_layers_of_one_channel_do_not_count_because_every_order_has_their_spectrum():
    """Such as the first convolution of grey images; rounding made some of these distances NaN."""
    kernel = RNG.normal(size=(192, 12)) * np.exp(RNG.normal(size=12))
    grey = tf.keras.Sequential(
        [tf.keras.Input((6, 6, 1)), layers.Conv2D(12, 3, use_bias=False), layers.Flatten(), layers.Dense(12)]
    )
    grey.set_weights([RNG.normal(size=(3, 3, 1, 12)), kernel, np.zeros(12)])
    alone = distance(dense(kernel), None, n_draws=20)
    assert alone < -0.05
    assert distance(grey, None, n_draws=20) == pytest.approx(alone, rel=0.05)
    with pytest.raises(baselines.MeasureUnavailable, match="needs a layer of several input and output channels"):
        distance(dense(RNG.normal(size=(12, 1))), None, min_eigenvalues=1)


def test_a_convolution_is_a_matrix_at_each_place_of_its_window():
    tf.keras.utils.set_random_seed(0)
    model = tf.keras.Sequential(
        [tf.keras.Input((6, 6, 8)), layers.Conv2D(12, 3), layers.DepthwiseConv2D(3), layers.Flatten(), layers.Dense(2)]
    )
    kernel = model.get_weights()[0]
    squares = np.concatenate([np.linalg.svd(kernel[i, j], compute_uv=False) ** 2 for i in range(3) for j in range(3)])
    expected = np.median(squares) * (1 + math.sqrt(2 / 3)) ** 2 / mp_median(2 / 3) / squares.max()
    assert soft_rank(model, None) == pytest.approx(expected, rel=1e-4)
    before = distance(model, None)
    kernel[0, 0] *= 30  # larger than other places, in any order of its own weights
    model.layers[0].set_weights([kernel, model.get_weights()[1]])
    assert abs(distance(model, None)) < abs(before) + 0.05


@pytest.mark.parametrize("measure", [distance, soft_rank])
def test_small_layers_are_refused(measure):
    with pytest.raises(baselines.MeasureUnavailable, match="needs a layer with 10 eigenvalues, which"):
        measure(t1(), None)
