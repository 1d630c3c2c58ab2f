"""Tests of constant factors and summands in a network: weight layers absorb them before weights are measured."""

import numpy as np
import pytest
import tensorflow as tf
from small_networks import layers, sequential
from test_network import WEIGHT_LAYERS, with_random_weights

from baselines.core.subject import Subject
from baselines.network import INPUT, Network, fold_scales, read_nodes
from baselines.network.constants import weights_begin

pytestmark = pytest.mark.rest

IMAGES = np.random.default_rng(1).normal(size=(5, 12, 12, 4)).astype(np.float32)

#: Factors and offsets of the four channels of a layer's output.
CONSTANTS = {
    "a number": lambda: layers.Rescaling(-3.0, 0.5),
    "one for each channel": lambda: layers.Rescaling([0.5, -3.0, 2.0, 7.0], [0.0, 1.0, -2.0, 0.5]),
    "an array": lambda: layers.Rescaling(np.array([0.5, -3.0, 2.0, 7.0])),
    "a mean and a variance": lambda: layers.Normalization(mean=0.3, variance=4.0),
    "of all numbers": lambda: layers.Normalization(axis=None, mean=0.3, variance=4.0),
    "a mean and a deviation that come back": lambda: layers.Normalization(mean=0.3, variance=4.0, invert=True),
    "of places alike": lambda: layers.TimeDistributed(layers.Rescaling(2.0)),
}

#: Weight layers that put out four channels.
OF_FOUR = {name: make for name, make in WEIGHT_LAYERS.items() if name != "multiplied"}

#: Operations that may lie between a weight layer and its constants.
BETWEEN = {
    "nothing": [],
    "ReLU": [layers.ReLU],
    "ReLU and pooling": [layers.ReLU, layers.MaxPooling2D],
    "normalization": [layers.BatchNormalization],
    "another": [lambda: layers.Rescaling(0.25, -1.0)],
}


def graph(*parts):
    source = flow = tf.keras.Input((12, 12, 4))
    for part in parts:
        flow = part(flow)
    return with_random_weights(tf.keras.Model(source, layers.Dense(3)(layers.GlobalAveragePooling2D()(flow))))


def kinds(nodes):
    return {node.kind for node in nodes.nodes}


def is_same_function(model, inputs=IMAGES):
    expected, folded = model(inputs).numpy(), Network(fold_scales(read_nodes(model))).logits(inputs).numpy()
    return np.abs(folded - expected).max() < 1e-4 * np.abs(expected).max()


@pytest.mark.parametrize("constant", CONSTANTS.values(), ids=CONSTANTS)
@pytest.mark.parametrize("weights", OF_FOUR.values(), ids=OF_FOUR)
def test_the_layer_in_front_has_them(weights, constant):
    model = graph(weights(), constant(), layers.Activation("gelu"))
    assert is_same_function(model)
    assert not kinds(fold_scales(read_nodes(model))) & {"Rescaling", "Normalization"}


@pytest.mark.parametrize("constant", CONSTANTS.values(), ids=CONSTANTS)
@pytest.mark.parametrize("weights", WEIGHT_LAYERS.values(), ids=WEIGHT_LAYERS)
def test_or_the_layers_behind_which_may_leave_a_sign_and_a_shift(weights, constant):
    model = graph(layers.Dense(4, "gelu"), constant(), weights())
    nodes = fold_scales(read_nodes(model))
    assert is_same_function(model)
    left = [node for node in nodes.nodes if node.kind in ("Rescaling", "Normalization")]
    assert all(np.abs(node.config["scale"]) == pytest.approx(1) for node in left)
    if weights is WEIGHT_LAYERS["dense"]:
        assert left == []


@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_they_go_through_what_commutes_with_them(between):
    model = graph(layers.Conv2D(4, 3), *(part() for part in between), layers.Rescaling(2.0), layers.Conv2D(3, 3))
    assert is_same_function(model)
    assert not kinds(fold_scales(read_nodes(model))) & {"Rescaling", "BatchNormalization"}


def test_a_number_goes_through_sums_and_other_arrangements():
    def summed(flow):
        branches = [layers.Conv2D(4, 3, strides=2)(flow), layers.Conv2D(4, 3, 2, activation="relu")(flow)]
        return layers.Reshape((25, 1, 4))(layers.Add()(branches))

    model = graph(summed, layers.Rescaling(2.0))
    assert is_same_function(model)
    assert "Rescaling" not in kinds(fold_scales(read_nodes(model)))
    kernels, own = ([node.weights[0] for node in n.nodes if node.kind == "Conv2D"] for n in both(model))
    assert all(np.array_equal(2 * kernel, folded) for kernel, folded in zip(own, kernels, strict=True))


@pytest.mark.parametrize("factor", [2.0, [0.5, 3.0, 2.0, 7.0]])
def test_a_normalization_behind_flattened_channels_has_them(factor):
    front = [layers.Dense(4, "gelu"), layers.Rescaling(factor), layers.Flatten(), layers.BatchNormalization()]
    model = with_random_weights(sequential((12, 12, 4), *front, layers.Dense(3)))
    assert is_same_function(model)
    assert not kinds(fold_scales(read_nodes(model))) & {"Rescaling", "BatchNormalization"}


def both(model):
    nodes = read_nodes(model)
    return fold_scales(nodes), nodes


KEPT = {
    "what is also taken by something else": lambda flow: layers.Add()([flow, layers.Rescaling(2.0)(flow)]),
    "what is neither made nor taken by weights": lambda flow: layers.Activation("tanh")(
        layers.Rescaling(2.0)(layers.Activation("gelu")(flow))
    ),
    "along another axis": layers.Normalization(axis=1, mean=0.5, variance=4.0),
}


@pytest.mark.parametrize("part", KEPT.values(), ids=KEPT)
def test_where_no_weight_layer_can_have_them_they_stay(part):
    model = graph(layers.Conv2D(4, 3), part)
    assert is_same_function(model)
    assert kinds(fold_scales(read_nodes(model))) & {"Rescaling", "Normalization"}


def test_a_network_without_any_is_not_written_anew():
    nodes = read_nodes(graph(layers.Rescaling(0.5), layers.Conv2D(4, 3, activation="relu")))
    assert fold_scales(nodes) is nodes


@pytest.mark.parametrize(
    ("front", "kind"),
    [
        ([layers.Rescaling(0.5), layers.Conv2D(4, 3)], "Rescaling"),
        (
            [layers.Rescaling(0.5), layers.ZeroPadding2D(), layers.Normalization(mean=0.5, variance=4.0)],
            "Normalization",
        ),
        ([layers.ZeroPadding2D(), layers.Conv2D(4, 3), layers.Rescaling(0.5)], None),
        ([lambda flow: layers.Add()([flow, layers.Rescaling(0.5)(flow)])], None),
    ],
)
def test_constants_in_front_of_all_weights_belong_to_the_input(front, kind):
    nodes = fold_scales(read_nodes(graph(*front))).nodes
    assert weights_begin(nodes) == INPUT if kind is None else nodes[weights_begin(nodes)].kind == kind


def test_a_normalization_that_was_adapted_does_what_it_does_in_the_model():
    norm = layers.Normalization()
    model = graph(norm, layers.Conv2D(4, 3))
    norm.adapt(3 * IMAGES + 5)  # its weights were drawn, too
    assert Subject(model, None).network.logits(IMAGES).numpy() == pytest.approx(model(IMAGES).numpy(), rel=1e-4)
    assert is_same_function(model)
