"""Layers with the channels first in the competition's list of layers are computed with the channels last."""

import json
from pathlib import Path

from harness.format.architecture import read_architecture
from harness.format.layout import CONFIG

LAYERS = [
    {"layer_name": "Conv2D", "filters": 4, "kernel_size": 3, "strides": 2, "padding": "same"},
    {"layer_name": "Dropout", "rate": 0.5},
    {"layer_name": "GlobalAveragePooling2D"},
    {"layer_name": "Dense", "units": 2},
]


def canonical(directory: Path, data_format: str) -> list[tuple[str, object]]:
    layers = [layer | ({"data_format": data_format} if layer["layer_name"].endswith("2D") else {}) for layer in LAYERS]
    (directory / CONFIG).write_text(json.dumps({"model_config": layers, "input_shape": [3, 11, 12]}))
    found = read_architecture(directory).canonical["layers"]
    return [(layer["class_name"], layer["config"].get("dims") or layer["config"].get("data_format")) for layer in found]


def test_permutations_stand_around_them(tmp_path: Path) -> None:
    to_last, to_first = ("Permute", [2, 3, 1]), ("Permute", [3, 1, 2])
    assert canonical(tmp_path, "channels_first") == [
        to_last, ("Conv2D", "channels_last"), to_first, ("Dropout", None), to_last,
        ("GlobalAveragePooling2D", "channels_last"), ("Dense", None),
    ]  # fmt: skip


def test_layers_with_the_channels_last_are_left_alone(tmp_path: Path) -> None:
    assert canonical(tmp_path, "channels_last") == [
        ("Conv2D", "channels_last"), ("Dropout", None), ("GlobalAveragePooling2D", "channels_last"), ("Dense", None),
    ]  # fmt: skip


def test_a_layer_without_effect_does_not_part_permutations_that_undo_each_other(tmp_path: Path) -> None:
    """So that a model in Keras' own JSON has as many of them with dropout as without."""

    def convolution(name: str) -> dict[str, object]:
        config = {"name": name, "filters": 2, "kernel_size": 1, "data_format": "channels_first"}
        return {"class_name": "Conv2D", "config": config}

    source = {"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [None, 3, 8, 8]}}
    dropout = {"class_name": "SpatialDropout2D", "config": {"name": "d", "rate": 0.5, "data_format": "channels_first"}}
    config = {"layers": [source, convolution("a"), dropout, dropout | {"config": {"name": "e"}}, convolution("b")]}
    (tmp_path / CONFIG).write_text(json.dumps({"class_name": "Sequential", "config": config}))
    found = [layer["class_name"] for layer in read_architecture(tmp_path).canonical["layers"]]
    assert found == ["Permute", "Conv2D", "SpatialDropout2D", "SpatialDropout2D", "Conv2D", "Permute"]
