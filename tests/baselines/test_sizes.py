"""Tests of measures of the architecture alone."""

import math

import numpy as np
import pytest
from small_networks import T1_DATA, dataset, dense, layers, sequential, t1

import baselines

depth, num_params, vc_dim, piecewise, conv_bound = map(
    baselines.load, ("depth", "num_params", "vc_dim", "vc_dim_piecewise_linear", "vc_dim_conv_bound")
)
DATA = dataset(*T1_DATA)


def kinds_of_layers():
    middle = [layers.Conv2D(3, 3), layers.BatchNormalization(), layers.DepthwiseConv2D(2), layers.SeparableConv2D(5, 2)]
    end = [layers.Conv2DTranspose(2, 2), layers.PReLU(), layers.Flatten(), layers.Dense(7)]
    return sequential((6, 6, 2), *middle, *end)


#: Its numbers of weights, biases and units by layer; a separable convolution is two layers.
KERNELS = [3 * 3 * 2 * 3, 2 * 2 * 3, 2 * 2 * 3, 3 * 5, 2 * 2 * 2 * 5, 3 * 3 * 2 * 7]
BIASES = [3, 3, 0, 5, 2, 7]
UNITS = [4 * 4 * 3, 3 * 3 * 3, 2 * 2 * 3, 2 * 2 * 5, 3 * 3 * 2, 7]


def test_t1():
    assert depth(t1(), None) == 2
    assert num_params(t1(), None) == 8
    assert vc_dim(t1(), None) == pytest.approx(2 + 4 * math.log(45056) * 8)
    assert vc_dim(t1(), None) == pytest.approx(344.9012, abs=1e-4)
    units = 1 * 2 + 2 * 2
    expected = 2 + (2 * 4 + 1 * 4) * math.log2(8 * math.e * units * math.log2(4 * math.e * units))
    assert piecewise(t1(), None) == pytest.approx(expected)
    expected = 4000 * math.sqrt(2 * math.log2(12) ** 3 * 8) + math.sqrt(math.log(100))
    assert conv_bound(t1(), DATA) == pytest.approx(expected)


def test_the_side_of_the_image():
    assert vc_dim(t1(), None, image_side=2) == pytest.approx(2 + 4 * math.log(22 * 2 * 4) * 8)
    model = kinds_of_layers()
    assert vc_dim(model, None, image_side=0) == vc_dim(model, None, image_side=6)  # its own
    expected = 4000 * math.sqrt(6 * math.log2(6 * 6 * 6) ** 3 * sum(KERNELS) / 5) + math.sqrt(math.log(1 / 0.05) / 5)
    assert conv_bound(model, dataset(np.zeros((5, 6, 6, 2)), np.zeros(5)), delta=0.05) == pytest.approx(expected)


def test_every_kind_of_weight_layer_counts_in_sizes_and_bounds():
    model = kinds_of_layers()
    assert depth(model, None) == 6
    assert num_params(model, None) == sum(KERNELS)
    assert num_params(model, None, include_bias=True) == sum(KERNELS + BIASES)
    assert num_params(model, None, include_bn=True) == sum(KERNELS) + 6
    assert vc_dim(model, None) == pytest.approx(6 + 12 * math.log(22 * 6 * 1024) * sum(KERNELS))
    units = sum(i * count for i, count in enumerate(UNITS, 1))
    parameters = sum((6 - i) * (kernel + bias) for i, (kernel, bias) in enumerate(zip(KERNELS, BIASES, strict=True)))
    expected = 6 + parameters * math.log2(8 * math.e * units * math.log2(4 * math.e * units))
    assert piecewise(kinds_of_layers(), None) == pytest.approx(expected)


@pytest.mark.parametrize("size", [depth, num_params, vc_dim, piecewise, conv_bound])
def test_size_grows_with_width_and_depth_and_ignores_the_weights(size):
    def network(*widths):
        return dense(*[np.ones((a, b)) for a, b in zip((2, *widths), (*widths, 2), strict=True)])

    values = [size(network(*widths), DATA) for widths in [(2,), (3,), (3, 2), (3, 3), (3, 3, 2)]]
    assert values == sorted(values)
    assert len(set(values)) == (3 if size is depth else 5)
    assert size(t1(), DATA) == size(dense(np.zeros((2, 2)), np.ones((2, 2))), DATA)


def test_normalization_by_the_number_of_examples():
    data = dataset([[1.0, 1.0]] * 4, [0] * 4)
    assert num_params(t1(), data, normalization="dziugaite") == pytest.approx(math.sqrt(8 / 4))
    with pytest.raises(ValueError, match="normalization: expected none or dziugaite, found some"):
        num_params(t1(), data, normalization="some")
