"""Turns the layers to which a PyTorch network was translated into a functional Keras model: JSON and arrays."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.format.architecture import Architecture, parse_architecture
from harness.format.inbound import INPUT, NAMED_INPUTS
from harness.format.weights import write_worker_weights
from harness.format.writer import VERSION
from harness.torch_import.network import TranslatedLayer
from harness.torch_import.pt2 import Array

#: The version of Keras in whose format the layers are written.
_VERSION = "3.8.0"

_INPUT_NAME = "input"


@dataclass(frozen=True)
class KerasModel:
    """A Keras model that was translated from a network of PyTorch."""

    file: Path  #: the `.pt2` file, for messages
    config: dict[str, Any]  #: the content of config.json, as Keras writes it
    weights: Mapping[str, tuple[Array, ...]]  #: name of a layer -> its weights in the order of `get_weights()`
    names: Mapping[int, str]  #: number of a layer -> its name, for the layers that lead to the output

    @cached_property
    def architecture(self) -> Architecture:
        """The architecture in the form that workers read."""
        return parse_architecture(self.config, self.file)

    def write_canonical(self, directory: Path, archive: str) -> None:
        """Write the files that a worker reads: architecture.json, and the weights in a file `archive` beside it."""
        directory.mkdir(exist_ok=True)
        (directory / "architecture.json").write_text(json.dumps(self.architecture.canonical), encoding="utf-8")
        arrays = [array for name in self.architecture.names for array in self.weights[str(name)]]
        write_worker_weights(directory / archive, arrays)


def keras_model(layers: Sequence[TranslatedLayer], output: int, input_shape: Sequence[int], file: Path) -> KerasModel:
    """Return the model whose output is layer number `output`; `input_shape` is (batch, channels, *spatial axes)."""
    if output == INPUT:
        raise UserError("layers", file=file, expected="at least one", found="none")
    needed = _leading_to(output, layers)
    names = {INPUT: _INPUT_NAME} | _names(needed, layers)
    shape = [*input_shape[2:], input_shape[1]]
    source = {"class_name": "InputLayer", "name": _INPUT_NAME, "inbound_nodes": [],
              "config": {"name": _INPUT_NAME, "batch_shape": [None, *shape], "dtype": "float32"}}  # fmt: skip
    config = {
        "name": "translated", "layers": [source, *(_entry(layers[number], names, number) for number in needed)],
        "input_layers": [[_INPUT_NAME, 0, 0]], "output_layers": [[names[output], 0, 0]],
    }  # fmt: skip
    content = {VERSION: _VERSION, "module": "keras", "class_name": "Functional", "config": config}
    weights = {names[number]: layers[number].weights for number in needed}
    return KerasModel(file, content, weights, names)


def _leading_to(output: int, layers: Sequence[TranslatedLayer]) -> list[int]:
    needed, pending = set[int](), [output]
    while pending:
        number = pending.pop()
        if number != INPUT and number not in needed:
            needed.add(number)
            pending += layers[number].sources
    return sorted(needed)


def _names(numbers: Sequence[int], layers: Sequence[TranslatedLayer]) -> dict[int, str]:
    """Return number of a layer -> name.

    If a module has a single layer, or a single layer with weights, this layer has the module's name.
    """
    uses = Counter(layers[number].path for number in numbers)
    weighty = Counter(layers[number].path for number in numbers if layers[number].weights)
    found: dict[int, str] = {}
    taken = {_INPUT_NAME}
    for number in numbers:
        layer = layers[number]
        is_main = 1 in (uses[layer.path], weighty[layer.path] * bool(layer.weights))
        base = layer.path if layer.path and is_main else f"{layer.path}.{layer.class_name}".strip(".")
        name, count = base, 1
        while name in taken:
            count += 1
            name = f"{base}_{count}"
        taken.add(name)
        found[number] = name
    return found


def _entry(layer: TranslatedLayer, names: Mapping[int, str], number: int) -> dict[str, Any]:
    keywords = {name: [names[source], 0, 0] for name, source in layer.keywords.items()}
    call = [[names[source], 0, 0, keywords if layer.class_name in NAMED_INPUTS else {}] for source in layer.inputs]
    return {
        "module": "keras.layers", "class_name": layer.class_name, "name": names[number],
        "config": {"name": names[number], **layer.config}, "inbound_nodes": [call], "registered_name": None,
    }  # fmt: skip
