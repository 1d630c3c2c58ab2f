"""Reads a model's config.json into the canonical form from which the worker builds models, and writes config.json.

The canonical form is independent of the Keras version, so that Keras 2 and Keras 3 build the same model, whichever
wrote the file. It leaves out names, initializers, regularizers and dropout, which would reveal how a model was
trained:

* `{"format": "layers", "input_shape": [...], "layers": [{"class_name", "config"}, ...]}`, a Sequential model,
* `{"format": "graph", "input_shape": [...], "layers": [{"class_name", "config", "inputs"}, ...]}`, a
  functional model: `inputs` are positions in `layers`, with -1 for the model's input; the output of the last layer is
  that of the model.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.format.files import kind, read_json
from harness.format.graph import inbound_names, keras_order, single_name
from harness.format.layers import neutral_layer
from harness.format.layout import CONFIG


@dataclass(frozen=True)
class Architecture:
    """The architecture of a model, without its weights.

    Attributes:
        file: the config.json it was read from.
        canonical: the canonical form described above.
        names: the names of the layers of `canonical` in config.json; None for layers without a name.
        file_order: positions in `canonical` in the order of config.json, which weight files follow.
    """

    file: Path
    canonical: dict[str, Any]
    names: tuple[str | None, ...]
    file_order: tuple[int, ...]

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one input, without the batch axis."""
        return tuple(self.canonical["input_shape"])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical form."""
        return hashlib.sha256(json.dumps(self.canonical, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class LayerShapes:
    """The weights of one layer: (name, shape) of each, in the order of `get_weights()`."""

    class_name: str
    weights: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class ModelShapes:
    """The layers of an architecture, and the shape of its output without the batch axis."""

    layers: tuple[LayerShapes, ...]
    output_shape: tuple[int, ...]

    @property
    def n_parameters(self) -> int:
        """Number of all weights, trained or not."""
        return sum(math.prod(shape) for layer in self.layers for _, shape in layer.weights)


def read_architecture(model: Path) -> Architecture:
    """Read the config.json of a model's directory: the competition's list of layers or Keras' own JSON.

    Raises:
        UserError: the file is missing or malformed, or a layer is not supported.
    """
    file = model / CONFIG
    content = read_json(file)
    with _at(file):
        try:
            if "model_config" in content:
                return _from_layer_list(file, content)
            if content.get("class_name") == "Sequential":
                return _from_sequential(file, content)
            if content.get("class_name") in ("Functional", "Model"):
                return _from_functional(file, content["config"])
        except (LookupError, TypeError, AttributeError) as error:  # edited by hand
            raise UserError("malformed", expected="JSON written by Keras", found=repr(error)) from error
        raise UserError(
            "no architecture", expected='"model_config" and "input_shape", or the output of Keras\' to_json()',
            found=f"the keys {', '.join(content) or 'none'}",
        )  # fmt: skip


@contextmanager
def _at(where: Path | str) -> Iterator[None]:
    """Add a file or position to the message of a `UserError`."""
    try:
        yield
    except UserError as error:
        raise UserError(str(error), file=where) from error


def _from_layer_list(file: Path, content: Mapping[str, Any]) -> Architecture:
    definitions = content["model_config"]
    if not isinstance(definitions, list):
        raise UserError("model_config", expected="a list of layers", found=kind(definitions))
    layers: list[tuple[str | None, dict[str, Any] | None]] = []
    for position, definition in enumerate(definitions):
        where = f"model_config[{position}]"
        if not isinstance(definition, dict) or "layer_name" not in definition:
            raise UserError(where, expected='an object with "layer_name"', found=repr(definition))
        settings = {name: value for name, value in definition.items() if name != "layer_name"}
        if definition["layer_name"] != "InputLayer":
            with _at(where):
                layers.append((None, neutral_layer(definition["layer_name"], settings)))
    return _sequential(file, content.get("input_shape"), layers)


def _from_sequential(file: Path, content: Mapping[str, Any]) -> Architecture:
    config = content["config"]
    shapes = [content.get("build_config", {}).get("input_shape"), config.get("build_input_shape")]
    layers = []
    for position, layer in enumerate(config["layers"]):
        shapes.append(_batch_shape(layer))
        if layer["class_name"] != "InputLayer":
            name = layer["config"].get("name")
            with _at(f"layers[{position}] ({name})"):
                layers.append((name, neutral_layer(layer["class_name"], layer["config"], layer.get("module"))))
    shape = next((shape for shape in shapes if shape), [None])
    return _sequential(file, shape[1:], layers)


def _sequential(file: Path, shape: Any, layers: list[tuple[str | None, dict[str, Any] | None]]) -> Architecture:
    kept = [(name, layer) for name, layer in layers if layer is not None]
    if not kept:
        raise UserError("layers", expected="at least one", found="none")
    canonical = {
        "format": "layers",
        "input_shape": _input_shape(shape),
        "layers": [layer for _, layer in kept],
    }
    return Architecture(file, canonical, tuple(name for name, _ in kept), tuple(range(len(kept))))


def _from_functional(file: Path, config: Mapping[str, Any]) -> Architecture:
    layers = {layer["name"]: layer for layer in config["layers"]}
    source = single_name(config["input_layers"], "input")
    neutral: dict[str, dict[str, Any]] = {}
    inputs: dict[str, list[str]] = {source: []}
    resolved = {source: source}  # layer -> itself, or the input of a layer that is left out
    for name, layer in layers.items():
        if name == source:
            continue
        with _at(f"layer {name}"):
            feeding = inbound_names(layer)
            if not feeding or any(other not in layers for other in feeding):
                raise UserError("inbound_nodes", expected="names of layers", found=", ".join(feeding) or "none")
            kept = neutral_layer(layer["class_name"], layer["config"], layer.get("module"))
        if kept is None:
            resolved[name] = feeding[0]
        else:
            neutral[name], inputs[name], resolved[name] = kept, feeding, name

    def resolve(name: str) -> str:
        return name if resolved[name] == name else resolve(resolved[name])

    inputs = {name: [resolve(other) for other in feeding] for name, feeding in inputs.items()}
    order = keras_order(inputs, resolve(single_name(config["output_layers"], "output")))[1:]  # without the input
    position = {source: -1, **{name: i for i, name in enumerate(order)}}
    graph = [{**neutral[name], "inputs": [position[other] for other in inputs[name]]} for name in order]
    shape = _batch_shape(layers[source]) or [None]
    if not order:
        raise UserError("layers", expected="at least one", found="none")
    canonical = {"format": "graph", "input_shape": _input_shape(shape[1:]), "layers": graph}
    file_order = tuple(position[name] for name in layers if position.get(name, -1) >= 0)
    return Architecture(file, canonical, tuple(order), file_order)


def _batch_shape(layer: Mapping[str, Any]) -> Any:
    """Return the shape of the layer's input with the batch axis, if Keras 2 or Keras 3 stored it."""
    return layer["config"].get("batch_shape") or layer["config"].get("batch_input_shape")


def _input_shape(shape: Any) -> list[int]:
    numbers = shape if isinstance(shape, list) else []
    integral = [int(n) for n in numbers if isinstance(n, int | float) and 0 < n < math.inf and n == int(n)]
    if not integral or len(integral) < len(numbers):
        found = "none" if shape is None else shape
        expected = "a list of positive integers, without the batch axis"
        raise UserError("input_shape", expected=expected, found=found)
    return integral


def write_config(path: Path, content: Mapping[str, Any]) -> None:
    """Write a config.json: the result of `layer_list`, or Keras' own JSON."""
    path.write_text(json.dumps(content, indent=1))


def layer_list(layers: Sequence[Mapping[str, Any]], input_shape: Sequence[int]) -> dict[str, Any]:
    """Return the content of config.json for layers without branches, in the competition's format."""
    return {"model_config": [dict(layer) for layer in layers], "input_shape": list(input_shape)}
