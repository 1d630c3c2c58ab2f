"""Tests of exported networks: Keras computes the same as PyTorch, in layers that measures understand."""

import re
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from runtimes.each_runtime import run

from harness.errors import UserError
from harness.processes import Process
from harness.torch_import import pt2
from harness.torch_import.check import OutputComparison
from harness.torch_import.pt2 import read_pt2
from harness.torch_import.registry import translations
from harness.torch_import.translate import translate
from harness.worker.runtimes import RUNTIMES

pytestmark = pytest.mark.rest

#: Name -> the layers without weights-free helpers; what a network of PyTorch's modules has, in its order.
LAYERS = {
    "plain": "ZeroPadding2D Conv2D BatchNormalization ReLU Dropout Flatten Dense",
    "residual": "ZeroPadding2D Conv2D BatchNormalization ReLU Conv2D Add AveragePooling2D Flatten Dense",
    "squeezed": "Conv2D GlobalAveragePooling2D Conv2D Activation Multiply Activation Multiply "
    "GlobalAveragePooling2D Dense",
    "depthwise": "DepthwiseConv2D ReLU Conv2D GroupNormalization Activation Flatten Dense Activation",
    "pools": "Conv2D MaxPooling2D MaxPooling2D ZeroPadding2D AveragePooling2D ReLU ZeroPadding2D MaxPooling2D "
    "AveragePooling2D MaxPooling2D UpSampling2D Flatten Dense",
    "activations": None,
    "shuffled": None,
    "transformer": "Conv2D Reshape ZeroPadding1D EinsumDense LayerNormalization MultiHeadAttention Add Cropping1D "
    "Flatten Dense",
    "windows": None,
    "cosine": None,
    "mixed": None,
    "sliced": None,
}


@pytest.fixture(scope="module")
def outputs(networks: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Name -> outputs of the translated network, which the worker's own code has loaded."""
    places = {}
    for name in LAYERS:
        places[name] = tmp_path_factory.mktemp(name)
        translate(read_pt2(networks / name / "network.pt2")).model.write_canonical(places[name], "weights.npz")
        (places[name] / "inputs.npy").symlink_to(networks / name / "inputs.npy")
    run("tensorflow", "forward", *places.values())
    return {name: np.load(place / "outputs-tensorflow.npy") for name, place in places.items()}


@pytest.mark.parametrize("name", LAYERS)
def test_outputs_are_those_of_the_module(networks: Path, outputs: dict[str, Any], name: str) -> None:
    expected = np.load(networks / name / "expected.npy")
    assert np.ptp(expected, axis=0).min() > 1e-3  # which would not notice weights that are mixed up
    assert np.abs(outputs[name] - expected).max() < 1e-5 * np.ptp(expected)


@pytest.mark.parametrize("name", [name for name, layers in LAYERS.items() if layers])
def test_layers_are_those_of_the_module(networks: Path, name: str) -> None:
    model = translate(read_pt2(networks / name / "network.pt2")).model
    assert " ".join(layer["class_name"] for layer in model.architecture.canonical["layers"]) == LAYERS[name]


def test_settings_and_names_are_those_of_the_module(networks: Path) -> None:
    config = translate(read_pt2(networks / "plain" / "network.pt2")).model.config["config"]
    layers = {layer["name"]: layer["config"] for layer in config["layers"]}
    assert list(layers) == ["input", "0.ZeroPadding2D", "0", "1", "2", "3", "5.Flatten", "5"]
    assert layers["1"]["epsilon"] == 0.1


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("shared", r"weights: expected each in one layer, found [01]\.weight in several"),
        ("divided", r"found the outermost forward \(div\): aten\.div\.Tensor divides by a computed value"),
        ("training", r"found 1 \(batch_norm\): .* the module was in training mode: call module\.eval\(\) before"),
        ("mirrored", r"found 1 \(pad\): aten\.pad\.default pads with other numbers than zeros \(reflect\)"),
        ("maps", r"output: expected a number for each class, shape \(examples, classes\), found shape \(2, 4, 6, 6\)"),
    ],
)
def test_what_has_no_translation_is_refused_in_one_line(networks: Path, name: str, problem: str) -> None:
    with pytest.raises(UserError) as refused:
        translate(read_pt2(networks / name / "network.pt2"))
    assert re.search(problem, str(refused.value)), refused.value
    assert "\n" not in str(refused.value)


def test_the_first_operation_that_differs_is_named(
    networks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process other than the command's reads the file, because a stranger may have written it."""

    def refuse(*_: object) -> NoReturn:
        raise AssertionError("read in the process of the command")

    right, file = translations()["batch_norm"], networks / "residual" / "network.pt2"
    monkeypatch.setitem(translations(), "batch_norm", lambda *given, **named: right(*given, **named | {"eps": 0.5}))
    translate(read_pt2(file)).model.write_canonical(tmp_path, "weights.npz")
    monkeypatch.setattr(pt2, "open_archive", refuse)
    inputs = np.load(networks / "residual" / "inputs.npy")
    numbers = r"found \S+ in Keras, \S+ in PyTorch"
    with (
        Process("harness.processes.accuracies", RUNTIMES["tensorflow"]) as process,
        OutputComparison(process) as comparison,
        pytest.raises(UserError, match=rf"first differs at norm \(batch_norm\): expected the same numbers, {numbers}"),
    ):
        comparison.require_same(file, tmp_path, inputs, None)
