"""Computes measures on a network of PyTorch in another process, after translating the network to Keras.

The measures need TensorFlow, whose import may crash a process that uses PyTorch.
"""

import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from harness.api.torch_data import arrays_of, named_in_errors
from harness.importer.data import write_arrays
from harness.processes import Process
from harness.processes.runtimes import require_tensorflow
from harness.torch_import.check import EXAMPLES, OutputComparison
from harness.torch_import.export import Exporter
from harness.torch_import.pt2 import read_pt2
from harness.torch_import.translate import translate


def is_module(model: Any) -> bool:
    """Whether a model is a `torch.nn.Module` and not a Keras model. The check does not import PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module) and not hasattr(model, "get_weights")


def measures_of_module(module: Any, data: Any, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of `pgdl.measures` for a module. Its attribute `initial_weights`, a `state_dict`, is optional.

    Raise `UserError` if the module cannot be translated to Keras, or if the data do not fit it.
    """
    arrays = arrays_of(data, "data")
    runtime = require_tensorflow("the measures need TensorFlow")
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pgdl-")))
        stack.enter_context(named_in_errors(str(place)))
        exporter = Exporter(module, "model", lambda _: None)
        file, before, model = place / "model", place / "model.initial_weights", place / "canonical"
        expected = exporter.outputs(arrays.inputs[:EXAMPLES])
        exporter.write(file, arrays.inputs)
        translated = translate(read_pt2(file)).model
        translated.write_canonical(model, "weights.npz")
        if (initial := getattr(module, "initial_weights", None)) is not None:
            exporter.write(before, arrays.inputs, initial)
            translate(read_pt2(before)).model.write_canonical(model, "initial_weights.npz")
        shape = translated.architecture.input_shape
        write_arrays(arrays.channels_last, place / "data", shape, expected.shape[1], 1.0)
        process = stack.enter_context(Process("harness.api.measuring", runtime, own_data=True))
        comparison = stack.enter_context(OutputComparison(process))
        inputs = np.array(np.load(place / "data" / "inputs.npy", mmap_mode="r")[:EXAMPLES])
        comparison.require_same(file, model, inputs, expected)
        question = {"model": str(model), "data": str(place / "data"), "measures": list(names)}
        rows: list[dict[str, Any]] = process.ask(question)["rows"]
    return rows
