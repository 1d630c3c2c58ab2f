"""Tests that measures see only the settings that decide the computation of a trained layer.

The lists of settings are compared with both versions of Keras, so a setting that a new version adds is noticed.
"""

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from harness.errors import UserError
from harness.format.architecture import parse_architecture
from harness.format.layer_settings import LEFT_OUT_OF, MEANINGLESS, SUPPORTED, TRAINING_ONLY, is_left_out

tf_keras = pytest.importorskip("tf_keras")
VERSIONS = {"Keras 2": tf_keras, "Keras 3": tf.keras}

#: Arguments without a default, of any layer.
REQUIRED = {
    "activation": "relu", "dims": (1, 2), "equation": "ab,bc->ac", "factor": 0.5, "filters": 2, "height_factor": 0.5,
    "input_dim": 3, "kernel_size": 3, "key_dim": 3, "n": 2, "num_heads": 2, "output_dim": 4, "output_shape": (3,),
    "pool_size": 2, "rate": 0.5, "scale": 2.0, "stddev": 0.5, "target_shape": (2,), "units": 3, "width_factor": 0.5,
}  # fmt: skip

#: Another value of a setting, where a value of the same type is not one.
OTHERS: dict[str, Any] = {
    "activation": "tanh", "attention_axes": [1], "batch_input_shape": [5, 7], "bias_axes": "c",
    "data_format": "channels_first", "dims": [2, 1], "equation": "ab,bd->ad", "fill_mode": "wrap",
    "flash_attention": False, "gptq_unpacked_column_size": 4, "input_length": 7, "interpolation": "bilinear",
    "key_shape": [5, 7, 3], "lora_alpha": 3.0, "lora_rank": 2, "max_value": 6.0, "mode": "vertical", "name": "another",
    "noise_shape": [5, 1], "output_padding": 0, "output_shape": [5], "quantization_config": {"class_name": "Int8"},
    "query_shape": [5, 7, 3], "renorm_clipping": {"rmax": 2.0}, "rng_type": "stateless", "seed": 7, "shared_axes": [1],
    "sliding_window": 2, "value_shape": [5, 7, 3], "weights": [[[1.0] * 4] * 3], "width_factor": 0.25,
}  # fmt: skip
OTHERS_BY_ENDING = {
    "_constraint": {"class_name": "NonNeg", "config": {}},
    "_initializer": {"class_name": "HeNormal", "config": {"seed": 7}},
    "_regularizer": {"class_name": "L2", "config": {"l2": 0.125}},
}

#: Settings of every layer that no Keras writes; some exist only in Keras 2.
OF_ALL = {"autocast": False, "batch_size": 5, "build_config": {"input_shape": [5, 7]}, "dynamic": True,
          "input_shape": [7], "name": "another", "trainable": False}  # fmt: skip

each_layer = pytest.mark.parametrize("layer", sorted(SUPPORTED))


def known_to(keras: Any, layer: str) -> dict[str, Any]:
    """Return the settings of a layer in a version of Keras, with valid values."""
    kind = getattr(keras.layers, layer)
    arguments = inspect.signature(kind).parameters.values()
    named = {one.name: one.default for one in arguments if one.kind == one.POSITIONAL_OR_KEYWORD}
    needed = {name: REQUIRED[name] for name, default in named.items() if default is inspect.Parameter.empty}
    config = {**named, **kind(**needed).get_config()}
    plain: dict[str, Any] = json.loads(json.dumps(config, default=float))
    return plain


def written(layer: str, config: dict[str, Any]) -> str:
    """Return the canonical config.json of a network with one layer."""
    content = {"model_config": [{"layer_name": layer, **config}], "input_shape": [8, 8, 8, 8]}
    return canonical({**content, "keras_version": "3.0.0"})


def canonical(content: dict[str, Any]) -> str:
    """Return the config.json that a submission sees if the model's config.json has this content."""
    return json.dumps(parse_architecture(content, Path("config.json")).canonical, sort_keys=True)


def another(name: str, value: Any) -> Any:
    """Return another valid value of a setting."""
    if name in OTHERS:
        return OTHERS[name]
    if (ending := name[name.rfind("_") :]) in OTHERS_BY_ENDING:
        return OTHERS_BY_ENDING[ending]
    if isinstance(value, list):
        return [another(name, one) for one in value]
    if isinstance(value, str):
        return {"valid": "same", "same": "valid"}[value]
    if isinstance(value, float):
        return value / 2 or 0.5
    return not value if isinstance(value, bool) else value + 1


def changed(layer: str) -> list[tuple[dict[str, Any], str, dict[str, Any]]]:
    """Return, for each setting in each version of Keras: settings, name of the setting, settings with its new value."""
    cases = []
    for keras in VERSIONS.values():
        config = known_to(keras, layer)
        cases += [(config, name, {**config, name: another(name, config[name])}) for name in config if name != "dtype"]
    return cases


@each_layer
def test_what_keras_knows_changes_the_file_or_no_byte_or_is_refused(layer: str) -> None:
    """A supported setting changes the file, and a left-out setting no byte; other settings have one allowed value."""
    known = {name for keras in VERSIONS.values() for name in known_to(keras, layer)}
    assert {*SUPPORTED[layer], *LEFT_OUT_OF.get(layer, ())} - known == set()
    assert [name for name in known - {*SUPPORTED[layer], *MEANINGLESS} if not is_left_out(layer, name)] == []
    for before, name, after in changed(layer):
        if name in SUPPORTED[layer]:
            assert written(layer, after) != written(layer, before), name
        elif is_left_out(layer, name):
            assert written(layer, after) == written(layer, before), name
        else:
            assert f'"{name}"' not in written(layer, before)
            with pytest.raises(UserError, match=f"{name}: expected {json.dumps(MEANINGLESS[name])}, found"):
                written(layer, after)
    config = known_to(tf.keras, layer)
    for name, value in OF_ALL.items():
        assert written(layer, {**config, name: value}) == written(layer, config), name


def test_some_layer_of_keras_has_every_setting_without_meaning() -> None:
    known = {name for keras in VERSIONS.values() for layer in SUPPORTED for name in known_to(keras, layer)}
    assert MEANINGLESS.keys() - known == set()


@pytest.mark.parametrize("layer", TRAINING_ONLY)
def test_no_setting_of_a_layer_that_only_training_uses_changes_a_byte(layer: str) -> None:
    assert len(changed(layer)) > 3
    for before, name, after in changed(layer):
        assert written(layer, after) == written(layer, before), name


@each_layer
def test_values_that_are_not_written_are_defaults_of_keras(layer: str) -> None:
    for config in (known_to(keras, layer) for keras in VERSIONS.values()):
        for name in config.keys() & MEANINGLESS.keys() & set(SUPPORTED[layer]):
            rest = {one: value for one, value in config.items() if one != name}
            is_written = written(layer, {**rest, name: MEANINGLESS[name]}) != written(layer, rest)
            assert is_written == (config[name] != MEANINGLESS[name]), name


@pytest.mark.parametrize("keras", VERSIONS.values(), ids=VERSIONS)
@pytest.mark.parametrize("is_nested", [False, True], ids=["chain", "nested"])
def test_the_same_network_trained_otherwise_has_the_same_file(keras: Any, is_nested: bool) -> None:
    def file(batch_size: int | None, optimizer: str, prefix: str, trainable: bool) -> str:
        source = keras.Input((8, 8, 3), batch_size=batch_size, name=f"{prefix}_in")
        conv = keras.layers.Conv2D(4, 3, name=f"{prefix}_conv", trainable=trainable)
        norm = keras.layers.BatchNormalization(name=f"{prefix}_norm")
        end = keras.layers.Dense(3, name=f"{prefix}_end")
        inner = keras.Sequential([source, conv, norm], name=f"{prefix}_inner")
        inner.trainable = trainable
        layers = [keras.layers.Flatten(name=f"{prefix}_flat"), end]
        model = keras.Sequential([*([inner] if is_nested else [source, conv, norm]), *layers], name=prefix)
        model.compile(optimizer, "mse")
        return canonical(json.loads(model.to_json()))

    assert file(None, "adam", "a", True) == file(32, "sgd", "b", False)


#: Settings that have no other value in JSON, or no value for a layer that is not quantized.
NOT_JSON = {"dtype", "gptq_unpacked_column_size", "quantization_config", "weights"}


@pytest.mark.rest
@pytest.mark.parametrize("layer", sorted(SUPPORTED.keys() | TRAINING_ONLY.keys()))
def test_the_other_values_are_valid(layer: str) -> None:
    """Otherwise the tests above would compare invalid files."""
    for keras in VERSIONS.values():
        config = known_to(keras, layer)
        for name in config.keys() - NOT_JSON:
            made(keras, layer, {**config, name: another(name, config[name])})


def made(keras: Any, layer: str, config: dict[str, Any]) -> Any:
    """Return the layer in a version of Keras."""
    kind = getattr(keras.layers, layer)
    return kind(**{name: value for name, value in config.items() if name in inspect.signature(kind).parameters})


INPUTS = {"Embedding": np.array([[0, 2, 1]]), "MultiHeadAttention": np.arange(24.0).reshape(2, 4, 3)}

#: They add arrays to the layer, or set its first weights.
NOT_COMPARED = {"lora_alpha", "lora_rank", "weights"}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("layer", sorted(LEFT_OUT_OF.keys() - {"Dense", "EinsumDense"}))
def test_what_is_left_out_changes_no_output(layer: str, version: str) -> None:
    config = known_to(VERSIONS[version], layer)
    expected = outputs(VERSIONS[version], layer, config)
    for name in (LEFT_OUT_OF[layer] & config.keys()) - NOT_COMPARED:
        found = outputs(VERSIONS[version], layer, {**config, name: another(name, config[name])})
        np.testing.assert_array_equal(found, expected, err_msg=name)


def outputs(keras: Any, layer: str, config: dict[str, Any]) -> Any:
    """Return the output of a layer with fixed random weights."""
    computing = made(keras, layer, config)
    inputs = tf.constant(INPUTS.get(layer, np.arange(12.0).reshape(4, 3)), "float32")
    given = [inputs, inputs] if layer == "MultiHeadAttention" else [inputs]
    computing(*given)
    random = np.random.default_rng(0)
    computing.set_weights([random.uniform(0.5, 1, array.shape) for array in computing.get_weights()])
    return np.asarray(computing(*given))


@pytest.mark.parametrize("version", VERSIONS)
def test_other_layers_of_keras_are_not_mistaken_for_misspellings(version):
    """`Normalization` is no misspelt `UnitNormalization`, and `GRU` no misspelt `ELU`: the error proposes no name."""
    classes = {value.__name__ for value in vars(VERSIONS[version].layers).values() if inspect.isclass(value)}
    others = sorted(classes - SUPPORTED.keys() - TRAINING_ONLY.keys() - {"InputLayer", "Lambda"})
    assert {"GRU", "LSTM", "Normalization", "SpectralNormalization"} <= set(others)
    for name in others:
        content = {"model_config": [{"layer_name": name}], "input_shape": [5, 7]}
        with pytest.raises(UserError, match="layer not supported") as refused:
            parse_architecture(content, Path("config.json"))
        assert str(refused.value).endswith(f"that `pgdl help task-format` lists, found {name!r}")
