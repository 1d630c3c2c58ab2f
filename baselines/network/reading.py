"""Converts a Keras model into nodes: plain data with the kind, weights and inputs of each layer."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.needs import MeasureUnavailable
from baselines.network.activations import name_of
from baselines.network.applied import arrays_of, as_applied, kind_of
from baselines.network.attention import attention, dense, is_plain
from baselines.network.nodes import ACTIVATIONS, CONSTANT, INPUT, NORMALIZATIONS, WITH_KERNEL, Array, Node, Nodes
from baselines.network.output import without_probabilities

#: Layers that have no effect in inference mode.
IDLE = {
    "ActivityRegularization", "AlphaDropout", "AugMix", "CutMix", "Dropout", "Equalization", "GaussianDropout",
    "GaussianNoise", "Identity", "MixUp", "RandAugment", "Solarization", "SpatialDropout1D", "SpatialDropout2D",
    "SpatialDropout3D",
    *(
        f"Random{change}" for change in (
            "Brightness", "ColorDegeneration", "ColorJitter", "Contrast", "ElasticTransform", "Erasing", "Flip",
            "GaussianBlur", "Grayscale", "Height", "Hue", "Invert", "Perspective", "Posterization", "Rotation",
            "Saturation", "Sharpness", "Shear", "Translation", "Width", "Zoom",
        )
    ),
}  # fmt: skip

#: Layers that only change the shape.
_ORDERED = {"Flatten", "Reshape"}

#: Layers that may end with an activation, which becomes a separate node.
_ACTIVATED = WITH_KERNEL | {"EinsumDense"}

#: Name of a constant in the configuration -> attribute of the layer, if the constant may be an array.
_NUMBERS = {"scale": "scale", "offset": "offset", "mean": "input_mean", "variance": "input_variance"}

#: Arguments of attention for masks, in the order in which they may follow the inputs by position.
_MASKS = ("query_mask", "value_mask", "key_mask", "attention_mask")

#: Layer with several named inputs -> their names.
_NAMED_INPUTS = {"MultiHeadAttention": ("query", "value", "key")}

#: End of a refusal of a model that computes outside of layers.
_OF_OPERATION = "is the result of an operation: write operations as layers, such as Add() for a + b"


def outputs_of(model: Any) -> list[Any]:
    """Return the symbolic outputs of a model. Raises `MeasureUnavailable` if it is no graph of layers, or not built."""
    outputs = getattr(model, "outputs", None)
    if not outputs:
        raise MeasureUnavailable("expected a sequential or functional model that has been built")
    return list(outputs)


def read_nodes(model: Any, weights: Sequence[Array] | None = None) -> Nodes:
    """Convert a model into nodes; `weights`, in the order of `get_weights()`, replace the weights of the model.

    The activation of a layer becomes a node of its own. Models within the model are converted, too. Layers without
    effect in inference mode are left out, and so is a final activation that turns logits into probabilities.

    Raises:
        MeasureUnavailable: a layer appears twice or is not Keras' own, an operation is no layer, the model has several
            inputs or outputs, inputs may have different sizes, or outputs are no vectors.
    """
    given = list(model.get_weights() if weights is None else weights)
    if len(given) != len(model.weights):
        raise MeasureUnavailable(f"expected {len(model.weights)} arrays of weights, found {len(given)}")
    if len(outputs_of(model)) != 1 or len(model.inputs) != 1 or len(model.outputs[0].shape) != 2:
        raise MeasureUnavailable("expected a network with one input, and one output of (examples, classes)")
    shape = tuple(model.inputs[0].shape[1:])
    if None in shape:
        remedy = "build the model with an Input of the shape of an example"
        raise MeasureUnavailable(f"expected inputs of a fixed shape, found {shape}: {remedy}")
    reader = _Reader(tuple(map(int, shape)))
    for layer, sources in _layers(model):
        count = len(layer.weights)
        own, given = given[:count], given[count:]
        reader.add(layer, sources, tuple(np.asarray(array) for array in own))
    found = Nodes(reader.shapes[INPUT], tuple(reader.nodes), tuple(reader.layers))
    return without_probabilities(found, reader.shapes, int(model.outputs[0].shape[1]))


#: A layer, and the numbers of the layers that compute its inputs.
_Fed = tuple[Any, list[int]]


def _layers(model: Any) -> list[_Fed]:
    found: list[_Fed] = []
    if _add_layers(model, INPUT, found) != len(found) - 1:
        raise MeasureUnavailable(f"layer {found[-1][0].name} is behind the output, or not in forward order")
    return found


def _add_layers(model: Any, source: int, found: list[_Fed]) -> int:
    """Append the layers of `model`, which has the input `source`, to `found`; return the number of the last."""
    layers = [layer for layer in model.layers if type(layer).__name__ != "InputLayer"]
    if isinstance(model, tf.keras.Sequential):
        for layer in layers:
            source = _add_layer(layer, [source], found)
        return source
    if len(model.inputs) != 1 or len(model.outputs) != 1:
        raise MeasureUnavailable(f"model {model.name} within the model has several inputs or outputs")
    producers = {id(model.inputs[0]): source}
    for layer in layers:
        if len(layer._inbound_nodes) != 1:
            raise MeasureUnavailable(f"layer {layer.name} is used twice")
        (call,) = layer._inbound_nodes  # `layer.input` would be the input of the first call
        tensors = _tensors(call)
        if not all(id(tensor) in producers for tensor in tensors):
            raise MeasureUnavailable(f"an input of layer {layer.name} {_OF_OPERATION}")
        sources = [producers[id(tensor)] for tensor in tensors]
        number = _add_layer(layer, sources, found)
        producers.update({id(tensor): number for tensor in tf.nest.flatten(call.output_tensors)})
    if id(model.outputs[0]) not in producers:
        raise MeasureUnavailable(f"the output of model {model.name} {_OF_OPERATION}")
    return producers[id(model.outputs[0])]


def _add_layer(layer: Any, sources: list[int], found: list[_Fed]) -> int:
    if isinstance(layer, tf.keras.Model) and getattr(layer, "inputs", None):  # subclasses may have no graph
        return _add_layers(layer, sources[0], found)
    if layer.weights and any(layer is other for other, _ in found):  # in sequential models within the model
        raise MeasureUnavailable(f"layer {layer.name} is used twice")
    found.append((layer, sources))
    return len(found) - 1


class _Reader:
    def __init__(self, input_shape: tuple[int, ...]) -> None:
        self.nodes: list[Node] = []
        self.layers: list[tuple[tuple[int, ...], int]] = []
        self.shapes: dict[int, tuple[Any, ...]] = {INPUT: input_shape}  #: position -> shape of an example
        self._outputs: list[int] = []  #: layer -> position of its output

    def add(self, layer: Any, feeding: list[int], weights: tuple[Array, ...]) -> None:
        inner, weights = as_applied(layer, weights)
        kind = kind_of(inner)
        sources = tuple(INPUT if number == INPUT else self._outputs[number] for number in feeding)
        output = sources[0]
        shape = tuple(tf.nest.flatten(layer._inbound_nodes[0].output_tensors)[0].shape[1:])
        if self._is_idle(inner, kind, output, shape):
            self._outputs.append(output)
            return
        if kind == "Activation":
            output = self._add_activation(layer.name, inner.activation, weights, output)
        else:
            activation = inner.activation if kind in _ACTIVATED else None  # other kinds may use activations inside
            n_own = len(weights) - len(getattr(activation, "weights", ()))
            output = self._add_node(layer, inner, sources, weights[:n_own])
            if activation not in (None, tf.keras.activations.linear):
                output = self._add_activation(f"{layer.name} activation", activation, weights[n_own:], output)
        self._outputs.append(output)
        self.layers.append((sources, output))
        self.shapes[output] = shape

    def _is_idle(self, layer: Any, kind: str, source: int, shape: tuple[Any, ...]) -> bool:
        if kind == "Activation":
            return layer.activation is tf.keras.activations.linear
        is_unchanged = kind in _ORDERED and shape == self.shapes[source]
        return kind in IDLE or (is_unchanged and not _is_masked(layer))  # these layers end a mask

    def _add_node(self, layer: Any, inner: Any, sources: tuple[int, ...], weights: tuple[Array, ...]) -> int:
        """Add a layer without its activation; return the position of its output.

        A weight layer with channels first becomes a layer with channels last between two permutations.
        """
        kind, config = kind_of(inner), inner.get_config()
        config = {name: value for name, value in config.items() if not name.startswith("lora_")}
        if kind in _ACTIVATED:
            config["activation"] = "linear"
        else:
            _require_known_activations(inner, config)
        if kind in CONSTANT:
            config |= {name: _as_numbers(getattr(inner, own)) for name, own in _NUMBERS.items() if name in config}
        if kind in NORMALIZATIONS or kind == "Normalization":
            config["axis"] = _from_the_end(config["axis"], len(self.shapes[sources[0]]) + 1)
        keywords, switches = _arguments(layer, kind, len(sources))
        shapes = [self.shapes[source] for source in sources]
        if kind == "MultiHeadAttention" and is_plain(config, switches, shapes) and not _is_masked(layer):
            return self._add_attention(layer.name, inner, weights, _by_name(keywords, sources), switches)
        if kind == "EinsumDense" and _is_dense(config) and not _is_masked(layer):  # it ends a mask
            return self._append(dense(layer.name, weights, sources[0], flat=1))
        if kind not in WITH_KERNEL or config.get("data_format") != "channels_first":
            return self._append(Node(layer.name, kind, config, weights, sources, keywords, switches))
        axes = range(1, len(config["kernel_size"]) + 2)
        back = self._append(_permutation(layer.name, (*axes[1:], 1), sources))
        own = self._append(Node(layer.name, kind, config | {"data_format": "channels_last"}, weights, (back,)))
        return self._append(_permutation(layer.name, (axes[-1], *axes[:-1]), (own,)))

    def _add_attention(
        self, name: str, layer: Any, weights: tuple[Array, ...], sources: dict[str, int], switches: dict[str, bool]
    ) -> int:
        sources = {"key": sources["value"]} | sources
        arrays = {
            part: arrays_of(getattr(layer, f"_{part}_dense").weights, layer, weights)
            for part in ("query", "key", "value", "output")
        }
        places = [
            self._append(dense(f"{name} {part}", arrays[part], sources[part], flat=1))
            for part in ("query", "key", "value")
        ]
        causal = switches.get("use_causal_mask", False)
        heads = self._append(attention(f"{name} heads", layer.get_config(), tuple(places), causal=causal))
        return self._append(dense(f"{name} output", arrays["output"], heads, flat=2))

    def _add_activation(self, name: str, activation: Any, weights: tuple[Array, ...], source: int) -> int:
        if not isinstance(activation, tf.keras.layers.Layer):
            return self._append(Node(name, "Activation", {"activation": name_of(activation)}, (), (source,)))
        kind = kind_of(activation)
        if kind not in ACTIVATIONS:
            raise MeasureUnavailable(f"{name} is layer {activation.name}, which is no activation")
        if kind == "Activation":
            return self._add_activation(name, activation.activation, weights, source)
        return self._append(Node(name, kind, activation.get_config(), weights, (source,)))

    def _append(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1


def _require_known_activations(layer: Any, config: dict[str, Any]) -> None:
    """Refuse a layer with an activation that is not Keras' own, because `config` could not rebuild it."""
    for name in config:
        function = getattr(layer, name, None) if name.endswith("activation") else None
        if function is not None and not isinstance(name_of(function), str):
            raise MeasureUnavailable(f"layer {layer.name}: its {name} is not one of Keras' own functions")


def _is_dense(config: dict[str, Any]) -> bool:
    found = re.fullmatch(r"(\.\.\.|[a-zA-Z]+)([a-zA-Z]),\2([a-zA-Z])->\1\3", config["equation"])
    return found is not None and config["bias_axes"] in (None, found[3])


def _permutation(name: str, axes: tuple[int, ...], sources: tuple[int, ...]) -> Node:
    return Node(f"{name} permutation", "Permute", {"dims": axes}, (), sources)


def _arguments(layer: Any, kind: str, n_sources: int) -> tuple[tuple[str, ...], dict[str, bool]]:
    if kind not in _NAMED_INPUTS:
        return (), {}
    call = layer._inbound_nodes[0]
    if hasattr(call, "arguments"):  # Keras 3
        arguments, given = call.arguments.args, call.arguments.kwargs
    else:
        arguments, given = call.call_args, call.call_kwargs
    tensors, known = _tensors(call), _NAMED_INPUTS[kind]
    others = dict(zip(_MASKS, arguments[len(known) :], strict=False)) | {n: given[n] for n in given if n not in known}
    for name, value in others.items():
        if value is not None and not isinstance(value, bool):
            raise MeasureUnavailable(f"layer {layer.name} ({kind}) takes in its {name}, which is not understood")
    switches = {name: value for name, value in given.items() if isinstance(value, bool) and name != "training"}
    left = {name: given[name] for name in _NAMED_INPUTS[kind] if given.get(name) is not None}
    positional = _NAMED_INPUTS[kind][: n_sources - len(left)]
    named = []
    for tensor in tensors[len(positional) :]:
        named.append(next(name for name, value in left.items() if value is tensor))
        del left[named[-1]]
    return (*positional[1:], *named), switches


def _tensors(call: Any) -> list[Any]:
    found = list(call.keras_inputs if hasattr(call, "keras_inputs") else call.input_tensors)  # Keras 2, Keras 3
    masks = {id(getattr(tensor, "_keras_mask", None)) for tensor in found}  # Keras 3 also lists the inputs' masks
    return [tensor for tensor in found if id(tensor) not in masks]


def _is_masked(layer: Any) -> bool:
    return any(getattr(tensor, "_keras_mask", None) is not None for tensor in _tensors(layer._inbound_nodes[0]))


def _by_name(keywords: tuple[str, ...], sources: tuple[int, ...]) -> dict[str, int]:
    names = keywords if len(keywords) == len(sources) else ("query", *keywords)
    return dict(zip(names, sources, strict=True))


def _as_numbers(given: Any) -> Any:
    return None if given is None else np.asarray(given).tolist()


def _from_the_end(axes: Any, rank: int) -> Any:
    found = [axis if axis < 0 else axis - rank for axis in ([axes] if isinstance(axes, int) else axes)]
    return found[0] if len(found) == 1 else found
