"""Tests of layers that Keras 2 and Keras 3 define differently: read as their writer means them, or refused."""

import re
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from harness.errors import UserError
from harness.format.architecture import LayerShapes, ModelShapes, parse_architecture
from harness.format.weights import read_weights
from harness.format.writer import Writer, writer_of

#: An input's settings, as each Keras writes them.
INPUTS = {2: {"batch_input_shape": [None, 8]}, 3: {"batch_shape": [None, 8]}}


def canonical(content: dict[str, Any]) -> list[dict[str, Any]]:
    layers: list[dict[str, Any]] = parse_architecture(content, Path("config.json")).canonical["layers"]
    return layers


def listed(*layers: dict[str, Any], shape: tuple[int, ...] = (8,), **more: str) -> dict[str, Any]:
    """Return the content of a config.json in the competition's form."""
    return {"model_config": [*layers], "input_shape": [*shape], **more}


def layer(name: str, **settings: Any) -> dict[str, Any]:
    return {"layer_name": name, **settings}


def in_keras_json(major: int, **more: str) -> dict[str, Any]:
    source = {"class_name": "InputLayer", "config": {**INPUTS[major], "name": "in"}}
    dense = {"class_name": "Dense", "config": {"name": "d", "units": 3, "activation": "hard_sigmoid"}}
    return {"class_name": "Sequential", "config": {"name": "m", "layers": [source, dense]}, **more}


HARD = layer("Dense", units=3, activation="hard_sigmoid")


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("hard_sigmoid_of_keras_2", [in_keras_json(2), in_keras_json(2, keras_version="2.2.4-tf")]),
        ("hard_sigmoid_of_keras_2", [listed(HARD, keras_version="1.2.2"), listed(HARD | INPUTS[2])]),
        ("hard_sigmoid", [in_keras_json(3), listed(HARD, keras_version="3.15.1")]),
    ],
)
def test_a_hard_sigmoid_has_the_name_of_its_function(name: str, contents: list[dict[str, Any]]) -> None:
    assert [canonical(content)[0]["config"]["activation"] for content in contents] == [name, name]


def test_the_version_counts_more_than_words() -> None:
    assert writer_of(in_keras_json(2, keras_version="3.0.5")) == Writer(3, 0, "3.0.5")
    assert writer_of({}) == Writer()


DILATED = layer("Conv3DTranspose", filters=2, kernel_size=2, dilation_rate=[2, 2, 2])


def test_without_a_version_they_are_refused() -> None:
    """`tf_keras` 2.21 ignores the dilation: outputs have the shape and the numbers of a layer without dilation."""
    remedy = 'state the version that wrote it beside the layers, as "keras_version": "2.15.0" or "3.0.0"'
    for one in (layer("Activation", activation="hard_sigmoid"), DILATED):
        with pytest.raises(UserError, match=re.escape(f"which Keras 2 and Keras 3 define differently; {remedy}")):
            canonical(listed(one, shape=(5, 5, 5, 1)))
    found = [canonical(listed(DILATED, shape=(5, 5, 5, 1), keras_version=version)) for version in ("2.15.0", "3.0.0")]
    assert [layers[0]["config"]["dilation_rate"] for layers in found] == [1, [2, 2, 2]]


def test_bilinear_upsampling_of_old_versions_is_refused() -> None:
    up = layer("UpSampling2D", interpolation="bilinear")
    for version in ("2.2.4", "2.3.1", "2.2.4-tf"):  # TensorFlow 1.13 and 2.1 share the last, and differ
        with pytest.raises(UserError, match=f"found 'bilinear' of Keras {version}"):
            canonical(listed(up, shape=(4, 4, 1), keras_version=version))
    for version in ("2.3.0-tf", "2.4.0", "3.0.0"):
        assert canonical(listed(up, shape=(4, 4, 1), keras_version=version))


EMBEDDING = layer("Embedding", input_dim=5, output_dim=4, mask_zero=True)
MEAN = layer("GlobalAveragePooling1D")


@pytest.mark.parametrize(
    "one", [layer("Identity"), layer("Rescaling", scale=2.0), layer("GroupNormalization", groups=2)]
)
def test_layers_that_treat_masks_differently_are_refused_behind_a_mask_only(one: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=rf"mask_zero: .* a mask that reaches layer 2 \({one['layer_name']}\)"):
        canonical(listed(EMBEDDING, layer("Dropout", rate=0.5), one, MEAN))
    assert canonical(listed(EMBEDDING, layer("Conv1D", filters=4, kernel_size=3), one, MEAN))
    assert canonical(listed({**EMBEDDING, "mask_zero": False}, one, MEAN))


def node(name: str, class_name: str, *sources: str, **config: Any) -> dict[str, Any]:
    nodes = [[[source, 0, 0, {}] for source in sources]] if sources else []
    return {"class_name": class_name, "name": name, "config": {"name": name, **config}, "inbound_nodes": nodes}


def graph(branches: tuple[bool, bool], version: str = "2.15.0") -> dict[str, Any]:
    """Return a network that adds two embeddings, with or without masks, and applies attention to the sum."""
    embeddings = [
        node(name, "Embedding", "in", input_dim=5, output_dim=4, mask_zero=masked)
        for name, masked in zip("ab", branches, strict=True)
    ]
    attention = node("m", "MultiHeadAttention", num_heads=1, key_dim=2)
    attention["inbound_nodes"] = [[["s", 0, 0, {"value": ["s", 0, 0]}]]]
    layers = [node("in", "InputLayer", **INPUTS[2]), *embeddings, node("s", "Add", "a", "b"), attention]
    ends = {"input_layers": [["in", 0, 0]], "output_layers": [["m", 0, 0]]}
    return {"class_name": "Functional", "config": {"name": "n", "layers": layers, **ends}, "keras_version": version}


def test_masks_of_some_inputs_only_are_refused_and_attention_before_keras_2_10_saw_none() -> None:
    for branches in ((True, True), (False, False)):
        assert canonical(graph(branches))
    with pytest.raises(UserError, match=r"reaches layer 2 \(Add\), but not all of its inputs"):
        canonical(graph((True, False)))
    with pytest.raises(UserError, match=r"reaches layer 3 \(MultiHeadAttention\)"):
        canonical(graph((True, True), "2.9.0"))
    assert canonical(graph((False, False), "2.9.0"))


@pytest.mark.parametrize(("axis", "expected"), [(-1, -1), (3, 3), ([4], 3)])
def test_virtual_batches_are_left_out_and_their_axis_is_not_counted(axis: object, expected: int) -> None:
    """Keras 2 adds an axis for virtual batches: the config.json of a built layer has the axis plus one."""
    (norm,) = canonical(listed(layer("BatchNormalization", axis=axis, virtual_batch_size=4), shape=(4, 4, 2)))
    assert norm["config"] == {"axis": expected}


def test_models_of_keras_2_12_and_later_are_built_in() -> None:
    for module in ("keras", "keras.src", "tf_keras.src"):
        names = {"module": f"{module}.engine.functional", "registered_name": "Functional"}
        assert canonical({**graph((False, False)), **names})


def test_one_input_and_one_output_may_be_held_by_lists_and_objects() -> None:
    def ended(start: object, end: object) -> list[dict[str, Any]]:
        content = graph((False, False))
        content["config"] |= {"input_layers": start, "output_layers": end}
        return canonical(content)

    start, end = ["in", 0, 0], ["m", 0, 0]
    held = [(start, end), ([start], [end]), ({"x": start}, {"x": end}), ([{"x": start}], [{"x": end}])]
    assert all(ended(*ends) == canonical(graph((False, False))) for ends in held)
    with pytest.raises(UserError, match=r"reference to a layer: expected name and two numbers, found \['in', 0\]"):
        ended([["in", 0]], [end])


def test_a_sequential_model_of_keras_2_0_is_the_list_of_its_layers() -> None:
    inner = {"class_name": "Sequential", "config": [{"class_name": "Dense", "config": {"units": 4, "name": "d"}}]}
    first = {"class_name": "Dense", "config": {"name": "e", "units": 3, **INPUTS[2]}}
    layers = canonical({"class_name": "Sequential", "config": [first, inner], "keras_version": "2.1.6"})
    assert [one["config"]["units"] for one in layers] == [3, 4]


def weights_file(path: Path, kernel_shape: tuple[int, ...], norm_shape: tuple[int, ...], **attributes: str) -> Path:
    """Write the weights of a convolution and a batch normalization as Keras 2 does."""
    with h5py.File(path, "w") as file:
        file.attrs.update({"layer_names": ["c", "n"], **attributes})
        for name, shapes in (("c", {"k": kernel_shape}), ("n", dict.fromkeys("gbmv", norm_shape))):
            for weight, shape in shapes.items():
                file[f"{name}/{weight}"] = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
            file[name].attrs["weight_names"] = list(shapes)
    return path


CONVOLUTION = [
    layer("Conv2D", filters=2, kernel_size=2, use_bias=False),
    layer("BatchNormalization", axis=[4], virtual_batch_size=2),
]
SHAPES = ModelShapes(
    (
        LayerShapes("Conv2D", (("kernel", (2, 2, 1, 2)),)),
        LayerShapes("BatchNormalization", tuple((n, (2,)) for n in "gbmv")),
    ),
    (3, 3, 2),
)


def read(path: Path) -> list[Any]:
    architecture = parse_architecture(listed(*CONVOLUTION, shape=(4, 4, 1)), Path("config.json"))
    return read_weights(path.read_bytes(), path, architecture, SHAPES)


def test_weights_of_virtual_batches_have_one_axis_and_kernels_of_theano_are_refused(tmp_path: Path) -> None:
    """Keras 2 stores weights (1, 1, 1, 1, channels), which are read as (channels,)."""
    found = read(weights_file(tmp_path / "w.h5", (2, 2, 1, 2), (1, 1, 1, 1, 2), backend="tensorflow"))
    assert [array.shape for array in found] == [(2, 2, 1, 2), *[(2,)] * 4]
    with pytest.raises(UserError, match=r"expected shape \(2,\), found \(1, 1, 1, 2, 1\)"):
        read(weights_file(tmp_path / "w.h5", (2, 2, 1, 2), (1, 1, 1, 2, 1)))
    with pytest.raises(UserError, match=r"backend: expected tensorflow, found kernels of theano"):
        read(weights_file(tmp_path / "w.h5", (2, 2, 1, 2), (2,), backend="theano"))


@pytest.mark.parametrize(("version", "order"), [("2.15.0", [0, 1, 4, 5, 2, 3, 6, 7]), ("3.10.0", [*range(8)])])
def test_layers_that_were_thawed_in_a_frozen_model_have_their_own_weights(
    version: str, order: list[int], tmp_path: Path
) -> None:
    """Keras 2 stores the trained weights of all layers first, Keras 3 layer after layer."""

    def model(name: str, *layers: dict[str, Any], **settings: Any) -> dict[str, Any]:
        ends = {"input_layers": [["in", 0, 0]], "output_layers": [[layers[-1]["name"], 0, 0]]}
        source = node("in", "InputLayer", batch_input_shape=[None, 2])
        return node(name, "Functional", "in", layers=[source, *layers], **ends, **settings)

    kind, weights = "BatchNormalization", ("gamma", "beta", "moving_mean", "moving_variance")
    base = model("base", node("a", kind, "in", axis=[1]), node("b", kind, "a", axis=[1]), trainable=False)
    architecture = parse_architecture({**model("m", base), "keras_version": version}, Path("config.json"))
    layers = (LayerShapes(kind, tuple((name, (2,)) for name in weights)),) * 2
    file = tmp_path / "w.h5"
    with h5py.File(file, "w") as content:
        content.attrs["layer_names"] = ["base"]
        for number in range(8):
            content[f"base/{number}"] = np.full(2, number, np.float32)
        content["base"].attrs["weight_names"] = [*map(str, range(8))]
    found = read_weights(file.read_bytes(), file, architecture, ModelShapes(layers, (2,)))
    assert [int(array[0]) for array in found] == order


def order_of(data_format: str) -> list[tuple[str, object]]:
    kernel = {"filters": 4, "kernel_size": 3, "strides": 2, "padding": "same"}
    layers = [
        layer("Conv2D", **kernel, data_format=data_format),
        layer("Dropout", rate=0.5),
        layer("GlobalAveragePooling2D", data_format=data_format),
        layer("Dense", units=2),
    ]
    found = canonical(listed(*layers, shape=(3, 11, 12)))
    return [(one["class_name"], one["config"].get("dims") or one["config"].get("data_format")) for one in found]


def test_permutations_stand_around_layers_with_the_channels_first() -> None:
    to_last, to_first = ("Permute", [2, 3, 1]), ("Permute", [3, 1, 2])
    convolution, pooling = ("Conv2D", "channels_last"), ("GlobalAveragePooling2D", "channels_last")
    dropout, dense = ("Dropout", None), ("Dense", None)
    assert order_of("channels_first") == [to_last, convolution, to_first, dropout, to_last, pooling, dense]
    assert order_of("channels_last") == [convolution, dropout, pooling, dense]


def test_padding_in_one_dimension_has_no_setting_that_keras_2_does_not_know() -> None:
    layers = [layer("ZeroPadding1D", padding=[1, 1], data_format="channels_first"), layer("Flatten")]
    _, padding, *_ = canonical(listed(*layers, shape=(3, 8)))
    assert padding == {"class_name": "ZeroPadding1D", "config": {"padding": [1, 1]}}


def test_a_layer_without_effect_does_not_part_permutations_that_undo_each_other() -> None:
    """If two permutations undo each other, both are removed, even if a dropout layer is between them."""
    first = {"data_format": "channels_first"}
    dropouts = [node(name, "SpatialDropout2D", rate=0.5, **first) for name in "de"]
    one, other = (node(name, "Conv2D", filters=2, kernel_size=1, **first) for name in "ab")
    layers = [node("in", "InputLayer", batch_shape=[None, 3, 8, 8]), one, *dropouts, other]
    found = canonical({"class_name": "Sequential", "config": {"layers": layers}})
    names = [one["class_name"] for one in found]
    assert names == ["Permute", "Conv2D", "SpatialDropout2D", "SpatialDropout2D", "Conv2D", "Permute"]
