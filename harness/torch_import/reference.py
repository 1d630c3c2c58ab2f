"""The program that runs an exported network in PyTorch, for comparison with its translation.

A question is `{"file": PT2, "inputs": NPY, "names": [NAME, ...] or null, "output": NPZ}`. The inputs have the channels
last. The program writes the results of the operations `names`, in this order, to the file `output`; for null, it writes
the network's outputs. With names, there must be as many inputs as at the export. The answer is empty.

The file is not trusted: the program calls only operations that `translate` can translate.
"""

import operator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness.processes.models import Answer, Question, faults_of_the_model, of_models
from harness.torch_import.pt2 import TYPES, Graph, GraphOperation, read_pt2
from harness.torch_import.translate import is_translated
from harness.worker.runtimes import Runtime


def answer(_: Runtime, question: Question) -> Answer:
    """Answer a question. The network runs on batches of the size that was used for the export."""
    import torch

    graph, inputs = read_pt2(Path(question["file"])), np.load(question["inputs"])
    if inputs.ndim > 2:
        inputs = np.ascontiguousarray(np.moveaxis(inputs, -1, 1))
    size = graph.input_shape[0]
    names = [graph.output] if question["names"] is None else question["names"]
    found: list[list[Any]] = [[] for _ in names]
    with faults_of_the_model(), torch.inference_mode():
        for start in range(0, len(inputs), size):
            batch = inputs[start : start + size]
            full = np.concatenate([batch, np.repeat(batch[-1:], size - len(batch), axis=0)])
            values = _results(graph, torch.from_numpy(full))
            for parts, name in zip(found, names, strict=True):
                parts.append(values[name].numpy())
    whole = [np.concatenate(parts) for parts in found]
    np.savez(question["output"], *([whole[0][: len(inputs)]] if question["names"] is None else whole))
    return {}


def _results(graph: Graph, inputs: Any) -> dict[str, Any]:
    import torch

    values = {name: torch.from_numpy(array) for name, array in graph.tensors.items()} | {graph.input: inputs}
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
