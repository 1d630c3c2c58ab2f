"""Norms of weights: closed forms on T1, what scaling leaves and changes, spectral norms of convolutions."""

import math

import numpy as np
import pytest
import tensorflow as tf
from small_networks import T1_DATA, T1_KERNELS, dataset, dense, layers, t1

import baselines
from baselines.network import Network, read_nodes
from baselines.spectral import operator_norm, periodic_norm

VALUES = {
    "depth": 2,
    "l2_norm": math.sqrt(39),
    "param_norm": 39,
    "log_prod_of_fro": math.log(290),
    "log_sum_of_fro": math.log(34.0587727318528),
    "log_prod_of_spec": math.log(225),
    "log_sum_of_spec": math.log(30),
    "fro_over_spec": 10 / 9 + 29 / 25,
    "l2_dist": math.sqrt(21),
    "fro_dist": 21,
    "dist_spec_init": 20,
    "distance_from_init": 21,
    "path_norm": 61,
    "log_path_norm": math.log(61),
    "l1_max_norm": math.log(15),
    "l3_15_norm": math.log((27**0.5 + 1) ** (2 / 3)) + math.log((8**0.5 + 125**0.5) ** (2 / 3)),
    "trace_norm_prod": math.log(4 * 7),
    "effective_rank_sum": 4 * 3**-0.75 + math.exp(-(2 / 7 * math.log(2 / 7) + 5 / 7 * math.log(5 / 7))),
    # |W - W0|_{2,1} = 2 and 1 + 4, spectral norms 3 and 5
    "spectral_complexity_2_1": math.log(15 * ((2 / 3) ** (2 / 3) + (5 / 5) ** (2 / 3)) ** 1.5),
    "inverse_margin": 1,
    "neg_output_margin": -1,
    "normalized_margin": -1 / 15,
    "log_prod_of_spec_over_margin": math.log(225),
    "log_prod_of_fro_over_margin": math.log(290),
    "log_sum_of_spec_over_margin": math.log(30),
    "log_sum_of_fro_over_margin": math.log(34.0587727318528),
    "log_spec_init_main": math.log(253),
    "log_spec_orig_main": math.log(511),
    "path_norm_over_margin": 61,
    "cross_entropy": 0.313262,
    "neg_entropy": -0.582203,
}
OF_KERNELS = ("_fft", "_op")


@pytest.mark.parametrize("name", VALUES)
def test_values_of_t1(name):
    assert baselines.load(name)(t1(), dataset(*T1_DATA)) == pytest.approx(VALUES[name], rel=1e-5)


@pytest.mark.parametrize("name", [n for n in baselines.MEASURES if n.endswith(OF_KERNELS)])
def test_variants_agree_on_dense_layers(name):
    plain = name.removesuffix("_fft").removesuffix("_op")
    assert baselines.load(name)(t1(), dataset(*T1_DATA)) == pytest.approx(VALUES[plain], rel=1e-5)


def scaled(*factors):
    model = dense(*(factor * kernel for factor, kernel in zip(factors, T1_KERNELS, strict=True)))
    model.initial_weights = [np.eye(2), np.eye(2)]
    return model


R_INVARIANT = [
    name for name in VALUES
    if name.startswith(("log_prod_of", "log_sum_of", "path_norm", "log_path", "fro_over", "normalized_m", "l1", "l3"))
] + ["cross_entropy", "neg_entropy", "trace_norm_prod", "effective_rank_sum", "log_spec_orig_main"]  # fmt: skip


@pytest.mark.parametrize("name", R_INVARIANT)
def test_what_moving_scale_between_layers_leaves(name):
    measure = baselines.load(name)
    assert measure(scaled(7, 1 / 7), dataset(*T1_DATA)) == pytest.approx(measure(t1(), dataset(*T1_DATA)), rel=1e-5)


@pytest.mark.parametrize("name", ["param_norm", "fro_dist", "dist_spec_init", "l2_norm", "l2_dist"])
def test_what_moving_scale_between_layers_changes(name):
    measure = baselines.load(name)
    assert measure(scaled(7, 1 / 7), None) != pytest.approx(measure(t1(), None), rel=0.01)


@pytest.mark.parametrize(
    "name",
    [n for n in VALUES if n.endswith("_over_margin")] + ["log_spec_orig_main", "normalized_margin"],
)
def test_what_the_scale_of_the_logits_leaves(name):
    measure = baselines.load(name)
    assert measure(scaled(1, 3), dataset(*T1_DATA)) == pytest.approx(measure(t1(), dataset(*T1_DATA)), rel=1e-5)


@pytest.mark.parametrize(("name", "shift"), [("log_prod_of_fro", 2), ("log_prod_of_spec", 2), ("log_sum_of_fro", 1)])
def test_scaling_one_layer_shifts_logarithms(name, shift):
    measure = baselines.load(name)
    assert measure(scaled(3, 1), None) - measure(t1(), None) == pytest.approx(shift * math.log(3))


def test_path_norm_counts_biases_and_all_paths():
    path_norm = baselines.load("path_norm")
    assert path_norm(dense(*T1_KERNELS, biases=[[1, 0], [0, 0]]), None) == pytest.approx(65)
    rng = np.random.default_rng(0)
    kernels = [rng.normal(size=shape) for shape in ((3, 4), (4, 5), (5, 2))]
    first, second, third = (kernel**2 for kernel in kernels)
    assert path_norm(dense(*kernels), None) == pytest.approx(np.sum(first @ second @ third), rel=1e-5)


def test_weights_at_their_initial_values():
    model = t1()
    model.initial_weights = model.get_weights()
    for name in ("fro_dist", "l2_dist", "dist_spec_init", "dist_spec_init_op"):
        assert baselines.load(name)(model, None) == 0
    assert math.isfinite(baselines.load("log_spec_init_main")(model, dataset(*T1_DATA)))


@pytest.mark.parametrize(
    "name", ["l2_dist", "fro_dist", "dist_spec_init_fft", "spectral_complexity_2_1", "log_spec_init"]
)
def test_initial_weights_may_be_missing(name):
    model = t1()
    model.initial_weights = None
    with pytest.raises(baselines.MeasureUnavailable, match="initial weights"):
        baselines.load(name)(model, dataset(*T1_DATA))


@pytest.mark.parametrize("name", [n for n in VALUES if n not in ("vc_dim", "depth")])
def test_dead_weights_give_finite_values(name):
    model = dense(np.zeros((2, 3)), np.zeros((3, 2)))
    model.initial_weights = model.get_weights()
    assert math.isfinite(baselines.load(name)(model, dataset(*T1_DATA)))


def test_margins_of_misclassified_examples_are_negative():
    images, labels = [[1.0, 1.0]] * 20, [0] * 18 + [1] * 2
    measure = baselines.load("neg_output_margin")
    assert measure(t1(), dataset(images, labels)) == pytest.approx(1)
    assert measure(t1(), dataset(images, labels), percentile_method="linear") == pytest.approx(-0.8)
    assert baselines.load("inverse_margin")(t1(), dataset(images, labels)) == pytest.approx(1e12)


def test_uniform_and_certain_predictions():
    uniform, certain = dense(np.zeros((2, 4))), dense(np.array([[1e4, 0.0], [0.0, 0.0]]))
    data = dataset([[1.0, 0.0]], [0])
    assert baselines.load("neg_entropy")(uniform, data) == pytest.approx(-math.log(4))
    assert baselines.load("neg_entropy")(certain, data) == 0
    assert baselines.load("cross_entropy")(certain, data) == 0


# Convolutions


def convolution(kernel, side, *, strides=1, padding="same"):
    """A convolution of features of `side` with its network."""
    kernel = np.asarray(kernel, np.float32)
    model = tf.keras.Sequential([
        tf.keras.Input((side, side, kernel.shape[2])),
        layers.Conv2D(kernel.shape[3], kernel.shape[0], strides, padding, use_bias=False),
        layers.Flatten(), layers.Dense(2),
    ])  # fmt: skip
    model.layers[0].set_weights([kernel])
    network = Network(read_nodes(model))
    first = network.kernels[0]
    return network, first, first.array.astype(float)


def test_norms_of_a_kernel_of_ones():
    network, kernel, array = convolution(np.ones((3, 3, 1, 1)), 8)
    assert np.linalg.norm(kernel.matrix, 2) == pytest.approx(3)
    assert periodic_norm(network, kernel, array) == pytest.approx(9)
    assert operator_norm(network, kernel, array) == pytest.approx((1 + 2 * math.cos(math.pi / 9)) ** 2, rel=1e-3)


def periodic_matrix(array, side, stride):
    """The matrix of a strided convolution with periodic borders, column by column."""
    columns = []
    for unit in np.eye(side * side * array.shape[2]):
        image = unit.reshape(side, side, -1)
        out = np.zeros((side, side, array.shape[3]))
        for i, j in np.ndindex(array.shape[:2]):
            out += np.roll(image, (-i, -j), axis=(0, 1)) @ array[i, j]
        columns.append(out[::stride, ::stride].ravel())
    return np.array(columns).T


@pytest.mark.parametrize(("side", "stride"), [(6, 1), (5, 1), (6, 2), (6, 3)])
def test_periodic_norm_against_the_explicit_matrix(side, stride):
    array = np.random.default_rng(side).normal(size=(3, 3, 2, 3))
    network, kernel, _ = convolution(array, side, strides=stride)
    expected = np.linalg.norm(periodic_matrix(array, side, stride), 2)
    assert periodic_norm(network, kernel, array) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("strides", "padding"), [(1, "same"), (1, "valid"), (2, "same")])
def test_operator_norm_against_the_explicit_matrix(strides, padding):
    array = np.random.default_rng(0).normal(size=(3, 3, 2, 3))
    network, kernel, _ = convolution(array, 6, strides=strides, padding=padding)
    units = np.eye(6 * 6 * 2, dtype=np.float32).reshape(-1, 6, 6, 2)
    matrix = network.outputs(units, [kernel.node])[0].reshape(len(units), -1)
    assert operator_norm(network, kernel, array) == pytest.approx(np.linalg.norm(matrix, 2), rel=1e-2)


def test_all_norms_of_a_one_by_one_convolution_agree():
    array = np.random.default_rng(0).normal(size=(1, 1, 4, 3))
    network, kernel, _ = convolution(array, 5)
    expected = np.linalg.norm(kernel.matrix, 2)
    assert periodic_norm(network, kernel, array) == pytest.approx(expected, rel=1e-5)
    assert operator_norm(network, kernel, array) == pytest.approx(expected, rel=1e-3)


def test_a_layer_whose_operator_is_not_known_is_named():
    model = tf.keras.Sequential([
        tf.keras.Input((6, 6, 2)), layers.SeparableConv2D(3, 3, name="twofold"), layers.Flatten(), layers.Dense(2)
    ])  # fmt: skip
    with pytest.raises(baselines.MeasureUnavailable, match="layer twofold"):
        baselines.load("log_prod_of_spec_op")(model, None)
