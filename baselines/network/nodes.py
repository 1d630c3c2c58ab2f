"""A Keras model as plain data: what each layer is, which weights it has, and what it takes in."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.unavailable import MeasureUnavailable

Array = np.ndarray[Any, Any]

#: Position of the network's input, where others have a node's number.
INPUT = -1

#: Layers that do nothing in inference mode.
_IDLE = {
    "ActivityRegularization", "AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise", "Identity",
    "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D",
}  # fmt: skip

#: Attributes under which layers keep kernels, in the order in which a layer applies them.
KERNELS = ("depthwise_kernel", "pointwise_kernel", "kernel")

#: Weight layers: dense layers and convolutions.
_WITH_KERNEL = {
    "Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dense", "DepthwiseConv1D",
    "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D",
}  # fmt: skip

ACTIVATIONS = {"Activation", "ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "ThresholdedReLU"}

#: Layers that scale to a mean and a deviation, so that what is before them can be of any scale.
NORMALIZATIONS = {
    "BatchNormalization", "GroupNormalization", "LayerNormalization", "RMSNormalization", "SpectralNormalization",
    "UnitNormalization",
}  # fmt: skip

#: Layers whose weights only scale and shift.
_SCALES = NORMALIZATIONS | {"Normalization", "PReLU"}

#: Layers whose inputs are arguments of their own, with the names of these.
_NAMED_INPUTS = {"MultiHeadAttention": ("query", "value", "key")}


@dataclass(frozen=True)
class Node:
    """One layer; its activation is a node of its own."""

    name: str
    kind: str  #: Keras' class
    config: dict[str, Any] = field(repr=False)
    weights: tuple[Array, ...] = field(repr=False)  #: in Keras' order
    sources: tuple[int, ...]  #: positions that it takes in
    keywords: tuple[str, ...] = ()  #: names under which it takes in the last of them
    switches: dict[str, bool] = field(default_factory=dict)  #: other arguments of its call

    @property
    def has_kernel(self) -> bool:
        """Whether it is a weight layer: dense, or a convolution of some kind."""
        return self.kind in _WITH_KERNEL

    @property
    def scales(self) -> bool:
        """Whether its weights only scale and shift."""
        return self.kind in _SCALES


@dataclass(frozen=True)
class Nodes:
    """A network: its nodes in forward order; the last one gives the logits."""

    input_shape: tuple[int, ...]  #: of one example
    nodes: tuple[Node, ...]
    layers: tuple[tuple[tuple[int, ...], int], ...]
    """For each layer of the model, in forward order, the positions of its inputs and of its output; after
    a rewriting that loses some of them, positions of what is left."""

    @property
    def is_normalized(self) -> bool:
        """Whether a node normalizes."""
        return any(node.kind in NORMALIZATIONS for node in self.nodes)


def read_nodes(model: Any, weights: Sequence[Array] | None = None) -> Nodes:
    """Take a model apart; `weights`, in the order of `get_weights()`, replace its own.

    Fused activations become nodes, models within the model are taken apart, too, layers that are idle in inference
    mode vanish, and so does a final softmax.

    Raises:
        MeasureUnavailable: a layer that appears twice, more than one input or output, outputs that are no vectors.
    """
    given = list(model.get_weights() if weights is None else weights)
    if len(given) != len(model.get_weights()):
        raise MeasureUnavailable(f"expected {len(model.get_weights())} arrays of weights, found {len(given)}")
    if len(model.inputs) != 1 or len(model.outputs) != 1 or len(model.outputs[0].shape) != 2:
        raise MeasureUnavailable("expected a network with one input, and one output of (examples, classes)")
    reader = _Reader()
    for layer, sources in _layers(model):
        count = len(layer.get_weights())
        own, given = given[:count], given[count:]
        reader.add(layer, sources, tuple(np.asarray(array) for array in own))
    return _without_softmax(
        Nodes(tuple(map(int, model.inputs[0].shape[1:])), tuple(reader.nodes), tuple(reader.layers))
    )


#: A layer, and the numbers of the layers that feed it.
_Fed = tuple[Any, list[int]]


def _layers(model: Any) -> list[_Fed]:
    """Layers in forward order, those of models within the model among them."""
    found: list[_Fed] = []
    if _add_layers(model, INPUT, found) != len(found) - 1:
        raise MeasureUnavailable(f"layer {found[-1][0].name} is behind the output, or not in forward order")
    return found


def _add_layers(model: Any, source: int, found: list[_Fed]) -> int:
    """Add the layers of a model that takes in what layer `source` puts out; returns the number of its output's."""
    layers = [layer for layer in model.layers if type(layer).__name__ != "InputLayer"]
    if isinstance(model, tf.keras.Sequential):
        for layer in layers:
            source = _add_layer(layer, [source], found)
        return source
    if len(model.inputs) != 1 or len(model.outputs) != 1:
        raise MeasureUnavailable(f"model {model.name} within the model has several inputs or outputs")
    producers = {id(model.inputs[0]): source}
    for layer in layers:
        try:
            (call,) = layer._inbound_nodes  # `layer.input` would be that of the first call
            tensors = call.keras_inputs if hasattr(call, "keras_inputs") else call.input_tensors  # Keras 2, Keras 3
            sources = [producers[id(tensor)] for tensor in tensors]
        except (ValueError, KeyError) as error:
            raise MeasureUnavailable(f"layer {layer.name} is used twice, or not in forward order") from error
        number = _add_layer(layer, sources, found)
        producers.update({id(tensor): number for tensor in tf.nest.flatten(call.output_tensors)})
    return producers[id(model.outputs[0])]


def _add_layer(layer: Any, sources: list[int], found: list[_Fed]) -> int:
    if isinstance(layer, tf.keras.Model) and getattr(layer, "inputs", None):  # a subclass may have no graph
        return _add_layers(layer, sources[0], found)
    found.append((layer, sources))
    return len(found) - 1


class _Reader:
    """Turns layers into nodes, one after the other."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.layers: list[tuple[tuple[int, ...], int]] = []
        self._outputs: list[int] = []  #: layer -> position of its output

    def add(self, layer: Any, feeding: list[int], weights: tuple[Array, ...]) -> None:
        """Add a layer that takes in the outputs of the layers `feeding`."""
        kind = type(layer).__name__
        if not hasattr(tf.keras.layers, kind):
            raise MeasureUnavailable(f"layer {layer.name} ({kind}) is not one of Keras' own layers")
        sources = tuple(INPUT if number == INPUT else self._outputs[number] for number in feeding)
        output = sources[0]
        if kind not in _IDLE:
            config = layer.get_config()
            activation = layer.activation if kind in _WITH_KERNEL else None  # that of others may be inside of them
            if activation is not None:
                config["activation"] = "linear"
            if kind == "BatchNormalization":
                config["axis"] = _axis(layer)
            keywords, switches = _arguments(layer, kind, len(sources))
            output = self._append(Node(layer.name, kind, config, weights, sources, keywords, switches))
            if activation not in (None, tf.keras.activations.linear):
                fused = {"activation": tf.keras.activations.serialize(activation)}
                output = self._append(Node(f"{layer.name} activation", "Activation", fused, (), (output,)))
        self._outputs.append(output)
        self.layers.append((sources, output))

    def _append(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1


def _arguments(layer: Any, kind: str, n_sources: int) -> tuple[tuple[str, ...], dict[str, bool]]:
    """Names of the last inputs of the layer's call, in the order in which Keras lists them, and its switches."""
    if kind not in _NAMED_INPUTS:
        return (), {}
    call = layer._inbound_nodes[0]
    given = call.arguments.kwargs if hasattr(call, "arguments") else call.call_kwargs  # Keras 3, Keras 2
    switches = {name: value for name, value in given.items() if isinstance(value, bool)}
    named = tuple(sorted(name for name in _NAMED_INPUTS[kind] if given.get(name) is not None))
    positional = _NAMED_INPUTS[kind][: n_sources - len(named)]
    return (*positional[1:], *named), switches


def _axis(norm: Any) -> int:
    """The axis of a batch normalization, -1 if it is the last one however it is written."""
    axis = norm.axis if isinstance(norm.axis, int) else int(norm.axis[0])
    return -1 if axis in (-1, norm.input_spec.ndim - 1) else axis


def _without_softmax(network: Nodes) -> Nodes:
    """Drop a softmax at the very end: measures look at logits."""
    *rest, last = network.nodes
    softmax = {"Softmax"} if last.kind == "Softmax" else {last.config.get("activation")}
    if not softmax & {"Softmax", "softmax"}:
        return network
    before, end = last.sources[0], len(rest)
    layers = tuple((sources, before if output == end else output) for sources, output in network.layers)
    return replace(network, nodes=tuple(rest), layers=layers)
