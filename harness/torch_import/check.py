"""Checks that a translated network computes the same outputs as the network in PyTorch."""

import tempfile
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import UserError
from harness.processes import NoAnswerError, Process, cannot_be_run
from harness.processes.models import Question
from harness.torch_import.pt2 import Array, read_pt2
from harness.torch_import.translate import translate
from harness.torch_import.values import Value, arranged, flat
from harness.worker.runtimes import RUNTIMES

#: Number of compared examples, and largest allowed difference of outputs as a fraction of their range of values.
EXAMPLES, TOLERANCE = 64, 1e-4


def can_run_torch() -> bool:
    """Whether PyTorch is installed."""
    return not RUNTIMES["torch"].missing()


class OutputComparison(AbstractContextManager["OutputComparison"]):
    """Compares the outputs of translated networks with the outputs of the originals in PyTorch.

    The translations run in the process `keras` (program `harness.processes.accuracies`). The originals run in another
    process, which ends with the context.
    """

    def __init__(self, keras: Process) -> None:
        self._keras, self._stack = keras, ExitStack()

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def require_same(self, file: Path, model: Path, inputs: Array, expected: Array | None) -> float:
        """Return the largest difference of both networks' outputs, as a fraction of the range of PyTorch's outputs.

        `file` is the `.pt2` file, `model` the directory of its translation in canonical form, and `inputs` are examples
        (n, ...) with the channels last. `expected` are PyTorch's outputs (n, classes); for None, PyTorch computes them.
        Raises `UserError` if PyTorch's outputs are not finite. If the difference exceeds `TOLERANCE`, raises a
        `UserError` that names the first operation whose result differs.
        """
        if expected is None:
            (expected,) = self._of_torch(file, inputs, None)
        if not np.isfinite(expected).all():
            raise UserError("outputs of the network", expected="finite numbers", found="NaN or infinity")
        (found,) = self._of_keras(model, inputs, None)
        spread = float(np.ptp(expected)) or 1.0
        differences = np.abs(found - expected).reshape(len(inputs), -1).max(axis=1) / spread
        worst = int(np.argmax(np.where(np.isfinite(differences), differences, np.inf)))
        if differences[worst] <= TOLERANCE:
            return float(differences[worst])
        raise self._first_difference(file, model, inputs[worst : worst + 1], differences[worst])

    def _first_difference(self, file: Path, model: Path, example: Array, difference: np.floating[Any]) -> UserError:
        """Return an error that names the first operation whose result for `example` (1, ...) differs."""
        graph = read_pt2(file)
        translation = translate(graph)
        inputs = np.repeat(example, graph.input_shape[0], axis=0)
        architecture, names = translation.model.architecture, translation.model.names
        places = {name: place for place, name in enumerate(architecture.names)}
        order = {name: (value, places[names[value.source]]) for name, value in translation.values.items()
                 if isinstance(value.source, int) and names.get(value.source) in places}  # fmt: skip
        theirs = self._of_torch(file, inputs, list(order))
        ours = self._of_keras(model, inputs, [place for _, place in order.values()])
        for (name, (value, _)), expected, found in zip(order.items(), theirs, ours, strict=True):
            stored = _as_stored(expected, value)
            if stored is None or stored.size != found.size:
                continue
            apart = np.abs(stored.reshape(-1) - found.reshape(-1))
            place = int(np.argmax(apart))
            if not apart[place] <= TOLERANCE * (float(np.ptp(stored)) or 1.0):
                numbers = f"{found.reshape(-1)[place]:.6g} in Keras, {stored.reshape(-1)[place]:.6g} in PyTorch"
                where = translation.paths[name]
                return UserError(f"first differs at {where}", expected="the same numbers", found=numbers)
        most = f"a difference from PyTorch's of at most {TOLERANCE:g} of their range"
        remedy = "does the module draw random numbers?"
        return UserError("outputs", expected=most, found=f"{difference:.2g}", remedy=remedy)

    @cached_property
    def _torch(self) -> Process:
        return self._stack.enter_context(Process("harness.torch_import.reference", RUNTIMES["torch"]))

    def _of_torch(self, file: Path, inputs: Array, names: list[str] | None) -> list[Array]:
        return _asked(self._torch, inputs, {"file": str(file.absolute()), "names": names})

    def _of_keras(self, model: Path, inputs: Array, layers: list[int] | None) -> list[Array]:
        return _asked(self._keras, inputs, {"model": str(model), "data": [], "layers": layers})


def _asked(process: Process, inputs: Array, question: Question) -> list[Array]:
    """Send a process a question about `inputs`, and return the arrays of its answer; all arrays go through files."""
    with tempfile.TemporaryDirectory() as directory:
        given, made = Path(directory, "inputs.npy"), Path(directory, "outputs.npz")
        np.save(given, inputs)
        try:
            process.ask(question | {"inputs": str(given), "output": str(made)})
        except NoAnswerError as error:
            raise cannot_be_run(error) from error
        with np.load(made) as arrays:
            return [arrays[name] for name in arrays.files]


def _as_stored(array: Array, value: Value) -> Array | None:
    """Return PyTorch's result (batch, ...) with its axes in the layer's order; None if the layer has other axes."""
    axes = flat(value.view)
    if value.fixed or {axis for axis in axes if not axis.is_batch} != {*flat(value.stored)}:
        return None
    batch = [axis for axis in axes if axis.is_batch]
    return arranged(array, axes, (*batch, *flat(value.stored)))
