"""Tests of measures that ignore what was learned: sizes of the network, the bound by random networks, and `random`."""

import math

import numpy as np
import pytest
import tensorflow as tf
from small_networks import T1_DATA, T1_KERNELS, dataset, dense, layers, sequential, t1

import baselines
from baselines.core.subject import Subject
from baselines.size.marginal_likelihood import NOISE, random_covariance
from baselines.size.orthant import log_probability

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
    turned = sequential((9, 6, 6), layers.Conv2D(1, 2, data_format="channels_first"), layers.Flatten())
    assert vc_dim(turned, None, image_side=0) == vc_dim(turned, None, image_side=6)
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


bound = baselines.load("marginal_likelihood_bound")


def correlated(*correlations):
    found = np.eye(2 if len(correlations) == 1 else 3)
    for (i, j), value in zip([(0, 1), (0, 2), (1, 2)], correlations, strict=False):
        found[i, j] = found[j, i] = value
    return found


def test_independent_signs_are_coins():
    for noise in (0.0, 0.3):
        signs = np.array([1, -1, 1, 1])
        assert log_probability(np.diag([1.0, 2.0, 0.1, 5.0]), signs, noise) == pytest.approx(-4 * math.log(2))


@pytest.mark.parametrize("correlations", [(0.5,), (0.9,), (-0.6,), (0.5, 0.2, -0.3), (0.8, 0.7, 0.6)])
@pytest.mark.parametrize("noise", [0.01, 0.5])
def test_two_or_three_signs(correlations, noise):
    size = 2 if len(correlations) == 1 else 3
    angles = sum(math.asin(value / (1 + noise)) for value in correlations)
    expected = 1 / 4 + angles / (2 * math.pi) if size == 2 else 1 / 8 + angles / (4 * math.pi)
    found = math.exp(log_probability(correlated(*correlations), np.ones(size), noise))
    assert found == pytest.approx(expected, rel=0.03)


def test_many_signs_against_draws():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(6, 4))
    covariance = factors @ factors.T / 4
    drawn = rng.normal(size=(400_000, 4)) @ factors.T / 2 + math.sqrt(0.05) * rng.normal(size=(400_000, 6))
    signs = np.sign(drawn[0])
    found = math.exp(log_probability(covariance, signs, 0.05))
    assert found == pytest.approx(np.mean((drawn * signs > 0).all(axis=1)), rel=0.1)


def of_relus(images):
    """Return the arc-cosine kernel (Cho and Saul 2009): the covariance of a wide layer of ReLUs, up to its scale."""
    norms = np.linalg.norm(images, axis=1)
    angles = np.arccos(np.clip(images @ images.T / np.outer(norms, norms), -1, 1))
    return np.outer(norms, norms) * (np.sin(angles) + (math.pi - angles) * np.cos(angles))


def test_a_wide_hidden_layer_has_the_covariance_of_its_limit():
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(12, 5))
    subject = Subject(dense(rng.normal(size=(5, 400)), rng.normal(size=(400, 2))), dataset(inputs, np.arange(12) % 2))
    expected = of_relus(subject.sample(12).inputs)
    expected = expected / np.diag(expected).mean()
    np.testing.assert_allclose(random_covariance(subject, 12, 200, 0), expected, atol=0.03)


@pytest.mark.rest
@pytest.mark.parametrize("narrow", [2, 8])
def test_branches_that_are_added_have_the_covariance_of_their_sum(narrow):
    """The branches are a linear layer, whose covariance is twice that of its inputs, and a wide layer of ReLUs."""
    rng = np.random.default_rng(5)
    inputs, source = rng.normal(size=(12, 5)).astype(np.float32), tf.keras.Input((5,))
    branches = [layers.Dense(narrow)(source), layers.Dense(400, "relu")(source)]
    model = tf.keras.Model(source, layers.Add()([layers.Dense(2)(branch) for branch in branches]))
    subject = Subject(model, dataset(inputs, np.arange(12) % 2))
    images = subject.sample(12).inputs.astype(float)
    expected = images @ images.T + of_relus(images) / (2 * math.pi)
    expected = expected / np.diag(expected).mean()
    np.testing.assert_allclose(random_covariance(subject, 12, 3000, 0), expected, atol=0.06)


def all_kinds_of_layers():
    middle = [layers.Conv2D(4, 3), layers.BatchNormalization(), layers.PReLU(), layers.DepthwiseConv2D(2)]
    end = [layers.SeparableConv2D(5, 2), layers.LayerNormalization(), layers.Conv2DTranspose(3, 2), layers.Flatten()]
    return sequential((7, 7, 2), *middle, *end, layers.Dense(9, "relu"), layers.Dense(4))


@pytest.mark.rest
def test_trained_weights_and_the_scale_of_inputs_do_not_matter():
    rng = np.random.default_rng(2)
    images, labels = rng.normal(size=(40, 7, 7, 2)), np.arange(40) % 4
    model = all_kinds_of_layers()
    first = bound(model, dataset(images, labels))
    model.set_weights([np.abs(rng.normal(size=array.shape)) for array in model.get_weights()])
    assert bound(model, dataset(images, labels)) == first
    flat = dense(rng.normal(size=(5, 30)), rng.normal(size=(30, 2)))
    vectors = rng.normal(size=(40, 5))
    values = [bound(flat, dataset(scale * vectors, labels // 2)) for scale in (1, 8)]
    assert values[1] == pytest.approx(values[0], rel=1e-5)


def test_the_bound_is_that_of_the_probability_of_signs():
    rng = np.random.default_rng(3)
    model, labels = dense(rng.normal(size=(5, 30)), rng.normal(size=(30, 3))), np.arange(50) % 3
    subject = Subject(model, dataset(rng.normal(size=(50, 5)), labels))
    signs = np.where(subject.sample(50).labels > 1.5, 1, -1)
    log = log_probability(random_covariance(subject, 50, 100, 0), signs, NOISE)
    assert bound(model, subject.dataset) == pytest.approx((-log + math.log(50) + 2 * math.log(20)) / 49)


def test_labels_of_a_simple_function_are_more_likely_than_random_ones():
    rng = np.random.default_rng(4)
    inputs = rng.normal(size=(150, 5))
    model, simple = dense(rng.normal(size=(5, 60)), rng.normal(size=(60, 2))), inputs[:, 0] > 0
    likely, unlikely = (bound(model, dataset(inputs, labels)) for labels in (simple, rng.permutation(simple)))
    assert likely < 0.7 * unlikely
    assert unlikely > math.log(2)


random = baselines.load("random")


def test_random_depends_on_weights_and_seed_alone_and_leaves_the_state_of_numpy():
    def draw(model, seed):
        tf.keras.utils.set_random_seed(seed)
        return random(model, None)

    other = dense(T1_KERNELS[0], T1_KERNELS[1] + 1e-6)
    assert draw(t1(), 1) == draw(t1(), 1)
    assert len({draw(t1(), 1), draw(other, 1), draw(t1(), 2), draw(other, 2)}) == 4
    assert all(0 <= draw(t1(), seed) < 1 for seed in range(20))
    np.random.seed(3)
    before = np.random.get_state()[1].copy()
    first = random(t1(), None)
    assert random(t1(), None) == first
    assert np.array_equal(np.random.get_state()[1], before)
    found = []
    for state in (3, 4):
        np.random.seed(state)
        found.append([baselines.load(f"random:seed={seed}")(t1(), None) for seed in (0, 1)])
    assert found[0] == found[1]
    assert len({first, *found[0]}) == 3
