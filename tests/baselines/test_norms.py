"""Tests of norms of the weights, of the output margin, and of norms over it: closed forms, effects of scale."""

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

from baselines import MEASURES


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
    """Return the names, followed by the names of the same measures with other spectral norms."""
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


@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_path_norm_of_a_deep_network_does_not_leave_what_floats_can_hold(factor):
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


def of_paths(*front, middle=(), factor=1.0):
    """Return the path norm of two dense layers with constant factors in front and in the middle."""
    parts = [layers.Dense(8, use_bias=False), *middle, layers.ReLU(), layers.Dense(3, use_bias=False)]
    model = sequential((6,), *front, *parts)
    model.set_weights([factor * FIRST, SECOND])
    return value("path_norm", model)


@pytest.mark.parametrize(
    "front",
    [
        layers.Rescaling(1 / 127.5, offset=-1),
        layers.Rescaling([-1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        layers.Normalization(mean=0.5, variance=0.08),
    ],
)
def test_constants_in_front_of_all_weights_are_not_part_of_paths(front):
    assert of_paths(front) == pytest.approx(OF_PATHS, rel=1e-6)


@pytest.mark.parametrize("factor", [-1.0, -3.0, 0.5])
def test_constants_between_weights_are_squared_as_weights_are(factor):
    assert of_paths(middle=[layers.Rescaling(factor)]) == pytest.approx(factor**2 * OF_PATHS, rel=1e-6)
    assert of_paths(factor=factor) == pytest.approx(factor**2 * OF_PATHS, rel=1e-6)


def test_constants_that_are_left_are_squared():
    """A skip connection with a constant factor that no weight layer can absorb: x + (-3 x + 2)."""
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


@pytest.mark.parametrize(
    ("name", "shift"),
    [
        ("log_prod_of_fro", 2 * math.log(3)), ("log_prod_of_spec", 2 * math.log(3)), ("log_sum_of_fro", math.log(3)),
        ("log_sum_of_spec", math.log(3)), ("log_path_norm", 2 * math.log(3)), ("trace_norm_prod", math.log(3)),
        ("fro_over_spec", 0), ("effective_rank_sum", 0),
    ],
)  # fmt: skip
def test_scaling_one_layer_shifts_logarithms(name, shift):
    assert value(name, scaled_t1(1, 3)) - value(name, t1()) == pytest.approx(shift, abs=1e-5)


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
    """Return a network of two classes and a training set on which it has these margins."""
    return dense([[1.0, 0.0]]), dataset(np.reshape(margins, (-1, 1)), [0] * len(margins))


@pytest.mark.parametrize("name", variants(BOUNDS))
def test_spectral_bound_of_t1(name):
    constant = 84 * math.sqrt(2) * 2 * math.sqrt(2) + math.sqrt(math.log(4 * 2))
    expected = math.log(225 * BOUNDS[plain(name)] * constant**2 + math.log(1 / 0.05))
    assert value(name, t1(), T1, delta=0.05) == pytest.approx(expected)


@pytest.mark.parametrize(("number", "rank"), [(1, 1), (9, 1), (10, 1), (19, 1), (20, 2), (30, 3)])
def test_the_margin_is_the_smallest_but_a_tenth(number, rank):
    margins = np.random.default_rng(0).permutation(number) + 1.0
    assert value("neg_output_margin", *with_margins(margins)) == -rank
    assert value("inverse_margin", *with_margins(margins)) == pytest.approx(1 / rank**2)


def test_percentiles_between_margins_and_misclassified_examples():
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


@pytest.mark.parametrize(("kernel", "expected"), [(np.zeros((2, 5)), math.log(5)), ([[1e4, 0.0], [0.0, 0.0]], 0)])
def test_uniform_and_certain_answers(kernel, expected):
    found = [value(name, dense(kernel), T1) for name in ("neg_entropy", "cross_entropy")]
    assert found == pytest.approx([-expected, expected])


def test_a_subsample_is_drawn_by_seed():
    model, data = with_margins(np.random.default_rng(0).normal(size=200))
    for name in ("neg_output_margin", "cross_entropy", "neg_entropy"):
        found = [value(name, model, data, n_samples=50, seed=seed) for seed in (0, 0, 1)]
        assert found[0] == found[1] != found[2]
        assert value(name, model, data) == pytest.approx(value(name, model, data, n_samples=200, seed=1))
