"""Reads and writes a model's config.json, and turns it into the canonical form from which a worker builds the model.

Keras 2 and Keras 3 build the same model from the canonical form. The form has the settings that affect the computation
of a trained layer. It has no names, initializers, regularizers or dropout rates, because they would reveal the
training. There are two canonical forms:

* `{"format": "layers", "input_shape": [...], "layers": [{"class_name", "config"}, ...]}` is a Sequential model;
* `{"format": "graph", "input_shape": [...], "layers": [{"class_name", "config", "inputs"}, ...]}` is a functional
  model without nested models. `inputs` are positions in `layers`, with -1 for the model's input. An entry may also have
  `keywords`, the layer's keyword arguments: name -> position, true or false. The last layer computes the model's
  output. Each further use of a layer is an entry `{"layer", "inputs"}` with the position of the layer's first entry.

If the model ends in a softmax or log-softmax, both forms have the key `"softmax"`: the position of its layer.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.format.equivalent_layers import channels_last
from harness.format.files import kind, located, read_json
from harness.format.flatten import Flat, flatten, group_names, is_model, settings_of
from harness.format.inbound import INPUT, ends, keras_order
from harness.format.layers import neutral_layer
from harness.format.layout import CONFIG
from harness.format.output import Output, final_softmax, output_of
from harness.format.writer import require_same_masks, writer_of

#: Maximum size of an architecture as JSON; the largest networks of Keras need 3 MB.
MAX_CONFIG_BYTES = 16 * 1024**2


@dataclass(frozen=True)
class Architecture:
    """The architecture of a model, without its weights."""

    file: Path
    canonical: dict[str, Any]  #: the canonical form. Layers are numbered in its order; a repeated call has no number
    names: tuple[str | None, ...]  #: number of a layer -> its name in the file; None for a layer without a name
    file_order: tuple[int, ...]  #: layer numbers in the order of config.json and of weight files
    groups: tuple[str, ...] = ()  #: number of a layer -> the group of its weights in a weight file of Keras 3
    models: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  #: nested model -> its layers, in `file_order`
    frozen: frozenset[int] = frozenset()  #: numbers of the layers that were not trained

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one input, without the batch axis."""
        return tuple(self.canonical["input_shape"])

    @cached_property
    def output(self) -> Output:
        """The kind of the network's outputs, such as logits."""
        return output_of(self.canonical)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the canonical form."""
        return hashlib.sha256(json.dumps(self.canonical, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class LayerShapes:
    """The class of a layer, and the names and shapes of its weights in the order of `get_weights()`."""

    class_name: str
    weights: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class ModelShapes:
    """The class and weight shapes of each layer, and the shape of the output without the batch axis."""

    layers: tuple[LayerShapes, ...]
    output_shape: tuple[int, ...]

    @property
    def n_parameters(self) -> int:
        """Number of parameters in all weights, trained or not."""
        return sum(math.prod(shape) for layer in self.layers for _, shape in layer.weights)


def read_architecture(model: Path) -> Architecture:
    """Read a model's config.json; raises `UserError` if it is missing or malformed, or if a layer is not supported."""
    return parse_architecture(read_json(model / CONFIG), model / CONFIG)


def parse_architecture(content: Mapping[str, Any], file: Path) -> Architecture:
    """Return the architecture in a `file` with this content; raises `UserError` if malformed or not supported."""
    with located(file):
        try:
            if "model_config" in content:
                return _from_layer_list(file, content)
            if is_model(content.get("class_name")):
                return _from_keras(file, content)
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:  # a file edited by hand
            raise UserError("malformed", expected="JSON written by Keras", found=repr(error)) from error
        raise UserError(
            "no architecture", expected='"model_config" and "input_shape", or the output of Keras\' to_json()',
            found=f"the keys {', '.join(content) or 'none'}",
        )  # fmt: skip


def _from_layer_list(file: Path, content: Mapping[str, Any]) -> Architecture:
    definitions = content["model_config"]
    if not isinstance(definitions, list):
        raise UserError("model_config", expected="a list of layers", found=kind(definitions))
    layers: list[dict[str, Any]] = []
    writer = writer_of(content)
    for position, definition in enumerate(definitions):
        where = f"model_config[{position}]"
        if not isinstance(definition, dict) or "layer_name" not in definition:
            raise UserError(where, expected='an object with "layer_name"', found=repr(definition))
        settings = {name: value for name, value in definition.items() if name != "layer_name"}
        if definition["layer_name"] != "InputLayer":
            with located(where):
                layers += _canonical_layers(neutral_layer(definition["layer_name"], settings, writer=writer))
    if not layers:
        raise UserError("layers", expected="at least one", found="none")
    require_same_masks(layers, writer)
    shape = _input_shape(content.get("input_shape"))
    canonical = {"format": "layers", "input_shape": shape, "layers": layers, **final_softmax(layers, shape)}
    groups = tuple(f"layers/{group}" for group in group_names(layer["class_name"] for layer in layers))
    return Architecture(file, canonical, (None,) * len(layers), tuple(range(len(layers))), groups)


def _canonical_layers(layer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the channels-last layers that replace a channels-first `layer`; `[layer]` for any other layer."""
    spatial = channels_last(layer)
    if spatial is None:
        return [layer]
    return [spatial.to_last, spatial.definition, *([] if spatial.to_first is None else [spatial.to_first])]


def _from_keras(file: Path, content: Mapping[str, Any]) -> Architecture:
    writer = writer_of(content)
    flat = flatten(content, writer)
    if flat.output == INPUT:
        raise UserError("layers", expected="at least one", found="none")
    shape = _input_shape(_shape_of_input(content))
    calls = keras_order(flat.calls, flat.output)
    order = list(dict.fromkeys(flat.calls[number].layer for number in calls))
    layers = [flat.layers[number] for number in order]
    entries = [layer.definition for layer in layers] if flat.is_chain else _entries(flat, calls)
    require_same_masks(entries, writer)
    form = "layers" if flat.is_chain else "graph"
    canonical = {"format": form, "input_shape": shape, "layers": entries, **final_softmax(entries, shape)}
    position = {number: i for i, number in enumerate(order)}
    file_order = tuple(position[number] for number in range(len(flat.layers)) if number in position)
    models: dict[str, tuple[int, ...]] = {}
    for i in file_order:
        if (model := layers[i].model) is not None:
            models[model] = (*models.get(model, ()), i)
    names, groups = (tuple(layer.name for layer in layers), tuple(layer.group for layer in layers))
    frozen = frozenset(i for i, layer in enumerate(layers) if not layer.is_trained)
    return Architecture(file, canonical, names, file_order, groups, models, frozen)


def _entries(flat: Flat, calls: Sequence[int]) -> list[dict[str, Any]]:
    """Return the entries of the canonical form for some calls of layers; `calls` are positions in `flat.calls`."""
    position = {INPUT: INPUT, **{number: i for i, number in enumerate(calls)}}
    first: dict[int, int] = {}  # layer -> position of its first call
    entries = []
    for i, number in enumerate(calls):
        call = flat.calls[number]
        is_shared = call.layer in first
        entry: dict[str, Any] = {"layer": first[call.layer]} if is_shared else {**flat.layers[call.layer].definition}
        first.setdefault(call.layer, i)
        entry["inputs"] = [position[source] for source in call.inputs]
        if call.keywords:
            entry["keywords"] = {
                name: value if isinstance(value, bool) else position[value] for name, value in call.keywords.items()
            }
        entries.append(entry)
    return entries


def _shape_of_input(content: Mapping[str, Any]) -> Any:
    """Return the shape of the model's input without the batch axis; its place in the JSON depends on Keras' version."""
    config = settings_of(content)
    build = content.get("build_config") or {}
    shapes = [build.get("input_shape"), config.get("build_input_shape")]
    if content["class_name"] == "Sequential":
        shapes += [_batch_shape(layer) for layer in config["layers"]]
        nested = config["layers"][0]
        while not any(shapes) and is_model(nested["class_name"]):
            inner = settings_of(nested)["layers"]
            shapes += [_batch_shape(layer) for layer in inner[:1]]
            nested = inner[0]
    else:
        (source,) = ends(config["input_layers"])
        shapes = [_batch_shape(layer) for layer in config["layers"] if layer["name"] == source.layer]
    shape = next((shape for shape in shapes if shape), [None])
    return shape[1:]


def _batch_shape(layer: Mapping[str, Any]) -> Any:
    config = settings_of(layer)
    return config.get("batch_shape") or config.get("batch_input_shape")


def _input_shape(shape: Any) -> list[int]:
    numbers = shape if isinstance(shape, list) else []
    integral = [int(n) for n in numbers if isinstance(n, int | float) and 0 < n < math.inf and n == int(n)]
    if not integral or len(integral) < len(numbers):
        found = "none" if shape is None else shape
        expected = "a list of positive integers, without the batch axis"
        raise UserError("input_shape", expected=expected, found=found)
    return integral


def write_config(path: Path, content: Mapping[str, Any]) -> None:
    """Write a config.json; `content` is the result of `layer_list`, or Keras' own JSON."""
    path.write_bytes(json.dumps(content, indent=1).encode())


def layer_list(layers: Sequence[Mapping[str, Any]], input_shape: Sequence[int]) -> dict[str, Any]:
    """Return the content of config.json for layers without branches, in the competition's format."""
    return {"model_config": [dict(layer) for layer in layers], "input_shape": list(input_shape)}
