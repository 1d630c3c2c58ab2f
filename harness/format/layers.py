"""Converts a layer to canonical form, `{"class_name": NAME, "config": {SETTING: VALUE}}`, for Keras 2 and Keras 3."""

import json
import math
from typing import Any

from harness.errors import UserError
from harness.format.layer_settings import MEANINGLESS, SUPPORTED, TRAINING_ONLY, is_left_out, is_without_effect
from harness.format.writer import UNKNOWN, Writer, named_exactly
from harness.hints import did_you_mean
from harness.text import printable

#: Settings that are integers, or lists of integers.
_INTEGERS = {
    "attention_axes", "axis", "cropping", "depth_multiplier", "dilation_rate", "dims", "filters", "groups", "input_dim",
    "kernel_size", "key_dim", "n", "num_heads", "output_dim", "output_padding", "output_shape", "padding", "pool_size",
    "shared_axes", "size", "strides", "target_shape", "units", "value_dim",
}  # fmt: skip

#: Modules of Keras' own layers and models. Operations and custom classes are in other modules.
_MODULES = ("keras.layers", "keras.models", "keras")
_INSIDE = tuple(
    f"{package}{part}."
    for package in ("keras.", "keras.src.", "tf_keras.src.")  # Keras 2.12; later versions; Keras 2 next to Keras 3
    for part in ("engine", "layers", "models")
)

#: Similarity above which a name is taken as a misspelt name of a supported layer. Normalization, which is another
#: layer, has the similarity 0.87 to UnitNormalization.
_MISSPELLING = 0.88

_NO_CODE = "code in a model is never run; use built-in layers instead"


def require_built_in(class_name: Any, module: Any, registered_name: Any) -> None:
    """Raise `UserError` unless a class in a model's JSON is a layer or model of Keras itself, not a custom class."""
    found = None
    if module is not None and module not in _MODULES and not str(module).startswith(_INSIDE):
        found = f"{class_name!r} of module {printable(str(module))}"
    elif registered_name is not None and registered_name != class_name:
        found = f"{class_name!r} registered as {registered_name!r}"
    if found is not None:
        raise UserError("not a layer of Keras", expected="built-in layers only", found=found, remedy=_NO_CODE)


def neutral_layer(
    class_name: Any, config: Any, module: Any = None, registered_name: Any = None, writer: Writer = UNKNOWN
) -> dict[str, Any]:
    """Return a layer in canonical form.

    `module` and `registered_name` come from the layer's entry in Keras' JSON; `writer` is the version of Keras that
    wrote the entry. Raises `UserError`, without the file's name, if the layer is not supported, contains code, or has
    an impossible setting.
    """
    require_built_in(class_name, module, registered_name)
    if class_name not in SUPPORTED and class_name not in TRAINING_ONLY:
        raise _unsupported(class_name)
    if not isinstance(config, dict):
        raise UserError("settings", expected="an object", found=repr(config))
    require_float32(config.get("dtype"))
    if class_name == "BatchNormalization":
        config = _without_virtual_batches(config)
    if class_name in TRAINING_ONLY:
        return {"class_name": class_name, "config": dict(TRAINING_ONLY[class_name])}
    settings = {}
    for name, value in config.items():
        if value is None or is_left_out(class_name, name) or is_without_effect(class_name, name, value):
            continue
        if name not in SUPPORTED[class_name]:
            raise _refused(class_name, name, value)
        settings[name] = _integer(name, value) if name in _INTEGERS else _plain(name, value)
    return {"class_name": class_name, "config": _unified(class_name, named_exactly(class_name, settings, writer))}


def _refused(class_name: str, name: str, value: Any) -> UserError:
    if name in MEANINGLESS:
        remedy = "other values do not compute the same in Keras 2 and Keras 3"
        return UserError(name, expected=json.dumps(MEANINGLESS[name]), found=repr(value)[:80], remedy=remedy)
    hint = did_you_mean(name[:80], SUPPORTED[class_name])
    return UserError("unknown setting", expected=f"a setting of {class_name}", found=repr(name)[:80], remedy=hint)


def _unsupported(class_name: Any) -> UserError:
    if class_name in ("Lambda", "TFOpLambda", "SlicingOpLambda"):
        return UserError("code", expected="built-in layers only", found=class_name, remedy=_NO_CODE)
    known = SUPPORTED.keys() | TRAINING_ONLY.keys()
    hint = did_you_mean(class_name, known, similarity=_MISSPELLING) if isinstance(class_name, str) else None
    expected = "a layer that `pgdl help task-format` lists"
    return UserError("layer not supported", expected=expected, found=repr(class_name), remedy=hint)


def _unified(class_name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with names and values that both Keras 2 and Keras 3 understand."""
    if class_name.startswith(("MaxPooling", "AveragePooling")):
        return {"pool_size": 2, **settings}  # Keras 3 requires it; Keras 2 has the default 2
    if class_name == "BatchNormalization" and isinstance(settings.get("axis"), list):
        return {**settings, "axis": settings["axis"][0]}  # Keras 2 writes the axis as a list
    if class_name == "ZeroPadding1D" and settings.get("data_format") == "channels_last":
        return {name: value for name, value in settings.items() if name != "data_format"}  # Keras 2 does not know it
    if class_name == "LeakyReLU" and "alpha" in settings:
        slope = settings.pop("alpha")
        return {**settings, "negative_slope": slope}  # its name in Keras 3
    return settings


def _without_virtual_batches(config: dict[str, Any]) -> dict[str, Any]:
    """Remove virtual batches, which matter only in training, from a batch normalization, and correct its axes."""
    if config.get("virtual_batch_size") is None:
        return config
    left = {name: value for name, value in config.items() if name != "virtual_batch_size"}
    axis = left.get("axis")
    return {**left, "axis": [one - 1 for one in axis]} if isinstance(axis, list) else left


def _integer(name: str, value: Any) -> Any:
    """Convert floats without fraction to integers in settings that must be integers, as the competition did."""
    if isinstance(value, list):
        return [_integer(name, item) for item in value]
    if isinstance(value, float):
        if not value.is_integer():
            raise UserError(name, expected="an integer", found=value)
        return int(value)
    return _plain(name, value)


def _plain(name: str, value: Any) -> Any:
    """Return `value`. Raises `UserError` for infinity and NaN, and for a JSON object, which could contain code."""
    if isinstance(value, list):
        return [_plain(name, item) for item in value]
    if isinstance(value, dict) and value.get("class_name") in SUPPORTED:
        found, remedy = f"the layer {value['class_name']}", f"put the {name} into a layer of its own"
        raise UserError(name, expected="the name of a function", found=found, remedy=remedy)
    if isinstance(value, dict):
        raise UserError(name, expected="text or numbers", found="an object", remedy=_NO_CODE)
    if isinstance(value, float) and not math.isfinite(value):
        raise UserError(name, expected="a finite number", found=value)
    return value


def require_float32(dtype: Any) -> None:
    """Raise `UserError` unless a type, or the name of a dtype policy of Keras, is float32 or None."""
    name = dtype.get("config", {}).get("name", dtype.get("class_name", "")) if isinstance(dtype, dict) else dtype
    if name not in (None, "float32"):
        raise UserError("dtype", expected="float32", found=repr(name))
