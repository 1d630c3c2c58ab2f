"""The shapes that layers put out are those that Keras computes."""

import json
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

from harness.format.architecture import parse_architecture
from harness.format.layer_settings import SUPPORTED
from harness.format.layer_shapes import shapes_of

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
