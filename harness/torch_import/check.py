"""Checks that a translated network computes the same outputs as the network in PyTorch."""

import tempfile
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import UserError
from harness.processes import NoAnswerError, Process, cannot_be_run
from harness.processes.models import Answer, Question
from harness.torch_import.pt2 import Array
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
        """Return the largest difference between the networks' outputs, as a fraction of the range of PyTorch's outputs.

        `file` is the `.pt2` file, `model` the directory of its translation, as a worker reads it, and `inputs` are
        examples (n, ...) with the channels last. `expected` are PyTorch's outputs (n, classes); for None, PyTorch
        computes them. Raises `UserError` if PyTorch's outputs are not finite. If the difference exceeds `TOLERANCE`,
        raises a `UserError` that names the first operation whose result differs.
        """
        if expected is None:
            (expected,), _ = self._of_torch(file, inputs)
        if not np.isfinite(expected).all():
            raise UserError("outputs of the network", expected="finite numbers", found="NaN or infinity")
        (found,), _ = self._of_keras(model, inputs, None)
        spread = float(np.ptp(expected)) or 1.0
        differences = np.abs(found - expected).reshape(len(inputs), -1).max(axis=1) / spread
        worst = int(np.argmax(np.where(np.isfinite(differences), differences, np.inf)))
        if differences[worst] <= TOLERANCE:
            return float(differences[worst])
        raise self._first_difference(file, model, inputs[worst : worst + 1], differences[worst])

    def _first_difference(self, file: Path, model: Path, example: Array, difference: np.floating[Any]) -> UserError:
        """Return an error that names the first operation whose result for `example` (1, ...) differs."""
        theirs, compared = self._of_torch(file, example, by_layer=True)
        ours, _ = self._of_keras(model, example, compared["layers"])
        for where, expected, found in zip(compared["paths"], theirs, ours, strict=True):
            if expected.size != found.size:
                continue
            apart = np.abs(expected.reshape(-1) - found.reshape(-1))
            place = int(np.argmax(apart))
            if not apart[place] <= TOLERANCE * (float(np.ptp(expected)) or 1.0):
                numbers = f"{found.reshape(-1)[place]:.6g} in Keras, {expected.reshape(-1)[place]:.6g} in PyTorch"
                return UserError(f"first differs at {where}", expected="the same numbers", found=numbers)
        most = f"a difference from PyTorch's of at most {TOLERANCE:g} of their range"
        remedy = "does the module draw random numbers?"
        return UserError("outputs", expected=most, found=f"{difference:.2g}", remedy=remedy)

    @cached_property
    def _torch(self) -> Process:
        return self._stack.enter_context(Process("harness.torch_import.reference", RUNTIMES["torch"]))

    def _of_torch(self, file: Path, inputs: Array, *, by_layer: bool = False) -> tuple[list[Array], Answer]:
        return _ask(self._torch, inputs, {"file": str(file.absolute()), "by_layer": by_layer})

    def _of_keras(self, model: Path, inputs: Array, layers: list[int] | None) -> tuple[list[Array], Answer]:
        return _ask(self._keras, inputs, {"model": str(model), "data": [], "layers": layers})


def _ask(process: Process, inputs: Array, question: Question) -> tuple[list[Array], Answer]:
    """Send a process a question about `inputs`. Return the arrays that it wrote into a file, and its answer."""
    with tempfile.TemporaryDirectory() as directory:
        given, made = Path(directory, "inputs.npy"), Path(directory, "outputs.npz")
        np.save(given, inputs)
        try:
            answer = process.ask(question | {"inputs": str(given), "output": str(made)})
        except NoAnswerError as error:
            raise cannot_be_run(error) from error
        with np.load(made) as arrays:
            return [arrays[name] for name in arrays.files], answer
