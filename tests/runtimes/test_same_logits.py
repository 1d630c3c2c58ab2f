"""Tests that a model computes the same in every installed runtime."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each_runtime import each_of, run
from throwaway import write_json, write_weights

from harness.format.architecture import read_architecture
from harness.format.layer_settings import TRAINING_ONLY
from harness.format.layout import CONFIG, WEIGHTS
from harness.format.output import final_softmax
from harness.task.model import read_model
from harness.task.shapes import infer_shapes
from harness.worker.runtimes import RUNTIMES

pytestmark = pytest.mark.rest

INSTALLED = [name for name, runtime in RUNTIMES.items() if not runtime.missing()]


def layer(name: str, **settings: Any) -> dict[str, Any]:
    return {"layer_name": name, **settings}


#: Chains of layers, with the settings in which frameworks are known to differ: padding, strides, epsilons.
CHAINS = {
    "convolutions": [
        layer("Rescaling", scale=0.5, offset=0.1),
        layer("Conv2D", filters=4, kernel_size=3, strides=2, padding="same", activation="relu"),
        layer("BatchNormalization", epsilon=0.01),
        layer("DepthwiseConv2D", kernel_size=3, padding="same", depth_multiplier=2),
        layer("PReLU", shared_axes=[1, 2]),
        layer("SeparableConv2D", filters=6, kernel_size=3, padding="same", use_bias=False),
        layer("LeakyReLU", negative_slope=0.2),
        layer("UpSampling2D", size=2),
        layer("Conv2DTranspose", filters=4, kernel_size=3, strides=2, padding="same"),
        layer("Conv2D", filters=4, kernel_size=3, dilation_rate=2, groups=2, activation="elu"),
        layer("MaxPooling2D", pool_size=3, strides=2, padding="same"),
        layer("GroupNormalization", groups=2),
        layer("UpSampling2D", size=[3, 2], interpolation="bilinear"),
        layer("AveragePooling2D", pool_size=3, strides=2, padding="same"),
        layer("AveragePooling2D", pool_size=2, strides=1, padding="same"),
        layer("GlobalAveragePooling2D"),
        layer("Dense", units=3),
    ],
    "sequences": [
        layer("Reshape", target_shape=[24, 18]),
        layer("Conv1D", filters=6, kernel_size=4, padding="causal", activation="gelu"),
        layer("LayerNormalization"),
        layer("AveragePooling1D", pool_size=4, strides=3, padding="same"),
        layer("UnitNormalization"),
        layer("Permute", dims=[2, 1]),
        layer("Conv1DTranspose", filters=5, kernel_size=3, strides=2),
        layer("ZeroPadding1D", padding=[1, 2]),
        layer("Cropping1D", cropping=[2, 1]),
        layer("MaxPooling1D", pool_size=2),
        layer("Flatten"),
        layer("Dense", units=8, activation="selu"),
        layer("Dense", units=5, activation="swish"),
        layer("Softmax"),
    ],
}


#: Every layer that has no effect outside training, as somebody trained with it.
IDLE = [
    layer("RandomBrightness", factor=0.5, value_range=[-9, 9]), layer("RandomContrast", factor=0.5),
    layer("RandomFlip", mode="horizontal"), layer("RandomRotation", factor=0.4),
    layer("RandomTranslation", height_factor=0.2, width_factor=0.2), layer("RandomZoom", height_factor=0.3),
    layer("Conv2D", filters=4, kernel_size=3), layer("SpatialDropout2D", rate=0.5), layer("GaussianNoise", stddev=2.0),
    layer("Reshape", target_shape=[5, 4, 5, 4]), layer("SpatialDropout3D", rate=0.5),
    layer("Reshape", target_shape=[20, 20]), layer("SpatialDropout1D", rate=0.5), layer("Flatten"),
    layer("ActivityRegularization", l2=0.1), layer("AlphaDropout", rate=0.5), layer("GaussianDropout", rate=0.5),
    layer("Dropout", rate=0.5), layer("Dense", units=3, activation="softmax"), layer("Dropout", rate=0.5),
]  # fmt: skip


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    directory, random = tmp_path_factory.mktemp("models"), np.random.default_rng(0)
    targets = []
    for name, layers in {**CHAINS, "idle": IDLE}.items():
        source, target = directory / name, directory / "staged" / name
        write_json(source / CONFIG, {"model_config": layers, "input_shape": [12, 12, 3]})
        architecture = read_architecture(source)
        shapes = infer_shapes([architecture])[architecture.digest]
        assert not isinstance(shapes, str), shapes
        arrays = [[random.uniform(0.1, 0.5, shape) for _, shape in one.weights] for one in shapes.layers if one.weights]
        write_weights(source / WEIGHTS, [[array.astype(np.float32) for array in layer] for layer in arrays])
        target.mkdir(parents=True)
        read_model(source, architecture, shapes).write_canonical(target)
        np.save(target / "inputs.npy", random.normal(size=(6, 12, 12, 3)).astype(np.float32))
        targets.append(target)
    return targets


@pytest.mark.skipif(len(INSTALLED) < 2, reason="one runtime is installed")
def test_logits_agree_within_ten_millionths(staged: list[Path]) -> None:
    for name in INSTALLED:
        run(name, "forward", *staged)
    for target in staged:
        outputs = {name: np.load(target / f"outputs-{name}.npy") for name in INSTALLED}
        expected = outputs.pop(INSTALLED[0])
        assert np.ptp(expected) > 0.01, "the model tells its inputs apart"
        for name, found in outputs.items():
            error = np.abs(found - expected).max() / np.abs(expected).max()
            assert error < 1e-5, f"{target.name} in {name}"


def test_all_layers_without_effect_are_tried() -> None:
    assert TRAINING_ONLY.keys() <= {one["layer_name"] for one in IDLE}


#: How a network of the layers `IDLE` may end: behind a dense layer, before the last dropout.
ENDINGS: dict[str, list[dict[str, Any]]] = {
    "none": [],
    "fused": [],
    "activation": [{"class_name": "Activation", "config": {"activation": "softmax"}}],
    "logarithm": [{"class_name": "Activation", "config": {"activation": "log_softmax"}}],
    "layer": [{"class_name": "Softmax", "config": {}}],
    "arranged": [
        {"class_name": "Softmax", "config": {}},
        {"class_name": "Reshape", "config": {"target_shape": [3, 1]}},
        {"class_name": "Identity", "config": {}},
        {"class_name": "Flatten", "config": {}},
    ],
}


@pytest.fixture(scope="module")
def ended(staged: list[Path]) -> list[Path]:
    """Copies of the network with layers for training only (`IDLE`), each with other last layers."""
    targets = []
    for name, ending in ENDINGS.items():
        target = staged[-1].with_name(name)
        shutil.copytree(staged[-1], target)
        architecture = json.loads((target / "architecture.json").read_text())
        *layers, dense, dropout = architecture["layers"]
        dense["config"]["activation"] = "softmax" if name == "fused" else "linear"
        architecture["layers"] = [*layers, dense, *ending, dropout]
        del architecture["softmax"]
        architecture |= final_softmax(architecture["layers"], architecture["input_shape"])
        write_json(target / "architecture.json", architecture)
        targets.append(target)
    return targets


@each_of("tensorflow", "torch")
def test_layers_that_only_training_uses_do_nothing_and_logits_are_what_is_before_a_softmax(
    name: str, ended: list[Path]
) -> None:
    """Layers for training only have no effect even in training mode, and `model.logits` does not change the model."""
    found = dict(zip(ENDINGS, json.loads(run(name, "modes", *ended)), strict=True))
    for unlike_a_softmax in ("none", "logarithm"):
        assert found[unlike_a_softmax]["differences"].pop("shares") > 0.1
    for one in found.values():
        assert max(one["differences"].values()) < 1e-6
        np.testing.assert_allclose(one["logits"], found["none"]["logits"], rtol=1e-6)
    assert found["fused"]["own"] == ["Conv2D", "Dropout", "Dense", "Dropout"]
    assert [one for one in found["fused"]["layers"] if one != "InputLayer"] == [one["layer_name"] for one in IDLE]


@pytest.mark.parametrize(
    ("name", "different"),
    [
        ("jax", layer("UpSampling2D", interpolation="bicubic")),
        ("torch", layer("UpSampling2D", interpolation="bicubic")),
        ("torch", layer("LayerNormalization", axis=1)),
        ("keras2", layer("Conv3DTranspose", dilation_rate=[2, 2, 2])),
    ],
)
def test_a_layer_that_keras_computes_otherwise_is_refused_by_name(
    name: str, different: dict[str, Any], tmp_path: Path
) -> None:
    settings = {setting: value for setting, value in different.items() if setting != "layer_name"}
    layers = [{"class_name": different["layer_name"], "config": settings}]
    write_json(tmp_path / "architecture.json", {"format": "layers", "input_shape": [4, 4, 4], "layers": layers})
    (setting,) = settings
    expected = (
        f"layer 0 ({different['layer_name']}): Keras computes {setting}={settings[setting]!r} otherwise on {name}"
    )
    with pytest.raises(ValueError, match=re.escape(expected)):
        RUNTIMES[name].load_model(tmp_path)
