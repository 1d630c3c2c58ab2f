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

#: Layers and the shape of one input.
OF_ONE = [
    *((layers.Dense(3), shape) for shape in ((5,), LINE, IMAGE)),
    (layers.EinsumDense("abc,cd->abd", (None, 3)), LINE),
    (layers.EinsumDense("...x,xy->...y", 3), IMAGE),
    (layers.EinsumDense("ab,bc->ac", 3), (5,)),
    (layers.Embedding(9, 3), (7,)),
    (layers.Flatten(), IMAGE),
    (layers.Permute((2, 3, 1)), IMAGE),
    (layers.RepeatVector(3), (5,)),
    (layers.Reshape((4, -1)), LINE),
    (layers.Reshape((14, 2)), LINE),
    (layers.Identity(), LINE),
    *((getattr(layers, name)(), LINE) for name in ("BatchNormalization", "LayerNormalization", "UnitNormalization")),
    *((getattr(layers, name)(), LINE) for name in ("ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax")),
    (layers.Activation("tanh"), IMAGE),
    (layers.GroupNormalization(2), IMAGE),
    (layers.Rescaling(2.0), IMAGE),
    (layers.Conv1D(3, 3, padding="causal", strides=2), LINE),
    (layers.DepthwiseConv1D(3, depth_multiplier=2), LINE),
    (layers.SeparableConv1D(5, 2), LINE),
    (layers.Conv1DTranspose(3, 3, strides=2, padding="same", output_padding=1), LINE),
    (layers.MaxPooling1D(), LINE),
    (layers.AveragePooling1D(3, 2, "same"), LINE),
    (layers.GlobalMaxPooling1D(), LINE),
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
    (layers.GlobalAveragePooling2D(), IMAGE),
    (layers.ZeroPadding2D(((1, 2), (0, 3))), IMAGE),
    (layers.ZeroPadding2D((1, 2)), IMAGE),
    (layers.Cropping2D(((1, 2), (0, 3))), IMAGE),
    (layers.UpSampling2D((2, 3)), IMAGE),
    (layers.Conv3D(3, 2), VOLUME),
    (layers.Conv3DTranspose(3, 2, strides=2), VOLUME),
    (layers.MaxPooling3D(), VOLUME),
    (layers.AveragePooling3D(3), VOLUME),
    (layers.GlobalMaxPooling3D(), VOLUME),
    (layers.GlobalAveragePooling3D(), VOLUME),
    (layers.ZeroPadding3D(1), VOLUME),
    (layers.Cropping3D(1), VOLUME),
    (layers.UpSampling3D(2), VOLUME),
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


@pytest.mark.parametrize(
    "settings", [{"filters": 2, "kernel_size": 3, "strides": 0}, {"filters": 2, "kernel_size": "three"}, {}]
)
def test_what_keras_refuses_has_no_shape(settings: dict[str, Any]) -> None:
    conv = {"class_name": "Conv2D", "config": settings}
    assert shapes_of([conv, {"class_name": "Flatten", "config": {}}], IMAGE) == [None, None]


def chain(*layers: dict[str, Any]) -> Architecture:
    return parse_architecture({"model_config": [*layers], "input_shape": [4]}, Path("config.json"))


def listed(name: str, **settings: Any) -> dict[str, Any]:
    return {"layer_name": name, **settings}


def graph(*layers: tuple[str, str, dict[str, Any], list[str]], calls: int = 1) -> Architecture:
    """Return a functional model of layers (name, class, settings, inputs); the last layer is called `calls` times."""
    shape = {"name": "input", "class_name": "InputLayer", "config": {"name": "input", "batch_shape": [None, 4]}}
    entries = [shape | {"inbound_nodes": []}]
    for name, class_name, settings, sources in layers:
        nodes = [[[source, 0, 0, {}] for source in sources]]
        if name == layers[-1][0]:
            nodes += [[[name, call, 0, {}]] for call in range(calls - 1)]
        entries.append(
            {"name": name, "class_name": class_name, "config": {"name": name, **settings}, "inbound_nodes": nodes}
        )
    ends = {"input_layers": [["input", 0, 0]], "output_layers": [[layers[-1][0], calls - 1, 0]]}
    content = {"class_name": "Functional", "config": {"name": "model", "layers": entries, **ends}}
    return parse_architecture(content, Path("config.json"))


DENSE = listed("Dense", units=3)

#: Layers behind a dense one, and the position of the softmax.
WITH_SOFTMAX: list[tuple[list[dict[str, Any]], int]] = [
    ([listed("Softmax")], 1),
    ([listed("Activation", activation="softmax")], 1),
    ([listed("Softmax"), listed("Flatten")], 1),
    ([listed("Softmax"), listed("Reshape", target_shape=[3, 1]), listed("Identity"), listed("Flatten")], 1),
    ([listed("Softmax"), listed("Dropout", rate=0.5), listed("Activation", activation="linear")], 1),
    ([listed("Dense", units=3, activation="softmax"), listed("Permute", dims=[1])], 1),
]


@pytest.mark.parametrize(("ending", "position"), WITH_SOFTMAX)
def test_a_softmax_behind_which_nothing_is_computed(ending: list[dict[str, Any]], position: int) -> None:
    architecture = chain(DENSE, *ending)
    assert (architecture.output, architecture.canonical["softmax"]) == (Output.PROBABILITIES, position)


@pytest.mark.parametrize(
    ("ending", "output"),
    [
        ([], Output.LOGITS),
        ([listed("Softmax"), DENSE], Output.LOGITS),
        ([listed("Activation", activation="tanh")], Output.LOGITS),
        ([listed("Dense", units=3, activation="sigmoid"), listed("Flatten")], Output.NO_LOGITS),
        ([listed("Dense", units=3, activation="softmax"), listed("Rescaling", scale=0.5)], Output.NO_LOGITS),
        ([DENSE, listed("Softmax"), listed("UnitNormalization")], Output.NO_LOGITS),
        ([listed("Dense", units=3, activation="sigmoid"), DENSE], Output.LOGITS),
    ],
)
def test_other_ends(ending: list[dict[str, Any]], output: Output) -> None:
    architecture = chain(DENSE, *ending)
    assert (architecture.output, "softmax" in architecture.canonical) == (output, False)


def test_only_passing_layers() -> None:
    assert chain(listed("Flatten"), listed("Dropout", rate=0.5)).output is Output.LOGITS


@pytest.mark.parametrize(
    ("ending", "is_of_all"),
    [
        ([listed("Reshape", target_shape=[2, 2]), listed("Softmax"), listed("Flatten")], False),
        ([listed("Reshape", target_shape=[2, 2]), listed("Softmax", axis=[1, 2]), listed("Flatten")], True),
        ([listed("Reshape", target_shape=[4, 1]), listed("Softmax"), listed("Flatten")], False),
        ([listed("Reshape", target_shape=[4, 1]), listed("Softmax", axis=1), listed("Flatten")], True),
        ([listed("Dense", units=1, activation="sigmoid")], True),
    ],
)
def test_what_is_taken_off_is_of_all_outputs(ending: list[dict[str, Any]], is_of_all: bool) -> None:
    architecture = chain(listed("Dense", units=4), *ending)
    assert architecture.output is (Output.PROBABILITIES if is_of_all else Output.NO_LOGITS)
    assert ("softmax" in architecture.canonical) == is_of_all


@pytest.mark.parametrize("gate", ["sigmoid", "softmax"])
def test_a_gate_takes_no_logits_away(gate: str) -> None:
    dense = [("one", "Dense", {"units": 3}, ["input"]), ("gate", "Dense", {"units": 3, "activation": gate}, ["input"])]
    assert graph(*dense, ("end", "Multiply", {}, ["one", "gate"])).output is Output.LOGITS


@pytest.mark.parametrize("combining", ["Average", "Add", "Concatenate", "Multiply"])
def test_several_softmaxes_have_no_logits(combining: str) -> None:
    dense = [(name, "Dense", {"units": 3, "activation": "softmax"}, ["input"]) for name in ("one", "other")]
    architecture = graph(*dense, ("flat", "Flatten", {}, ["one"]), ("end", combining, {}, ["flat", "other"]))
    assert (architecture.output, "softmax" in architecture.canonical) == (Output.NO_LOGITS, False)


def test_a_softmax_that_is_called_twice_cannot_be_left_out() -> None:
    dense = ("dense", "Dense", {"units": 3}, ["input"])
    assert graph(dense, ("end", "Softmax", {}, ["dense"])).canonical["softmax"] == 1
    architecture = graph(dense, ("end", "Softmax", {}, ["dense"]), calls=2)
    assert (architecture.output, "softmax" in architecture.canonical) == (Output.NO_LOGITS, False)


def test_a_layer_without_effect_that_is_called_twice_hides_no_softmax() -> None:
    layers = [("idle", "Dropout", {"rate": 0.5}, ["input"]), ("dense", "Dense", {"units": 3}, ["idle"])]
    softmax = ("end", "Softmax", {}, ["dense"])
    assert graph(*layers, softmax, ("last", "Dropout", {"rate": 0.5}, ["end"]), calls=2).output is Output.PROBABILITIES


def test_keras_writes_the_default_of_layers_that_augment() -> None:
    """For RandomFlip, `training=True` is Keras' default. A dropout with this setting stays active, so it is refused."""

    def written(class_name: str, settings: dict[str, Any]) -> Architecture:
        source = {"class_name": "__keras_tensor__", "config": {"keras_history": ["input", 0, 0], "shape": [None, 4]}}
        nodes = [{"args": [source], "kwargs": {"training": True}}]
        layers = [
            {"name": "input", "class_name": "InputLayer", "config": {"batch_shape": [None, 4]}, "inbound_nodes": []},
            {"name": "end", "class_name": class_name, "config": settings, "inbound_nodes": nodes},
        ]
        ends = {"input_layers": [["input", 0, 0]], "output_layers": [["end", 0, 0]]}
        content = {"class_name": "Functional", "config": {"name": "model", "layers": layers, **ends}}
        return parse_architecture(content, Path("config.json"))

    assert written("RandomFlip", {}).canonical["layers"][0]["class_name"] == "RandomFlip"
    with pytest.raises(UserError, match="training"):
        written("Dropout", {"rate": 0.5})


def test_a_log_softmax_is_taken_off_as_a_softmax_is():
    architecture = chain(DENSE, listed("Activation", activation="log_softmax"), listed("Reshape", target_shape=[3]))
    assert (architecture.output, architecture.canonical["softmax"]) == (Output.LOG_PROBABILITIES, 1)
