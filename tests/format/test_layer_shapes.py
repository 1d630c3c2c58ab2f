"""Tests of layers' outputs: their shapes are those of Keras, and logits are recognised."""

import json
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

from harness.errors import UserError
from harness.format.architecture import Architecture, parse_architecture
from harness.format.layer_settings import SUPPORTED
from harness.format.output import Output, shapes_of

layers = tf.keras.layers

LINE, IMAGE, VOLUME = (7, 4), (9, 8, 4), (6, 5, 7, 2)

#: Shape of an input -> layers without settings.
PLAIN = {
    LINE: "BatchNormalization ELU GlobalMaxPooling1D Identity LayerNormalization LeakyReLU MaxPooling1D PReLU ReLU "
    "Softmax UnitNormalization",
    IMAGE: "Flatten GlobalAveragePooling2D",
    VOLUME: "Cropping3D GlobalAveragePooling3D GlobalMaxPooling3D MaxPooling3D UpSampling3D ZeroPadding3D",
}

#: Layers and the shape of one input.
OF_ONE = [
    *((getattr(layers, name)(), shape) for shape, names in PLAIN.items() for name in names.split()),
    *((layers.Dense(3), shape) for shape in ((5,), LINE, IMAGE)),
    (layers.EinsumDense("abc,cd->abd", (None, 3)), LINE),
    (layers.EinsumDense("...x,xy->...y", 3), IMAGE),
    (layers.EinsumDense("ab,bc->ac", 3), (5,)),
    (layers.Embedding(9, 3), (7,)),
    (layers.Permute((2, 3, 1)), IMAGE),
    (layers.RepeatVector(3), (5,)),
    *((layers.Reshape(shape), LINE) for shape in ((4, -1), (14, 2))),
    (layers.Activation("tanh"), IMAGE),
    (layers.GroupNormalization(2), IMAGE),
    (layers.Rescaling(2.0), IMAGE),
    (layers.Conv1D(3, 3, padding="causal", strides=2), LINE),
    (layers.DepthwiseConv1D(3, depth_multiplier=2), LINE),
    (layers.SeparableConv1D(5, 2), LINE),
    (layers.Conv1DTranspose(3, 3, strides=2, padding="same", output_padding=1), LINE),
    (layers.AveragePooling1D(3, 2, "same"), LINE),
    (layers.GlobalAveragePooling1D(keepdims=True), LINE),
    (layers.ZeroPadding1D((1, 2)), LINE),
    (layers.Cropping1D(1), LINE),
    (layers.UpSampling1D(3), LINE),
    (layers.Conv2D(3, (3, 2), dilation_rate=2), IMAGE),
    (layers.Conv2D(3, 3, strides=(2, 3), padding="same"), IMAGE),
    (layers.Conv2D(3, 3, data_format="channels_first"), IMAGE),
    (layers.DepthwiseConv2D(3, strides=2), IMAGE),
    (layers.SeparableConv2D(5, 2), IMAGE),
    (layers.Conv2DTranspose(3, (3, 1), strides=2), IMAGE),
    (layers.Conv2DTranspose(3, 3, strides=2, output_padding=1), IMAGE),
    (layers.Conv2DTranspose(3, 3, dilation_rate=2), IMAGE),
    (layers.MaxPooling2D((2, 3)), IMAGE),
    (layers.AveragePooling2D(2, 1), IMAGE),
    (layers.GlobalMaxPooling2D(keepdims=True), IMAGE),
    (layers.ZeroPadding2D(((1, 2), (0, 3))), IMAGE),
    (layers.ZeroPadding2D((1, 2)), IMAGE),
    (layers.Cropping2D(((1, 2), (0, 3))), IMAGE),
    (layers.UpSampling2D((2, 3)), IMAGE),
    (layers.Conv3D(3, 2), VOLUME),
    (layers.Conv3DTranspose(3, 2, strides=2), VOLUME),
    (layers.AveragePooling3D(3), VOLUME),
]

#: Layers of two inputs: one of (7, 4), and one of (7, 1).
OF_TWO = [
    *(getattr(layers, name)() for name in ("Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract")),
    layers.Concatenate(),
    layers.Concatenate(axis=2),
    layers.MultiHeadAttention(2, 3),
    layers.MultiHeadAttention(2, 3, output_shape=5),
]


def assert_same(model: Any) -> None:
    canonical = parse_architecture(json.loads(model.to_json()), Path("config.json")).canonical
    outputs = model(tf.zeros((1, *model.input_shape[1:])))  # Keras does not know all shapes before that
    assert shapes_of(canonical["layers"], canonical["input_shape"])[-1] == outputs.shape[1:]


@pytest.mark.parametrize(("layer", "shape"), OF_ONE, ids=lambda value: getattr(value, "name", value))
def test_a_layer_of_one_input(layer: Any, shape: tuple[int, ...]) -> None:
    assert_same(tf.keras.Sequential([tf.keras.Input(shape), layer]))


@pytest.mark.parametrize("layer", OF_TWO, ids=lambda layer: layer.name)
def test_a_layer_of_two_inputs(layer: Any) -> None:
    source = tf.keras.Input(LINE)
    other = layers.Dense(1)(source)
    is_attention = isinstance(layer, layers.MultiHeadAttention)
    assert_same(tf.keras.Model(source, layer(source, other) if is_attention else layer([source, other])))


def test_all_supported_layers_are_tried() -> None:
    assert {type(layer).__name__ for layer in [*OF_TWO, *(layer for layer, _ in OF_ONE)]} == SUPPORTED.keys()


def test_what_keras_refuses_has_no_shape() -> None:
    for settings in ({"filters": 2, "kernel_size": 3, "strides": 0}, {"filters": 2, "kernel_size": "three"}, {}):
        conv = {"class_name": "Conv2D", "config": settings}
        assert shapes_of([conv, {"class_name": "Flatten", "config": {}}], IMAGE) == [None, None]


def listed(name: str, **settings: Any) -> dict[str, Any]:
    return {"layer_name": name, **settings}


#: Name, class, settings and inputs of a layer.
Node = tuple[str, str, dict[str, Any], list[str]]


def graph(*layers: Node, calls: int = 1, nodes: object = None) -> Architecture:
    """Return a functional model; the last layer is called `calls` times, or as in `nodes`."""

    def entry(name: str, class_name: str, settings: dict[str, Any], nodes: object) -> dict[str, Any]:
        return {"name": name, "class_name": class_name, "config": {"name": name, **settings}, "inbound_nodes": nodes}

    last = layers[-1][0]
    again = [[[last, call, 0, {}]] for call in range(calls - 1)]
    entries = [entry("input", "InputLayer", {"batch_shape": [None, 4]}, [])]
    for name, class_name, settings, sources in layers:
        calling = [[[source, 0, 0, {}] for source in sources], *(again if name == last else [])]
        entries.append(entry(name, class_name, settings, nodes or calling))
    ends = {"input_layers": [["input", 0, 0]], "output_layers": [[last, calls - 1, 0]]}
    content = {"class_name": "Functional", "config": {"name": "model", "layers": entries, **ends}}
    return parse_architecture(content, Path("config.json"))


DENSE, SOFTMAX, FLAT = listed("Dense", units=3), listed("Softmax"), listed("Flatten")
ENDING_SIGMOID, ENDING_SOFTMAX = (listed("Dense", units=3, activation=name) for name in ("sigmoid", "softmax"))


def rows(*shape: int) -> dict[str, Any]:
    return listed("Reshape", target_shape=shape)


@pytest.mark.parametrize(
    ("layers", "output", "softmax"),
    [
        # Nothing is computed behind the softmax.
        ([DENSE, SOFTMAX], Output.PROBABILITIES, 1),
        ([DENSE, listed("Activation", activation="softmax")], Output.PROBABILITIES, 1),
        ([DENSE, SOFTMAX, FLAT], Output.PROBABILITIES, 1),
        ([DENSE, SOFTMAX, rows(3, 1), listed("Identity"), FLAT], Output.PROBABILITIES, 1),
        (
            [DENSE, SOFTMAX, listed("Dropout", rate=0.5), listed("Activation", activation="linear")],
            Output.PROBABILITIES,
            1,
        ),
        ([DENSE, ENDING_SOFTMAX, listed("Permute", dims=[1])], Output.PROBABILITIES, 1),
        ([DENSE, listed("Activation", activation="log_softmax"), rows(3)], Output.LOG_PROBABILITIES, 1),
        # Other ends.
        ([DENSE], Output.LOGITS, None),
        ([DENSE, SOFTMAX, DENSE], Output.LOGITS, None),
        ([DENSE, listed("Activation", activation="tanh")], Output.LOGITS, None),
        ([DENSE, ENDING_SIGMOID, FLAT], Output.NO_LOGITS, None),
        ([DENSE, ENDING_SOFTMAX, listed("Rescaling", scale=0.5)], Output.NO_LOGITS, None),
        ([DENSE, DENSE, SOFTMAX, listed("UnitNormalization")], Output.NO_LOGITS, None),
        ([DENSE, ENDING_SIGMOID, DENSE], Output.LOGITS, None),
        ([FLAT, listed("Dropout", rate=0.5)], Output.LOGITS, None),
        # A softmax counts only if it is of all outputs.
        ([rows(2, 2), SOFTMAX, FLAT], Output.NO_LOGITS, None),
        ([rows(2, 2), listed("Softmax", axis=[1, 2]), FLAT], Output.PROBABILITIES, 1),
        ([rows(4, 1), SOFTMAX, FLAT], Output.NO_LOGITS, None),
        ([rows(4, 1), listed("Softmax", axis=1), FLAT], Output.PROBABILITIES, 1),
        ([listed("Dense", units=1, activation="sigmoid")], Output.PROBABILITIES, 0),
    ],
)
def test_the_output_of_a_chain(layers: list[dict[str, Any]], output: Output, softmax: int | None) -> None:
    architecture = parse_architecture({"model_config": layers, "input_shape": [4]}, Path("config.json"))
    assert (architecture.output, architecture.canonical.get("softmax")) == (output, softmax)


def dense(name: str, source: str = "input", **settings: Any) -> Node:
    return (name, "Dense", {"units": 3, **settings}, [source])


def end(class_name: str, *sources: str) -> Node:
    return ("end", class_name, {}, [*sources])


TWO = [dense("one", activation="softmax"), dense("other", activation="softmax"), ("flat", "Flatten", {}, ["one"])]
IDLE = [("idle", "Dropout", {"rate": 0.5}, ["input"]), dense("dense", "idle"), end("Softmax", "dense")]


@pytest.mark.parametrize(
    ("layers", "calls", "output", "softmax"),
    [
        *(  # a gate
            ([dense("one"), dense("gate", activation=gate), end("Multiply", "one", "gate")], 1, Output.LOGITS, None)
            for gate in ("sigmoid", "softmax")
        ),
        *(  # several softmaxes
            ([*TWO, end(combining, "flat", "other")], 1, Output.NO_LOGITS, None)
            for combining in ("Average", "Add", "Concatenate", "Multiply")
        ),
        ([dense("dense"), end("Softmax", "dense")], 1, Output.PROBABILITIES, 1),
        ([dense("dense"), end("Softmax", "dense")], 2, Output.NO_LOGITS, None),
        ([*IDLE, ("last", "Dropout", {"rate": 0.5}, ["end"])], 2, Output.PROBABILITIES, 2),
    ],
)
def test_the_output_of_a_graph(layers: list[Node], calls: int, output: Output, softmax: int | None) -> None:
    """A softmax that is called twice cannot be left out, but a layer without effect that is called twice hides none."""
    architecture = graph(*layers, calls=calls)
    assert (architecture.output, architecture.canonical.get("softmax")) == (output, softmax)


def test_keras_writes_the_default_of_layers_that_augment() -> None:
    """For RandomFlip, `training=True` is Keras' default. A dropout with this setting stays active, so it is refused."""
    source = {"class_name": "__keras_tensor__", "config": {"keras_history": ["input", 0, 0], "shape": [None, 4]}}

    def written(class_name: str, settings: dict[str, Any]) -> Architecture:
        nodes = [{"args": [source], "kwargs": {"training": True}}]
        return graph(("end", class_name, settings, ["input"]), nodes=nodes)

    assert written("RandomFlip", {}).canonical["layers"][0]["class_name"] == "RandomFlip"
    with pytest.raises(UserError, match="training"):
        written("Dropout", {"rate": 0.5})
