"""The program that runs an exported network in PyTorch, for comparison with its translation.

A question (a request to the program) is `{"file": PT2, "inputs": NPY, "by_layer": BOOLEAN, "output": NPZ}`. The inputs
have the channels last. The program writes the network's outputs to the file `output`, and the answer is empty.

If `by_layer` is true, the network runs on the first input. For each result in the graph that a layer of the translation
computes, the program writes an array: PyTorch's numbers, with the layer's order of axes. The arrays have the order of
the graph's operations. The answer has two lists with an entry for each array: `layers`, the layer's number, and
`paths`, the operation's place in the module.

The file is not trusted: the program calls only operations that `translate` can translate.
"""

import operator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness.processes.models import Answer, Question, faults_of_the_model, of_models
from harness.torch_import.pt2 import TYPES, Array, Graph, GraphOperation, read_pt2
from harness.torch_import.translate import is_translated, translate
from harness.torch_import.values import Value, arranged, flat
from harness.worker.runtimes import Runtime


def answer(_: Runtime, question: Question) -> Answer:
    """Answer a question. The network runs on batches of the size that was used for the export."""
    import torch

    graph, inputs = read_pt2(Path(question["file"])), np.load(question["inputs"])
    if inputs.ndim > 2:
        inputs = np.ascontiguousarray(np.moveaxis(inputs, -1, 1))
    size = graph.input_shape[0]
    with faults_of_the_model(), torch.inference_mode():
        if question["by_layer"]:
            arrays, compared = _by_layer(graph, _results(graph, inputs[:1]))
        else:
            parts = [_results(graph, inputs[n : n + size])[graph.output].numpy() for n in range(0, len(inputs), size)]
            arrays, compared = [np.concatenate(parts)[: len(inputs)]], {}
    np.savez(question["output"], *arrays)
    return compared


def _by_layer(graph: Graph, results: Mapping[str, Any]) -> tuple[list[Array], Answer]:
    translation = translate(graph)
    names = translation.model.names
    numbers = {name: number for number, name in enumerate(translation.model.architecture.names)}
    arrays: list[Array] = []
    compared: Answer = {"layers": [], "paths": []}
    for name, path in translation.paths.items():
        value = translation.values.get(name)
        if value is None or not isinstance(value.source, int) or names.get(value.source) not in numbers:
            continue
        if (stored := _as_stored(results[name].numpy(), value)) is not None:
            arrays.append(stored)
            compared["layers"].append(numbers[names[value.source]])
            compared["paths"].append(path)
    return arrays, compared


def _as_stored(array: Array, value: Value) -> Array | None:
    """Return the first example in a result, with the axes in the layer's order; None if the layer has other axes."""
    axes = flat(value.view)
    batch = [axis for axis in axes if axis.is_batch]
    if value.fixed or not batch or {*axes} - {*batch} != {*flat(value.stored)}:
        return None
    return np.asarray(arranged(array, axes, (*batch, *flat(value.stored)))[0])


def _results(graph: Graph, inputs: Array) -> dict[str, Any]:
    """Return name -> result of each operation. The last input is repeated up to the batch size of the export."""
    import torch

    full = np.concatenate([inputs, np.repeat(inputs[-1:], graph.input_shape[0] - len(inputs), axis=0)])
    values = {name: torch.from_numpy(array) for name, array in graph.tensors.items()}
    values[graph.input] = torch.from_numpy(full)
    for operation in graph.operations:
        values |= operation.named(_call(operation, values))
    return values


def _call(operation: GraphOperation, values: Mapping[str, Any]) -> Any:
    import torch

    arguments = operation.called_with(values)
    namespace, name, *overload = operation.target.split(".")
    if not is_translated(operation):
        raise ValueError(f"{operation.target} is not called")
    if namespace != "aten":
        return getattr(operator, name)(*arguments.values())
    function = getattr(getattr(torch.ops.aten, name), *overload or ["default"])
    if "dtype" in arguments:
        kind = TYPES.get(arguments["dtype"])
        arguments["dtype"] = kind and getattr(torch, kind)
    positional = [arguments.pop(one.name) for one in function._schema.arguments[:1] if one.name in arguments]
    return function(*positional, **arguments)


prepare = of_models(answer)
