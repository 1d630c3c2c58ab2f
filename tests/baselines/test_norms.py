"""Tests of norms, of output margins, and of measures that ignore what was learned: sizes and `random`."""

import math

import numpy as np
import pytest
import tensorflow as tf
from small_networks import (
    T1_DATA,
    T1_KERNELS,
    dataset,
    dense,
    gaussian,
    layers,
    plain,
    scaled_t1,
    sequential,
    t1,
    value,
)

import baselines
from baselines import MEASURES
from baselines.core.subject import Subject
from baselines.size.marginal_likelihood import NOISE, random_covariance
from baselines.size.orthant import log_probability


def entropy(*numbers):
    shares = np.array(numbers) / sum(numbers)
    return -np.sum(shares * np.log(shares))


#: Of network T1, whose output margin is 1.
VALUES = {
    "l2_norm": math.sqrt(39),
    "param_norm": 39,
    "log_prod_of_fro": math.log(290),
    "log_sum_of_fro": math.log(34.0587727),
    "log_prod_of_spec": math.log(225),
    "log_sum_of_spec": math.log(30),
    "fro_over_spec": 2.271111,
    "l2_dist": math.sqrt(21),
    "fro_dist": 21,
    "dist_spec_init": 20,
    "distance_from_init": 21,
    "path_norm": 61,
    "log_path_norm": math.log(61),
    "l1_max_norm": math.log(3 * 5),
    "l3_15_norm": 2 / 3 * (math.log(3**1.5 + 1) + math.log(2**1.5 + 5**1.5)),
    "trace_norm_prod": math.log(4 * 7),
    # Products of the spectral norms 3 and 5 and of the distances' (2, 1) norms 2 and 1 + 4.
    "spectral_complexity_2_1": math.log(15 * ((2 / 3) ** (2 / 3) + (5 / 5) ** (2 / 3)) ** 1.5),
    "effective_rank_sum": math.exp(entropy(3, 1)) + math.exp(entropy(2, 5)),
}
OF_CHANGE = ["l2_dist", "fro_dist", "dist_spec_init", "distance_from_init", "spectral_complexity_2_1"]
WITH_MARGIN = {
    "inverse_margin": 1,
    "neg_output_margin": -1,
    "normalized_margin": -1 / 15,
    "log_prod_of_spec_over_margin": math.log(225),
    "log_prod_of_fro_over_margin": math.log(290),
    "log_sum_of_spec_over_margin": math.log(30),
    "log_sum_of_fro_over_margin": math.log(34.0587727),
    "log_spec_init_main": math.log(253),
    "log_spec_orig_main": math.log(511),
    "path_norm_over_margin": 61,
    "cross_entropy": math.log1p(math.exp(-1)),
    "neg_entropy": -entropy(1, math.e),
}
#: Of T1, the sum over kernels of distances or norms, each divided by the spectral norm.
BOUNDS = {"log_spec_init": 4 / 9 + 17 / 25, "log_spec_orig": 10 / 9 + 29 / 25}
T1 = dataset(*T1_DATA)


def variants(names):
    return [*names, *(name + end for name in names for end in ("_fft", "_op") if name + end in MEASURES)]


@pytest.mark.parametrize("name", variants(VALUES | WITH_MARGIN))
def test_t1(name):
    assert value(name, t1(), T1) == pytest.approx((VALUES | WITH_MARGIN)[plain(name)], rel=1e-6)


@pytest.mark.parametrize(
    "name",
    [
        "l2_norm", "param_norm", "fro_dist", "dist_spec_init_fft", "path_norm", "inverse_margin", "log_prod_of_fro",
        "log_sum_of_spec", "log_prod_of_spec_op", "log_prod_of_spec_over_margin_fft",
    ],
)  # fmt: skip
def test_normalization_by_the_number_of_examples(name):
    found = value(name, t1(), dataset([[1.0, 1.0]] * 5, [0] * 5), normalization="dziugaite")
    plainly = (VALUES | WITH_MARGIN)[plain(name)]
    expected = (plainly - math.log(5)) / 2 if name.startswith("log_") else math.sqrt(plainly / 5)
    assert found == pytest.approx(expected)


def test_path_norm_of_all_paths_and_biases():
    assert value("path_norm", dense(*T1_KERNELS, biases=[(1, 0), (0, 0)])) == pytest.approx(65)
    rng = np.random.default_rng(0)
    kernels = [rng.normal(size=shape) for shape in [(3, 4), (4, 5), (5, 2)]]
    expected = np.einsum("ab,bc,cd->", *(kernel**2 for kernel in kernels))
    assert value("path_norm", dense(*kernels)) == pytest.approx(expected, rel=1e-6)
    for factor in (1e-12, 1e12):  # near the ends of what floats can hold
        model = dense(*[factor * np.eye(2)] * 20)
        assert 0 < value("path_norm", model) < math.inf
        assert abs(value("log_path_norm", model)) > 700


def test_path_norm_leaves_average_pooling_and_ignores_a_final_softmax():
    first, second = layers.Conv2D(3, 1, activation="relu", use_bias=False), layers.Dense(2, "softmax", use_bias=False)
    model = gaussian(sequential((4, 4, 2), first, layers.AveragePooling2D(4), layers.Flatten(), second))
    first, second = (array**2 for array in model.get_weights())
    assert value("path_norm", model) == pytest.approx(np.sum(first[0, 0] @ second), rel=1e-6)


def test_path_norm_squares_scale_and_shift_of_a_normalization_in_front_of_an_activation():
    norm = sequential((2,), layers.BatchNormalization(), layers.ReLU(), layers.Dense(2, use_bias=False))
    norm.set_weights([*map(np.float32, [(3, 1), (1, -2), (0, 0.5), (1, 1)]), np.eye(2, dtype=np.float32)])
    scale = np.array([3, 1]) / np.sqrt(1.001)
    shift = np.array([1, -2]) - np.array([0, 0.5]) * scale
    assert value("path_norm", norm) == pytest.approx(np.sum(scale**2 + shift**2), rel=1e-6)


FIRST, SECOND = (np.random.default_rng(4).normal(size=shape) for shape in [(6, 8), (8, 3)])
OF_PATHS = np.sum(FIRST**2 @ SECOND**2)


def of_paths(*front, middle=()):
    parts = [layers.Dense(8, use_bias=False), *middle, layers.ReLU(), layers.Dense(3, use_bias=False)]
    model = sequential((6,), *front, *parts)
    model.set_weights([FIRST, SECOND])
    return value("path_norm", model)


def test_constants_are_squared_as_weights_are_but_those_in_front_of_all_weights_are_not_part_of_paths():
    """A skip connection has a constant factor that no weight layer can absorb: x + (-3 x + 2)."""
    by_feature = layers.Rescaling([-1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    for front in (layers.Rescaling(1 / 127.5, offset=-1), by_feature, layers.Normalization(mean=0.5, variance=0.08)):
        assert of_paths(front) == pytest.approx(OF_PATHS, rel=1e-6)
    for factor in (-1.0, -3.0, 0.5):
        assert of_paths(middle=[layers.Rescaling(factor)]) == pytest.approx(factor**2 * OF_PATHS, rel=1e-6)
    source = tf.keras.Input((6,))
    hidden = layers.Dense(8, "relu", use_bias=False)(source)
    joined = layers.Add()([hidden, layers.Rescaling(-3.0, 2.0)(hidden)])
    model = tf.keras.Model(source, layers.Dense(3, use_bias=False)(layers.Activation("elu")(joined)))
    model.set_weights([FIRST, SECOND])
    assert value("path_norm", model) == pytest.approx(np.sum((10 * np.ones(6) @ FIRST**2 + 4) @ SECOND**2), rel=1e-6)


def test_path_norm_adds_what_is_subtracted():
    source = tf.keras.Input((6,))
    hidden = layers.Dense(8, "relu", use_bias=False)(source)
    for join, sign in ((layers.Subtract(), 1), (layers.Add(), -1)):
        model = tf.keras.Model(source, join([layers.Dense(3, use_bias=False)(hidden) for _ in range(2)]))
        model.set_weights([FIRST, SECOND, sign * SECOND])
        assert value("path_norm", model) == pytest.approx(2 * OF_PATHS, rel=1e-6)


@pytest.mark.parametrize("name", variants(OF_CHANGE))
def test_weights_that_have_not_moved(name):
    model = t1()
    model.initial_weights = model.get_weights()
    limit = math.log(15) + 1.5 * math.log(1e-30) if name.startswith("spectral_complexity") else 0
    assert value(name, model) == pytest.approx(limit)


def test_ranks_of_zeros_and_of_products():
    model = dense(np.zeros((2, 2)), np.eye(2))
    assert value("fro_over_spec", model) == pytest.approx(2)
    assert value("effective_rank_sum", model) == pytest.approx(2)
    rng = np.random.default_rng(0)
    low = rng.normal(size=(60, 1)) @ rng.normal(size=(1, 50))
    assert value("effective_rank_sum", dense(low, np.eye(50)[:, :2])) == pytest.approx(1 + 2, abs=1e-4)


def test_distance_from_init_counts_every_array():
    model = sequential((3,), layers.Dense(4), layers.BatchNormalization(), layers.Dense(2))
    model.initial_weights = gaussian(model, 1).get_weights()
    pairs = zip(gaussian(model).get_weights(), model.initial_weights, strict=True)
    expected = sum(((final - initial) ** 2).sum(dtype=np.float64) for final, initial in pairs)
    assert value("distance_from_init", model) == pytest.approx(expected, rel=1e-6)


def with_margins(margins):
    return dense([[1.0, 0.0]]), dataset(np.reshape(margins, (-1, 1)), [0] * len(margins))


@pytest.mark.parametrize("name", variants(BOUNDS))
def test_spectral_bound_of_t1(name):
    constant = 84 * math.sqrt(2) * 2 * math.sqrt(2) + math.sqrt(math.log(4 * 2))
    expected = math.log(225 * BOUNDS[plain(name)] * constant**2 + math.log(1 / 0.05))
    assert value(name, t1(), T1, delta=0.05) == pytest.approx(expected)


def test_the_margin_is_the_smallest_but_a_tenth_also_if_it_is_negative():
    for number, rank in ((1, 1), (9, 1), (10, 1), (19, 1), (20, 2), (30, 3)):
        margins = np.random.default_rng(0).permutation(number) + 1.0
        assert value("neg_output_margin", *with_margins(margins)) == -rank
        assert value("inverse_margin", *with_margins(margins)) == pytest.approx(1 / rank**2)
    margins = np.arange(1.0, 12.5)
    found = value("neg_output_margin", *with_margins(margins), percentile_method="linear")
    assert found == pytest.approx(-np.percentile(margins, 10))
    network = with_margins([-2.0, 5.0])
    assert (value("neg_output_margin", *network), value("normalized_margin", *network)) == (2, 2)
    for options, expected in (({}, 1e12), ({"margin_floor": 0.1}, 100), ({"parity_abs": True}, 1 / 4)):
        assert value("inverse_margin", *network, **options) == pytest.approx(expected)


@pytest.mark.parametrize("name", variants(WITH_MARGIN))
def test_the_scale_of_the_logits(name):
    is_invariant = plain(name) in ("log_spec_orig_main", "normalized_margin") or plain(name).endswith("_over_margin")
    assert (value(name, scaled_t1(1, 7), T1) == pytest.approx(value(name, t1(), T1), rel=1e-5)) == is_invariant


def test_uniform_and_certain_answers():
    for kernel, expected in ((np.zeros((2, 5)), math.log(5)), ([[1e4, 0.0], [0.0, 0.0]], 0)):
        found = [value(name, dense(kernel), T1) for name in ("neg_entropy", "cross_entropy")]
        assert found == pytest.approx([-expected, expected])


def test_a_subsample_is_drawn_by_seed():
    model, data = with_margins(np.random.default_rng(0).normal(size=200))
    for name in ("neg_output_margin", "cross_entropy", "neg_entropy"):
        found = [value(name, model, data, n_samples=50, seed=seed) for seed in (0, 0, 1)]
        assert found[0] == found[1] != found[2]
        assert value(name, model, data) == pytest.approx(value(name, model, data, n_samples=200, seed=1))


depth, num_params, vc_dim, piecewise, conv_bound = map(
    baselines.load, ("depth", "num_params", "vc_dim", "vc_dim_piecewise_linear", "vc_dim_conv_bound")
)


def kinds_of_layers():
    middle = [layers.Conv2D(3, 3), layers.BatchNormalization(), layers.DepthwiseConv2D(2), layers.SeparableConv2D(5, 2)]
    end = [layers.Conv2DTranspose(2, 2), layers.PReLU(), layers.Flatten(), layers.Dense(7)]
    return sequential((6, 6, 2), *middle, *end)


#: Its numbers of weights, biases and units by layer; a separable convolution is two layers.
KERNELS = [3 * 3 * 2 * 3, 2 * 2 * 3, 2 * 2 * 3, 3 * 5, 2 * 2 * 2 * 5, 3 * 3 * 2 * 7]
BIASES = [3, 3, 0, 5, 2, 7]
UNITS = [4 * 4 * 3, 3 * 3 * 3, 2 * 2 * 3, 2 * 2 * 5, 3 * 3 * 2, 7]


def test_sizes_of_t1():
    assert depth(t1(), None) == 2
    assert num_params(t1(), None) == 8
    four = dataset([[1.0, 1.0]] * 4, [0] * 4)
    assert num_params(t1(), four, normalization="dziugaite") == pytest.approx(math.sqrt(8 / 4))
    assert vc_dim(t1(), None) == pytest.approx(2 + 4 * math.log(45056) * 8)
    units = 1 * 2 + 2 * 2
    expected = 2 + (2 * 4 + 1 * 4) * math.log2(8 * math.e * units * math.log2(4 * math.e * units))
    assert piecewise(t1(), None) == pytest.approx(expected)
    expected = 4000 * math.sqrt(2 * math.log2(12) ** 3 * 8) + math.sqrt(math.log(100))
    assert conv_bound(t1(), T1) == pytest.approx(expected)


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


bound = baselines.load("marginal_likelihood_bound")


@pytest.mark.parametrize("correlations", [(0.5,), (-0.6,), (0.5, 0.2, -0.3), (0.8, 0.7, 0.6)])
@pytest.mark.parametrize("noise", [0.01, 0.5])
def test_probabilities_of_signs_that_are_independent_or_two_or_three(correlations, noise):
    signs = np.array([1, -1, 1, 1])
    assert log_probability(np.diag([1.0, 2.0, 0.1, 5.0]), signs, noise) == pytest.approx(-4 * math.log(2))
    size = 2 if len(correlations) == 1 else 3
    covariance = np.eye(size)
    for (i, j), correlation in zip([(0, 1), (0, 2), (1, 2)], correlations, strict=False):
        covariance[i, j] = covariance[j, i] = correlation
    angles = sum(math.asin(value / (1 + noise)) for value in correlations)
    expected = 1 / 4 + angles / (2 * math.pi) if size == 2 else 1 / 8 + angles / (4 * math.pi)
    assert math.exp(log_probability(covariance, np.ones(size), noise)) == pytest.approx(expected, rel=0.03)


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


def test_the_bound_is_that_of_the_probability_of_signs():
    rng = np.random.default_rng(3)
    model, labels = dense(rng.normal(size=(5, 30)), rng.normal(size=(30, 3))), np.arange(50) % 3
    inputs = rng.normal(size=(50, 5))
    subject = Subject(model, dataset(inputs, labels))
    signs = np.where(subject.sample(50).labels > 1.5, 1, -1)
    log = log_probability(random_covariance(subject, 50, 100, 0), signs, NOISE)
    expected = (-log + math.log(50) + 2 * math.log(20)) / 49
    assert bound(model, subject.dataset) == pytest.approx(expected)
    model.set_weights([np.abs(array) for array in model.get_weights()])
    assert bound(model, dataset(8 * inputs, labels)) == pytest.approx(expected, rel=1e-5), "neither weights nor scale"


random = baselines.load("random")


def test_random_depends_on_weights_and_seed_alone_and_leaves_the_state_of_numpy():
    def draw(model, seed):
        tf.keras.utils.set_random_seed(seed)
        return random(model, None)

    other = dense(T1_KERNELS[0], T1_KERNELS[1] + 1e-6)
    assert draw(t1(), 1) == draw(t1(), 1)
    assert len({draw(t1(), 1), draw(other, 1), draw(t1(), 2), draw(other, 2)}) == 4
    assert all(0 <= draw(t1(), seed) < 1 for seed in range(20))
    found = []
    for state in (3, 4):
        np.random.seed(state)
        before = np.random.get_state()[1].copy()
        found.append([value(t1(), None) for value in (random, *(baselines.load(f"random:seed={n}") for n in (0, 1)))])
        assert found[-1][0] == random(t1(), None)
        assert np.array_equal(np.random.get_state()[1], before)
    assert found[0][1:] == found[1][1:]
    assert len({*found[0]}) == 3
