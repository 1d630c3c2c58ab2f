"""The layer inside a wrapper, and the weights that the layer effectively applies."""

from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.needs import MeasureUnavailable
from baselines.network.nodes import Array

#: Layers that compute a function which Keras does not know.
_OPAQUE = {"FlaxLayer", "JaxLayer", "Lambda", "TFSMLayer", "TorchModuleWrapper"}

#: Layers that compute the same with or without `TimeDistributed`; normalizations only if they are along the last axis.
_ALIKE_EVERYWHERE = {"Activation", "Dense", "Dropout", "Rescaling", "SpectralNormalization"}
_ALONG_AN_AXIS = {"LayerNormalization", "RMSNormalization", "UnitNormalization"}

#: Package in which a worker registers Keras' layers that augment images, changed to return their input unchanged.
_DISABLED = "disabled"

#: Names of the attributes with the two factors of a low-rank update (LoRA).
_FACTORS = (("lora_kernel_a", "lora_kernel_b"), ("lora_embeddings_a", "lora_embeddings_b"))


def kind_of(layer: Any) -> str:
    """Return the class name of a layer; raises `MeasureUnavailable` if the layer or its function is not Keras' own."""
    kind = type(layer).__name__
    own = getattr(tf.keras.layers, kind, None)
    if own is None or not (type(layer).call is own.call or _is_disabled(layer, kind)):
        raise MeasureUnavailable(f"layer {layer.name} ({kind}) is not one of Keras' own layers")
    if kind in _OPAQUE:
        raise MeasureUnavailable(f"layer {layer.name} ({kind}) computes a function of its own")
    return kind


def _is_disabled(layer: Any, kind: str) -> bool:
    return bool(tf.keras.utils.get_registered_name(type(layer)) == f"{_DISABLED}>{kind}")


def as_applied(layer: Any, arrays: tuple[Array, ...]) -> tuple[Any, tuple[Array, ...]]:
    """Return the layer inside wrappers that do nothing in inference mode, and the weights that the layer applies.

    `arrays` are the weights of `layer` in the order of `get_weights()`. During training, spectral
    normalization divides the stored kernel, so it has no effect afterwards. A low-rank update (LoRA) of the layer is
    added to its kernel. Raises `MeasureUnavailable` if a layer is quantized or not Keras' own, or if an inner layer has
    a low-rank update.
    """
    while (kind := kind_of(layer)) in ("SpectralNormalization", "TimeDistributed"):
        if kind == "TimeDistributed" and not _is_alike_everywhere(layer.layer):
            break
        layer, arrays = layer.layer, arrays_of(layer.layer.weights, layer, arrays)
    _require_plain(layer)
    return layer, _updated(layer, arrays) if getattr(layer, "lora_enabled", False) else arrays


def _is_alike_everywhere(layer: Any) -> bool:
    kind = type(layer).__name__
    if kind not in _ALONG_AN_AXIS:
        return kind in _ALIKE_EVERYWHERE
    axis = layer.get_config()["axis"]
    return (axis if isinstance(axis, int) else tuple(axis)) in (-1, (-1,))


def in_full_precision(array: Array) -> Array:
    """Return an array of half precision as float32, and any other array unchanged."""
    is_half = array.dtype.itemsize == 2 and array.dtype.kind not in "iu"  # float16, and bfloat16, whose kind is V
    return array.astype(np.float32) if is_half else array


def arrays_of(variables: list[Any], layer: Any, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
    """Return the entries of `arrays` that belong to `variables`; `arrays` are all weights of `layer`."""
    places = {id(variable): place for place, variable in enumerate(layer.weights)}
    return tuple(arrays[places[id(variable)]] for variable in variables)


def _require_plain(layer: Any) -> None:
    for part in layer._flatten_layers():
        if part is not layer and not isinstance(part, tf.keras.Model) and not _is_cell(part):
            kind_of(part)
        name = layer.name if part is layer else f"{layer.name} with {part.name} in it"
        if getattr(part, "quantization_mode", None) is not None:
            raise MeasureUnavailable(
                f"layer {name} is quantized ({part.quantization_mode}): take the model before that"
            )
        if part is not layer and getattr(part, "lora_enabled", False):
            raise MeasureUnavailable(f"layer {name} has an update of low rank: merge it into the weights first")


def _is_cell(part: Any) -> bool:
    kind = type(part)
    return kind.__module__.startswith("keras.src.layers.rnn.") and not hasattr(tf.keras.layers, kind.__name__)


def _updated(layer: Any, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
    factors = [getattr(layer, name) for pair in _FACTORS for name in pair if hasattr(layer, name)]
    others = [variable for variable in layer.weights if not any(variable is factor for factor in factors)]
    first, second = arrays_of(factors, layer, arrays)
    updated, *rest = arrays_of(others, layer, arrays)
    return (updated + np.float32(layer.lora_alpha / layer.lora_rank) * (first @ second), *rest)
