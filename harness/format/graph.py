"""Keras' own JSON of a functional model: the graph of the layers, and the order in which Keras lists them."""

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from harness.errors import UserError


def single_name(reference: Any, role: str) -> str:
    """Return the layer's name in `input_layers` or `output_layers`: [name, 0, 0], possibly inside a list."""
    references = (
        [reference] if isinstance(reference, list) and reference and isinstance(reference[0], str) else reference
    )
    if not isinstance(references, list) or len(references) != 1:
        found = len(references) if isinstance(references, list) else repr(references)
        raise UserError(f"{role}s of the model", expected=f"exactly 1 {role}", found=found)
    return str(references[0][0])


def inbound_names(layer: Mapping[str, Any]) -> list[str]:
    """Names of the layers that feed `layer`, in order; empty for the input layer.

    Raises:
        UserError: the layer is called more than once, or with arguments other than outputs of layers.
    """
    nodes = layer.get("inbound_nodes", [])
    if len(nodes) > 1:
        raise UserError(
            "shared layer", expected="a layer that is called once", found=f"{len(nodes)} calls",
            remedy="models with shared layers are not supported",
        )  # fmt: skip
    if not nodes:
        return []
    if isinstance(nodes[0], dict):  # Keras 3
        tensors = _flatten(nodes[0].get("args", []))
        options = nodes[0].get("kwargs", {})
        names = [_tensor_name(tensor) for tensor in tensors]
    else:  # Keras 2
        options = {key: value for entry in nodes[0] if len(entry) > 3 for key, value in entry[3].items()}
        names = [str(entry[0]) for entry in nodes[0]]
    unusual = {
        key: value for key, value in options.items() if value is not None and (key, value) != ("training", False)
    }
    if unusual:
        raise UserError("call of the layer", expected="other layers' outputs only", found=f"also {unusual}")
    return names


def keras_order(inputs: Mapping[str, Sequence[str]], output: str) -> list[str]:
    """Return the order in which Keras 2 and Keras 3 list a functional model's layers, and hence their weights.

    Layers farther from the output (by the longest path) come first; ties are in the order in which a
    depth-first walk from the output visits them.

    Args:
        inputs: layer -> the layers that feed it.
        output: the layer whose output is that of the model.

    Raises:
        UserError: the layers form a cycle.
    """
    visited: dict[str, int] = {}
    pending = [output]
    while pending:
        layer = pending.pop()
        if layer not in visited:
            visited[layer] = len(visited)
            pending.extend(reversed(inputs[layer]))
    try:
        upstream_first = list(TopologicalSorter({layer: inputs[layer] for layer in visited}).static_order())
    except CycleError as error:
        raise UserError("graph of layers", expected="no cycle", found=" <- ".join(error.args[1])) from error
    distance = dict.fromkeys(visited, 0)
    for layer in reversed(upstream_first):
        for source in inputs[layer]:
            distance[source] = max(distance[source], distance[layer] + 1)
    return sorted(visited, key=lambda layer: (-distance[layer], visited[layer]))


def _flatten(arguments: Any) -> list[Any]:
    if not isinstance(arguments, list):
        return [arguments]
    return [item for argument in arguments for item in _flatten(argument)]


def _tensor_name(argument: Any) -> str:
    """Return the name of the layer that outputs `argument`."""
    if not isinstance(argument, dict) or argument.get("class_name") != "__keras_tensor__":
        raise UserError("call of the layer", expected="other layers' outputs only", found=f"also {argument!r}")
    return str(argument["config"]["keras_history"][0])
