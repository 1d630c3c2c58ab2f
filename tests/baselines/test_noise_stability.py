"""Tests of noise stability: cushions of layers and between them, contraction by activations, sensitivity to noise."""

import math

import numpy as np
import pytest
import tensorflow as tf
from small_networks import T1_DATA, dataset, dense, labelled, layers, random_kernels, sequential, t1, value

from baselines import MeasureUnavailable
from baselines.compression.cushions import interlayer_cushions, layer_cushions
from baselines.core.subject import Subject
from baselines.network import INPUT

WIDTHS = (6, 8, 7, 5, 3)
KERNELS = random_kernels(*WIDTHS)


def inputs(n=40, shape=(6,)):
    return np.random.default_rng(0).normal(size=(n, *shape)).astype(np.float32)


DATA = dataset(inputs(), np.arange(40) % 3)


def randomized(model):
    draw = np.random.default_rng(3)
    model.set_weights([np.abs(w) + draw.normal(size=w.shape) / math.sqrt(w[..., 0].size) for w in model.get_weights()])
    for layer in model.layers:
        if isinstance(layer, layers.BatchNormalization):
            layer.set_weights([draw.random(size=w.shape) + 0.5 for w in layer.get_weights()])
    return model


def convolutional():
    front = [layers.Conv2D(3, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D()]
    middle = [layers.SeparableConv2D(4, 2, activation="tanh"), layers.Conv2DTranspose(2, 2, 2, activation="relu")]
    end = [layers.GlobalAveragePooling2D(), layers.Dense(3, "softmax")]
    return randomized(sequential((6, 6, 2), *front, *middle, *end))


def residual():
    source = tf.keras.Input((4, 4, 2))
    flow = layers.Conv2D(3, 3, padding="same", activation="relu")(source)
    flow = layers.ReLU()(layers.Add()([layers.Conv2D(3, 3, padding="same")(flow), layers.Conv2D(3, 1)(flow)]))
    return randomized(tf.keras.Model(source, layers.Dense(3)(layers.GlobalAveragePooling2D()(flow))))


def test_values_of_t1():
    """T1 has the kernels diag(3, 1) and diag(2, 5), and the input (1, 1)."""
    given = dataset(*T1_DATA)
    assert value("inverse_layer_cushion", t1(), given) == pytest.approx((2 + 29 * 10 / 61) / 2)
    assert value("activation_contraction", t1(), given) == 1
    # c = 1, d^2 = 4, |f|^2 = 61; 1 / mu^2: 2 and 290 / 61; 1 / mu_i->^2: 290 / 61 and 2; gamma = 1
    assert value("arora_compression_bound", t1(), given) == pytest.approx(math.log(4 * 61 * 4 * 290 / 61))


def test_noise_sensitivity_of_a_linear_map_is_the_mean_over_examples():
    model = dense(np.diag([3.0, 1.0]), np.diag([2.0, 5.0]), activation=None)
    for end, expected in (("", 61 * 2 / 61), ("_l1", 29 * 10 / 61), ("_l2", 2)):
        for tau in (0.1, 1.0):
            found = value(f"noise_sensitivity{end}", model, dataset(*T1_DATA), n_draws=100_000, tau=tau)
            assert found == pytest.approx(expected, rel=0.02)
    matrix, examples = KERNELS[0], inputs(2000)
    expected = np.sum(matrix**2) * np.mean(np.sum(examples**2, axis=1) / np.sum((examples @ matrix) ** 2, axis=1))
    assert value("noise_sensitivity", dense(matrix), dataset(examples, np.zeros(2000))) == pytest.approx(
        expected, rel=0.05
    )


@pytest.mark.parametrize("robust", [True, False])
def test_layer_cushions_of_dense_layers(robust):
    biases = [np.random.default_rng(4).normal(size=width) for width in WIDTHS[1:]]
    found = layer_cushions(Subject(dense(*KERNELS, biases=biases), DATA), 100, 0, robust=robust)
    flow, expected = inputs().astype(np.float64), []
    for kernel, bias in zip(KERNELS, biases, strict=True):
        kept = np.linalg.norm(flow @ kernel, axis=1)
        ratios = kept / np.linalg.norm(flow, axis=1) / np.linalg.norm(kernel)
        expected.append(np.percentile(ratios, 5 if robust else 0))
        flow = np.maximum(flow @ kernel + bias, 0)
    assert found == pytest.approx(expected, rel=1e-4)


def test_a_convolution_is_compared_with_its_kernel_at_all_positions():
    model = randomized(sequential((5, 5, 2), layers.Conv2D(3, 2), layers.Flatten()))
    matrix = (model(np.eye(50).reshape(50, 5, 5, 2)) - model(np.zeros((1, 5, 5, 2)))).numpy()
    kernel = model.layers[0].get_weights()[0]
    assert np.linalg.norm(matrix) == pytest.approx(np.linalg.norm(kernel) * 4, rel=1e-4)
    examples = inputs(30, (5, 5, 2))
    flat = examples.reshape(30, -1)
    ratios = np.linalg.norm(flat @ matrix, axis=1) / np.linalg.norm(flat, axis=1)
    expected = np.percentile(ratios / np.linalg.norm(matrix), 5)
    found = layer_cushions(Subject(model, dataset(examples, np.zeros(30))), 30, 0, robust=True)
    assert found == pytest.approx([expected], rel=1e-4)


def jacobian(network, batch, place, other):
    value = network.run({INPUT: batch}, [place])[0]
    with tf.GradientTape() as tape:
        tape.watch(value)
        behind = network.run({INPUT: batch, place: value}, [other])[0]
    slope = tape.jacobian(behind, value, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return slope.numpy().reshape(behind.numpy().size, -1), value.numpy().reshape(-1)


@pytest.mark.rest
@pytest.mark.parametrize(("make", "shape"), [(convolutional, (6, 6, 2)), (residual, (4, 4, 2))])
def test_interlayer_cushions_of_jacobians(make, shape):
    subject = Subject(make(), dataset(inputs(1, shape), [0]))
    network = subject.folded
    expected = []
    for place in network.weight_nodes:
        ratios = [1 / math.sqrt(np.prod(network.shape(place)))]
        for other in network.weight_nodes:
            slope, value = jacobian(network, inputs(1, shape), place, other)
            if other > place and slope.any():
                ratios.append(np.linalg.norm(slope @ value) / np.linalg.norm(slope) / np.linalg.norm(value))
        expected.append(min(ratios))
    assert interlayer_cushions(subject, 1, 300, 0, robust=True) == pytest.approx(expected, rel=0.1)


def test_contraction_in_closed_form_which_overlooks_few_examples():
    tanh = 5 / math.hypot(math.tanh(3), math.tanh(4))
    cases = [("relu", (3, -4), 5 / 3), (None, (3, -4), 1), ("tanh", (3, -4), tanh)]
    for activation, image, expected in [*cases, ("relu", (-3, -4), 1e6), ("relu", (0, 0), 1)]:  # dead, and silent
        model = dense(np.eye(2), np.eye(2), activation=activation)
        assert value("activation_contraction", model, dataset([image], [0])) == pytest.approx(expected)
    model, given = dense(np.eye(2), np.eye(2)), dataset([[3, -4], *[[1, 1]] * 99], np.zeros(100))
    assert value("activation_contraction", model, given) == pytest.approx(1)
    assert value("activation_contraction", model, given, robust=False) == pytest.approx(5 / 3)


def test_layers_that_stop_signals_or_send_them_to_zero():
    """The second layer gets the first layer's signals, but its activation outputs 0 for all."""
    names = ("first", "second", "third")
    model = sequential((6,), *(layers.Dense(6, "relu", name=name) for name in names))
    eye = np.eye(6)
    model.set_weights([eye, np.zeros(6), eye, np.full(6, -100.0), eye, np.ones(6)])
    with pytest.raises(MeasureUnavailable, match="first to third"):
        interlayer_cushions(Subject(model, DATA), 40, 2, 0, robust=True)
    model = dense([[1, 0], [-1, 0]], np.ones((2, 2)), biases=[[1, 1], [0, 0]])
    cushions = layer_cushions(Subject(model, dataset([[1, 1]], [0])), 1, 0, robust=True)
    assert cushions[0] == 1e-6


@pytest.mark.rest
def test_a_wrong_network_has_the_floor_as_margin():
    model = dense(*KERNELS)
    wrong = labelled(model, inputs()).map(lambda image, label: (image, (label + 1) % 3))
    values = [value("arora_compression_bound", model, given) for given in (labelled(model, inputs()), wrong)]
    assert values[0] < values[1]
    raised = value("arora_compression_bound", model, wrong, margin_floor=1e-3)
    assert raised == pytest.approx(values[1] - 2 * math.log(1000))
