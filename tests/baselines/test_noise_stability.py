"""Tests of noise stability: cushions of layers and between them, contraction by activations, sensitivity to noise."""

import math

import hypothesis.strategies as st
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from small_networks import T1_DATA, dataset, dense, labelled, layers, random_kernels, sequential, t1

import baselines
from baselines import MeasureUnavailable
from baselines.compression.cushions import interlayer_cushions, layer_cushions
from baselines.core.subject import Subject
from baselines.network import INPUT

NAMES = (
    "inverse_layer_cushion", "activation_contraction", "arora_compression_bound", "noise_sensitivity",
    "noise_sensitivity_l1", "noise_sensitivity_l2", "noise_sensitivity_l3",
)  # fmt: skip
inverse_layer_cushion, activation_contraction, arora_compression_bound, noise_sensitivity, *of_layers = map(
    baselines.load, NAMES
)

WIDTHS = (6, 8, 7, 5, 3)


def kernels():
    return random_kernels(*WIDTHS)


def inputs(n=40, shape=(6,), seed=0):
    return np.random.default_rng(seed).normal(size=(n, *shape)).astype(np.float32)


def data(n=40):
    return dataset(inputs(n), np.arange(n) % 3)


def randomized(model, seed=3):
    draw = np.random.default_rng(seed)
    model.set_weights([np.abs(w) + draw.normal(size=w.shape) / math.sqrt(w[..., 0].size) for w in model.get_weights()])
    for layer in model.layers:
        if isinstance(layer, layers.BatchNormalization):
            layer.set_weights([draw.random(size=w.shape) + 0.5 for w in layer.get_weights()])
    return model


def convolutional():
    front = [layers.Conv2D(3, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D()]
    middle = [layers.SeparableConv2D(4, 2, activation="tanh"), layers.Conv2DTranspose(2, 2, 2, activation="relu")]
    return randomized(
        sequential((6, 6, 2), *front, *middle, layers.GlobalAveragePooling2D(), layers.Dense(3, "softmax"))
    )


def residual():
    source = tf.keras.Input((4, 4, 2))
    flow = layers.Conv2D(3, 3, padding="same", activation="relu")(source)
    inner = layers.Conv2D(3, 3, padding="same")(flow)
    around = layers.Conv2D(3, 1)(flow)
    flow = layers.ReLU()(layers.Add()([inner, around]))
    flow = layers.GlobalAveragePooling2D()(flow)
    return randomized(tf.keras.Model(source, layers.Dense(3)(flow)))


# T1: W_1 = diag(3, 1), W_2 = diag(2, 5), x = (1, 1)


def test_values_of_t1():
    given = dataset(*T1_DATA)
    assert inverse_layer_cushion(t1(), given) == pytest.approx((2 + 29 * 10 / 61) / 2)
    assert activation_contraction(t1(), given) == 1
    # c = 1, d^2 = 4, |f|^2 = 61; 1 / mu^2: 2 and 290 / 61; 1 / mu_i->^2: 290 / 61 and 2; gamma = 1
    assert arora_compression_bound(t1(), given) == pytest.approx(math.log(4 * 61 * 4 * 290 / 61))


@pytest.mark.parametrize(
    ("measure", "expected"), [(noise_sensitivity, 61 * 2 / 61), (of_layers[0], 29 * 10 / 61), (of_layers[1], 2)]
)
@pytest.mark.parametrize("tau", [0.1, 1.0])
def test_noise_sensitivity_of_a_linear_map(measure, expected, tau):
    model = dense(np.diag([3.0, 1.0]), np.diag([2.0, 5.0]), activation=None)
    assert measure(model, dataset(*T1_DATA), n_draws=200_000, tau=tau) == pytest.approx(expected, rel=0.02)


def test_noise_sensitivity_is_the_mean_over_examples():
    matrix, examples = kernels()[0], inputs(2000)
    expected = np.sum(matrix**2) * np.mean(np.sum(examples**2, axis=1) / np.sum((examples @ matrix) ** 2, axis=1))
    assert noise_sensitivity(dense(matrix), dataset(examples, np.zeros(2000))) == pytest.approx(expected, rel=0.05)


def test_layer_cushions_in_closed_form():
    width, given = 7, dataset(inputs(9, (7,)), np.zeros(9))
    constant = dense(np.full((width, width), 0.3))
    assert inverse_layer_cushion(dense(np.eye(width)), given) == pytest.approx(width)
    assert inverse_layer_cushion(constant, dataset([[2.0] * 7], [0])) == pytest.approx(1)
    assert inverse_layer_cushion(dense(5 * np.eye(7), np.eye(7), activation=None), given) == pytest.approx(width)


@pytest.mark.parametrize("robust", [True, False])
def test_layer_cushions_of_dense_layers(robust):
    biases = [np.random.default_rng(4).normal(size=width) for width in WIDTHS[1:]]
    found = layer_cushions(Subject(dense(*kernels(), biases=biases), data()), 100, 0, robust=robust)
    flow, expected = inputs().astype(np.float64), []
    for kernel, bias in zip(kernels(), biases, strict=True):
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


@pytest.mark.rest
@given(st.integers(0, 10_000))
@settings(max_examples=5)
def test_cushions_are_at_most_one(seed):
    subject = Subject(randomized(convolutional(), seed), dataset(inputs(20, (6, 6, 2), seed), np.zeros(20)))
    cushions = layer_cushions(subject, 20, 0, robust=False)
    assert cushions.shape == (4,)
    assert (cushions > 0).all()
    assert (cushions <= 1).all()


def jacobian(network, batch, place, other):
    """Return the Jacobian (outputs, inputs) from `place` to `other` on one example, and the activations at `place`."""
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


@pytest.mark.rest
def test_interlayer_cushions_of_many_examples():
    subject = Subject(dense(*kernels()), data(700))  # more than a batch
    one, many = (interlayer_cushions(subject, 700, probes, 0, robust=True) for probes in (1, 50))
    assert one.shape == (4,)
    assert one == pytest.approx(many, rel=0.4)
    assert many[-1] == pytest.approx(1 / math.sqrt(3))
    assert (many <= interlayer_cushions(subject, 700, 50, 0, robust=True)).all()


@pytest.mark.parametrize(
    ("activation", "image", "expected"),
    [
        ("relu", (3, -4), 5 / 3),
        (None, (3, -4), 1),
        ("tanh", (3, -4), 5 / math.hypot(math.tanh(3), math.tanh(4))),
        ("relu", (-3, -4), 1e6),  # dead
        ("relu", (0, 0), 1),  # silent
    ],
)
def test_contraction_in_closed_form(activation, image, expected):
    model = dense(np.eye(2), np.eye(2), activation=activation)
    assert activation_contraction(model, dataset([image], [0])) == pytest.approx(expected)


def test_the_robust_contraction_overlooks_few_examples():
    model, examples = dense(np.eye(2), np.eye(2)), np.ones((100, 2))
    examples[0] = [3, -4]
    given = dataset(examples, np.zeros(100))
    assert activation_contraction(model, given) == pytest.approx(1)
    assert activation_contraction(model, given, robust=False) == pytest.approx(5 / 3)


def test_layers_that_stop_signals_or_send_them_to_zero():
    """The second layer gets the first layer's signals, but its activation outputs 0 for all."""
    names = ("first", "second", "third")
    model = sequential((6,), *(layers.Dense(6, "relu", name=name) for name in names))
    eye = np.eye(6)
    model.set_weights([eye, np.zeros(6), eye, np.full(6, -100.0), eye, np.ones(6)])
    with pytest.raises(MeasureUnavailable, match="first to third"):
        interlayer_cushions(Subject(model, data()), 40, 2, 0, robust=True)
    model = dense([[1, 0], [-1, 0]], np.ones((2, 2)), biases=[[1, 1], [0, 0]])
    cushions = layer_cushions(Subject(model, dataset([[1, 1]], [0])), 1, 0, robust=True)
    assert cushions[0] == 1e-6


@pytest.mark.rest
def test_a_wrong_network_has_the_floor_as_margin():
    model = dense(*kernels())
    wrong = labelled(model, inputs()).map(lambda image, label: (image, (label + 1) % 3))
    values = [arora_compression_bound(model, given) for given in (labelled(model, inputs()), wrong)]
    assert values[0] < values[1]
    raised = arora_compression_bound(model, wrong, margin_floor=1e-3)
    assert raised == pytest.approx(values[1] - 2 * math.log(1000))
