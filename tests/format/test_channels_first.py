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
        to_last, ("Conv2D", "channels_last"), to_first, to_last, ("GlobalAveragePooling2D", "channels_last"),
        ("Dense", None),
    ]  # fmt: skip


def test_layers_with_the_channels_last_are_left_alone(tmp_path: Path) -> None:
    assert canonical(tmp_path, "channels_last") == [
        ("Conv2D", "channels_last"), ("GlobalAveragePooling2D", "channels_last"), ("Dense", None),
    ]  # fmt: skip
