"""Values of measures in closed form, or recomputed with NumPy."""

import math

import numpy as np
import pytest
import tensorflow as tf
from small_networks import T1_DATA, T1_KERNELS, dataset, dense, layers, t1

import baselines

vc_dim, num_params, distance_from_init, jacobian_norm, random = map(
    baselines.load, ("vc_dim", "num_params", "distance_from_init", "jacobian_norm", "random")
)


def test_size_of_t1():
    assert num_params(t1(), None) == 8
    assert vc_dim(t1(), None) == pytest.approx(2 + 4 * math.log(45056) * 8)
    assert vc_dim(t1(), None) == pytest.approx(344.9012, abs=1e-4)
    assert vc_dim(t1(), None, image_side=2) == pytest.approx(2 + 4 * math.log(22 * 2 * 4) * 8)


def test_size_counts_the_kernels_of_every_kind_of_weight_layer():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((6, 6, 2)),
            layers.Conv2D(3, 3),  # 3 * 3 * 2 * 3
            layers.BatchNormalization(),
            layers.DepthwiseConv2D(2),  # 2 * 2 * 3
            layers.SeparableConv2D(5, 2),  # 2 * 2 * 3 and 3 * 5
            layers.Conv2DTranspose(2, 2),  # 2 * 2 * 2 * 5
            layers.PReLU(),
            layers.Flatten(),
            layers.Dense(7),  # 3 * 3 * 2 * 7
        ]
    )
    sizes = [54, 12, 12, 15, 40, 126]
    assert num_params(model, None) == sum(sizes)
    assert vc_dim(model, None) == pytest.approx(6 + 12 * math.log(22 * 6 * 1024) * sum(sizes))


@pytest.mark.parametrize("size", [vc_dim, num_params])
def test_size_grows_with_width_and_depth_and_ignores_the_weights(size):
    def network(*widths):
        return dense(*[np.ones((a, b)) for a, b in zip((2, *widths), (*widths, 2), strict=True)])

    values = [size(network(*widths), None) for widths in [(2,), (3,), (3, 2), (3, 3), (3, 3, 2)]]
    assert values == sorted(set(values))
    assert size(t1(), None) == size(dense(np.zeros((2, 2)), np.ones((2, 2))), None)


def test_distance_from_init_counts_every_array():
    assert distance_from_init(t1(), None) == 21
    model = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(4), layers.BatchNormalization(), layers.Dense(2)])
    rng = np.random.default_rng(0)
    final, initial = ([rng.random(w.shape, np.float32) for w in model.get_weights()] for _ in range(2))
    model.set_weights(final)
    model.initial_weights = initial
    expected = sum(((a - b) ** 2).sum(dtype=np.float64) for a, b in zip(final, initial, strict=True))
    assert distance_from_init(model, None) == pytest.approx(expected, rel=1e-6)


def test_distance_from_init_says_that_initial_weights_are_missing():
    model = t1()
    model.initial_weights = None
    with pytest.raises(baselines.MeasureUnavailable, match="initial weights"):
        distance_from_init(model, None)


def t1_with(last_layers):
    """T1 as a graph, its last layers made by `last_layers`."""
    source = tf.keras.Input((2,))
    flow = layers.Dense(2, "relu", use_bias=False)(source)
    for layer in last_layers():
        flow = layer(flow)
    model = tf.keras.Model(source, flow)
    model.set_weights(T1_KERNELS)
    return model


@pytest.mark.parametrize(
    "make",
    [
        t1,
        lambda: dense(*T1_KERNELS, activation=None),
        lambda: t1_with(lambda: [layers.Dense(2, use_bias=False)]),
        lambda: t1_with(lambda: [layers.Dense(2, "softmax", use_bias=False)]),
        lambda: t1_with(lambda: [layers.Dense(2, use_bias=False), layers.Softmax()]),
    ],
    ids=["relu", "linear", "graph", "softmax in the layer", "softmax layer"],
)
def test_jacobian_norm_of_t1(make):
    model = make()
    before = model(np.float32(T1_DATA[0])).numpy()
    assert jacobian_norm(model, dataset(*T1_DATA)) == pytest.approx((61 / 4 + 29 / 4) / 2)
    assert np.array_equal(model(np.float32(T1_DATA[0])), before)  # a softmax is back in its place


@pytest.mark.parametrize("classes_at_once", [1, 3, 10])
def test_jacobian_norm_against_numpy(classes_at_once):
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(3, 5)), rng.normal(size=(5, 4))
    bias = rng.normal(size=5)
    images = rng.normal(size=(20, 3))
    model = dense(first, second, biases=[bias, np.zeros(4)])

    is_active = images @ first + bias > 0
    jacobians = np.einsum("ih,nh,hk->nik", first, is_active, second)
    of_input = [np.mean(jacobians[:16] ** 2), np.mean(jacobians[16:] ** 2)]  # batches count alike
    expected = (np.mean(of_input) + np.mean(second**2)) / 2
    value = jacobian_norm(model, dataset(images, np.zeros(20)), classes_at_once=classes_at_once)
    assert value == pytest.approx(expected, rel=1e-5)


def test_jacobian_norm_reads_the_first_batches_only():
    images = np.linspace(-1, 1, 60).reshape(20, 3)
    model = dense(*(np.random.default_rng(2).normal(size=shape) for shape in [(3, 5), (5, 2)]))
    some = jacobian_norm(model, dataset(images, np.zeros(20)), n_batches=2, batch_size=4)
    assert some == pytest.approx(jacobian_norm(model, dataset(images[:8], np.zeros(8)), batch_size=4))
    assert some != pytest.approx(jacobian_norm(model, dataset(images, np.zeros(20)), batch_size=4))


def test_random_depends_on_weights_and_seed_alone():
    def draw(model, seed):
        tf.keras.utils.set_random_seed(seed)
        return random(model, None)

    other = dense(T1_KERNELS[0], T1_KERNELS[1] + 1e-6)
    assert draw(t1(), 1) == draw(t1(), 1)
    assert len({draw(t1(), 1), draw(other, 1), draw(t1(), 2), draw(other, 2)}) == 4
    assert all(0 <= draw(t1(), seed) < 1 for seed in range(20))
