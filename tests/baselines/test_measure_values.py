"""Tests of values of measures in closed form, or recomputed with NumPy."""

import numpy as np
import pytest
import tensorflow as tf
from small_networks import T1_DATA, T1_KERNELS, dataset, dense, layers, sequential, t1

import baselines
from baselines.network import Network

jacobian_norm, random = map(baselines.load, ("jacobian_norm", "random"))


def with_softmax(*, apart=False):
    """Network T1 with a softmax, as the activation of its last layer or as a layer behind it."""
    end = [layers.Dense(2, use_bias=False), layers.Softmax()] if apart else [layers.Dense(2, "softmax", use_bias=False)]
    model = sequential((2,), layers.Dense(2, "relu", use_bias=False), *end)
    model.set_weights(T1_KERNELS)
    return model


@pytest.mark.parametrize(
    "make",
    [t1, lambda: dense(*T1_KERNELS, activation=None), with_softmax, lambda: with_softmax(apart=True)],
    ids=["relu", "linear", "softmax in the layer", "softmax layer"],
)
def test_jacobian_norm_of_t1(make):
    model = make()
    before = model(np.float32(T1_DATA[0])).numpy()
    assert jacobian_norm(model, dataset(*T1_DATA)) == pytest.approx((61 / 4 + 29 / 4) / 2)
    assert np.array_equal(model(np.float32(T1_DATA[0])), before)  # a softmax is back in its place


@pytest.mark.parametrize("per_batch", [8, 64])
def test_jacobian_norm_against_numpy(per_batch, monkeypatch):
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(3, 5)), rng.normal(size=(5, 14))  # more logits than are differentiated at once
    bias = rng.normal(size=5)
    images = rng.normal(size=(20, 3))
    model = dense(first, second, biases=[bias, np.zeros(14)])

    is_active = images @ first + bias > 0
    jacobians = np.einsum("ih,nh,hk->nik", first, is_active, second)
    of_input = [np.mean(jacobians[:16] ** 2), np.mean(jacobians[16:] ** 2)]  # batches count alike
    expected = (np.mean(of_input) + np.mean(second**2)) / 2
    monkeypatch.setattr(Network, "batch_size_of", lambda *_: per_batch)  # of several sizes and numbers
    value = jacobian_norm(model, dataset(images, np.zeros(20)))
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


def test_random_gives_the_same_number_again_for_the_same_seed():
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
