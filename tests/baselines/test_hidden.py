"""Tests of finding the ends of hidden layers, and the first layer that is not a linear map of the input."""

import pytest
import tensorflow as tf
from small_networks import layers, sequential

from baselines import MeasureUnavailable
from baselines.network import Network, read_nodes
from baselines.network.hidden import before_activation, first_hidden, hidden_positions


def pooled(*parts, shape=(8, 8, 3)):
    return sequential(shape, *parts, layers.GlobalAveragePooling2D(), layers.Dense(3))


def names(model, positions):
    network = Network(read_nodes(model))
    return [network.nodes[place].name for place in positions(network)]


def first(model):
    return names(model, lambda network: [first_hidden(network)])[0]


def conv(name="conv", **options):
    return layers.Conv2D(4, 3, padding="same", name=name, **options)


#: Layers of a network, and the name of its first hidden layer's end.
LAYERS = [
    ([conv(), layers.BatchNormalization(), layers.ReLU(name="end")], "end"),
    ([conv(), layers.ReLU(), layers.BatchNormalization(name="end"), layers.MaxPooling2D()], "end"),
    ([conv(), layers.ReLU(name="end"), layers.MaxPooling2D(), layers.BatchNormalization()], "end"),
    ([conv(), layers.LayerNormalization(), layers.Activation("gelu", name="end")], "end"),
    ([conv(), layers.GroupNormalization(2), layers.Activation("relu", name="end")], "end"),
    ([conv(), layers.MaxPooling2D(), layers.ReLU(name="end")], "end"),
    ([conv(), layers.AveragePooling2D(2), layers.LeakyReLU(name="end"), layers.AveragePooling2D(2)], "end"),
    ([conv(), layers.Dropout(0.5), layers.PReLU(name="end")], "end"),
    ([conv(activation="relu"), layers.Dropout(0.5)], "conv activation"),
    ([conv(), layers.Rescaling(2.0), layers.ReLU(name="end")], "end"),
    (
        [conv(), layers.Normalization(mean=0.0, variance=4.0), layers.BatchNormalization(), layers.ELU(name="end")],
        "end",
    ),
    ([conv(), layers.ReLU(), layers.Rescaling(2.0, name="end"), layers.MaxPooling2D()], "end"),
    ([layers.Rescaling(2.0), layers.ReLU(), conv(), layers.Softmax(name="end")], "end"),
]


#: Networks in which linear layers alone are no hidden layer.
LINEAR_FIRST = [
    ([layers.DepthwiseConv2D(3), conv(), layers.BatchNormalization(), layers.ReLU(name="end")], "end"),
    ([conv(), conv("second", activation="relu")], "second activation"),
    ([conv(activation="linear"), layers.Activation("linear"), conv("b"), layers.ELU(name="end"), conv("c")], "end"),
    ([conv(), layers.AveragePooling2D(2), conv("b"), layers.ReLU(name="end"), conv("c")], "end"),
    ([conv(), layers.MaxPooling2D(name="end"), conv("b")], "end"),
    ([layers.MaxPooling2D(), conv(), conv("b"), layers.ReLU(name="end")], "end"),
    ([layers.BatchNormalization(), layers.ReLU(), conv(), layers.ReLU(name="end"), conv("b")], "end"),
]


@pytest.mark.parametrize(("parts", "end"), [*LAYERS, *LINEAR_FIRST])
def test_a_hidden_layer_ends_behind_its_normalization_and_activation(parts, end):
    model = pooled(*(type(part).from_config(part.get_config()) for part in parts))
    assert first(model) == end
    assert (parts, end) in LINEAR_FIRST or names(model, hidden_positions) == [end]


def block(x, *, before):
    """Return a residual block whose activation is in front of its convolution if `before`, else behind the sum."""
    inner = layers.ReLU()(layers.BatchNormalization()(x)) if before else x
    inner = layers.Conv2D(4, 3, padding="same")(inner)
    inner = inner if before else layers.BatchNormalization()(inner)
    total = layers.Add()([x, inner])
    return total if before else layers.ReLU()(total)


@pytest.mark.parametrize(("before", "kind"), [(False, "ReLU"), (True, "Add")])
@pytest.mark.parametrize("stem_is_active", [False, True])
def test_residual_networks(before, kind, stem_is_active):
    source = tf.keras.Input((8, 8, 3))
    x = layers.Conv2D(4, 3, padding="same")(source)
    x = layers.ReLU(name="stem")(layers.BatchNormalization()(x)) if stem_is_active else x
    for _ in range(2):
        x = block(x, before=before)
    model = tf.keras.Model(source, layers.Dense(3)(layers.GlobalAveragePooling2D()(x)))
    network = Network(read_nodes(model))
    place = first_hidden(network)
    if stem_is_active:
        assert network.nodes[place].name == "stem"
    else:
        assert network.nodes[place].kind == kind
        assert sum(node.kind == "Add" for node in network.nodes[: place + 1]) == 1


def test_what_a_connection_skips_to_the_logits_is_refused():
    source = tf.keras.Input((4,))
    inner = layers.Dense(4, "relu")(source)
    model = tf.keras.Model(source, layers.Add()([layers.Dense(3)(inner), layers.Dense(3)(source)]))
    with pytest.raises(MeasureUnavailable, match="no connection skips"):
        first(model)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([conv(activation="relu")], "conv"),
        ([conv(), layers.ReLU(), layers.BatchNormalization(), conv("b")], "conv"),
        ([conv(), layers.ReLU(), layers.Rescaling(2.0), conv("b")], "conv"),
        ([conv(), layers.MaxPooling2D(name="pool"), conv("b")], "pool"),
    ],
    ids=["fused", "in front of a normalization", "in front of a rescaling", "pooling is the activation"],
)
def test_before_the_activation(parts, expected):
    network = Network(read_nodes(pooled(*parts)))
    assert network.nodes[before_activation(network, first_hidden(network))].name == expected
