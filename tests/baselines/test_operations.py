"""Tests of operations in place of Keras layers, and of activations that are recognized by their names."""

import numpy as np
import pytest
import tensorflow as tf
from small_networks import layers, sequential

from baselines.network import Network, Node, read_nodes
from baselines.network.hidden import is_bent
from baselines.network.operations import Operation, operation
from harness.worker.architecture import build_model

IMAGE, SEQUENCE, VOLUME, VECTOR = (6, 7, 4), (9, 4), (4, 5, 4, 4), (5,)

COMMON = {
    "dense": (lambda: layers.Dense(3), VECTOR),
    "dense without bias": (lambda: layers.Dense(3, use_bias=False), VECTOR),
    "dense at each place": (lambda: layers.Dense(3), IMAGE),
    "sequence": (lambda: layers.Conv1D(3, 3, strides=2, padding="same"), SEQUENCE),
    "image": (lambda: layers.Conv2D(3, (3, 2), strides=2), IMAGE),
    "dilated": (lambda: layers.Conv2D(3, 3, dilation_rate=2, padding="same", use_bias=False), IMAGE),
    "volume": (lambda: layers.Conv3D(3, 2), VOLUME),
    "batch normalization": (layers.BatchNormalization, IMAGE),
    "only shifting": (lambda: layers.BatchNormalization(scale=False, epsilon=0.1), IMAGE),
    "only scaling": (lambda: layers.BatchNormalization(center=False), VECTOR),
    "neither": (lambda: layers.BatchNormalization(scale=False, center=False), VECTOR),
    "activation": (lambda: layers.Activation("tanh"), VECTOR),
    "softmax": (lambda: layers.Activation("softmax"), VECTOR),
    "ReLU": (layers.ReLU, IMAGE),
    "flatten": (layers.Flatten, IMAGE),
    "largest": (lambda: layers.MaxPooling2D(3, strides=2, padding="same"), IMAGE),
    "largest of a sequence": (lambda: layers.MaxPooling1D(2), SEQUENCE),
    "largest of a volume": (lambda: layers.MaxPooling3D(2), VOLUME),
    "average": (lambda: layers.AveragePooling2D((2, 3), padding="same"), IMAGE),
    "average of all": (layers.GlobalAveragePooling2D, IMAGE),
    "average of a sequence": (layers.GlobalAveragePooling1D, SEQUENCE),
}

UNCOMMON = {
    "groups": layers.Conv2D(4, 3, groups=2),
    "causal": layers.Conv1D(4, 3, padding="causal"),
    "another axis": layers.BatchNormalization(axis=1),
    "bounded": layers.ReLU(max_value=1),
    "leaky": layers.ReLU(negative_slope=0.1),
    "with a threshold": layers.ReLU(threshold=0.5),
    "own activation": layers.Activation(lambda numbers: 2 * numbers),
    "channels in front": layers.MaxPooling2D(data_format="channels_first"),
    "channels in front, flattened": layers.Flatten(data_format="channels_first"),
    "average with all axes": layers.GlobalAveragePooling2D(keepdims=True),
    "depthwise": layers.DepthwiseConv2D(3),
    "recurrent": layers.GRU(3),
}


def node_of(layer):
    return Node(layer.name, type(layer).__name__, layer.get_config(), tuple(layer.get_weights()), (-1,))


@pytest.mark.parametrize(("make", "shape"), COMMON.values(), ids=COMMON)
def test_it_computes_what_the_layer_computes(make, shape):
    rng, layer = np.random.default_rng(0), make()
    inputs = tf.constant(rng.standard_normal((5, *shape)), tf.float32)
    layer(inputs)
    layer.set_weights([rng.uniform(0.5, 1.5, array.shape) for array in layer.get_weights()])
    found = operation(node_of(layer), "float32")
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(inputs)
        outputs, expected = found(inputs), layer(inputs, training=False)
    assert outputs.numpy() == pytest.approx(expected.numpy(), rel=1e-5, abs=1e-6)
    slopes = [tape.gradient(of, inputs).numpy() for of in (outputs, expected)]
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-4, abs=1e-5)


def test_what_it_does_not_know_is_left_to_keras():
    assert [name for name, layer in UNCOMMON.items() if operation(node_of(layer), "float32")] == []


def test_numbers_of_another_type_become_those_of_the_weights():
    layer = layers.Dense(2)
    layer(np.ones((1, 3), np.float32))
    found = operation(node_of(layer), "float64")
    assert found(tf.ones((1, 3), tf.float32)).dtype == tf.float64


@pytest.mark.parametrize("is_graph", [False, True], ids=["sequential", "functional"])
@pytest.mark.parametrize("last", [[], [("EinsumDense", "abc,cd->abd", (5, 4))], [("Reshape", (5, 4))]], ids=str)
def test_masks_go_through_a_network_as_they_do_in_keras(is_graph, last):
    """The network's mean is taken over the positions that are not masked, unless a layer in between ends the mask."""
    ending = [getattr(layers, kind)(*settings) for kind, *settings in last]
    middle = [layers.Masking(), layers.Dense(4, "relu"), *ending, layers.GlobalAveragePooling1D()]
    model = sequential((5, 3), *middle, layers.Dense(2))
    if is_graph:
        flow = source = tf.keras.Input((5, 3))
        for layer in [*middle, layers.Dense(2)]:
            flow = tf.keras.layers.deserialize(tf.keras.layers.serialize(layer))(flow)
        model = tf.keras.Model(source, flow)
    inputs = np.random.default_rng(0).standard_normal((4, 5, 3)).astype(np.float32)
    inputs[:, 3:] = 0
    network = Network(read_nodes(model))
    assert not any(isinstance(network.layer(place), Operation) for place in range(len(network.nodes)))
    assert network.outputs(inputs)[0] == pytest.approx(model(inputs).numpy(), rel=1e-5, abs=1e-6)


def nodes_of_file(input_shape, **layers):
    layers = [{"class_name": name, "config": config} for name, config in layers.items()]
    return read_nodes(build_model({"format": "layers", "input_shape": input_shape, "layers": layers}, tf.keras))


@pytest.mark.parametrize("name", ["hard_sigmoid", "hard_sigmoid_of_keras_2"])
def test_a_hard_sigmoid_has_a_name_and_pieces_and_gives_no_logits(name):
    found = nodes_of_file([4], Dense={"units": 5, "activation": name})
    assert [node.config.get("activation") for node in found.nodes] == ["linear", name]
    assert name in str(found.no_logits)
    assert is_bent(found.nodes[1])
    inputs = tf.constant(np.linspace(-4, 4, 9, dtype=np.float32)[:, None])
    expected = np.clip(inputs / (5 if name.endswith("2") else 6) + 0.5, 0, 1)
    np.testing.assert_allclose(operation(found.nodes[1], "float32")(inputs), expected, atol=1e-6)


def test_a_layer_that_a_worker_keeps_from_augmenting_is_idle():
    convolution, brightness = {"filters": 2, "kernel_size": 3}, {"factor": 0.1}
    found = nodes_of_file([6, 6, 3], RandomFlip={}, Conv2D=convolution, Flatten={}, RandomBrightness=brightness)
    assert [node.kind for node in found.nodes] == ["Conv2D", "Flatten"]
