"""Exports a module of PyTorch as a `.pt2` file, in the process of the user's program."""

import copy
import io
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import UserError
from harness.torch_import.pt2 import Array

#: Number of examples with which a module is exported. The exported network takes any number.
SAMPLE = 2

_BY_HAND = "write its forward without a decision on the data, or build it by hand (pgdl help your-own-models)"


class Exporter:
    """Exports a copy of a `torch.nn.Module`, on the CPU and in evaluation mode; the module itself stays unchanged.

    `name` is the module's name in messages. `tell` receives a note if the module is in training mode. Raises
    `UserError` if `module` has another type, or if a weight is not float32 or not finite.
    """

    def __init__(self, module: Any, name: str, tell: Callable[[str], None]) -> None:
        import torch

        if not isinstance(module, torch.nn.Module):
            raise UserError(name, expected="a torch.nn.Module", found=type(module).__name__)
        tensors = [*module.parameters(), *module.buffers()]
        other = next((one.dtype for one in tensors if one.is_floating_point() and one.dtype != torch.float32), None)
        if other is not None:
            raise UserError(name, expected="weights in float32", found=other, remedy="convert it: module.float()")
        named = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        bad = next((key for key, tensor in named.items() if not tensor.isfinite().all()), None)
        if bad is not None:
            raise UserError(f"{name}: {bad}", expected="finite numbers", found="NaN or infinity")
        if module.training:
            tell(f"Note: {name} is in training mode: it is exported in evaluation mode")
        self._name = name
        self._module = copy.deepcopy(module).cpu().eval()

    def outputs(self, inputs: Array) -> Array:
        """Call the module on inputs (n, ...) in the form that it takes, and return its outputs (n, classes).

        Raise `UserError` if the module fails, or returns anything else.
        """
        import torch

        try:
            with torch.inference_mode():
                found = self._module(torch.from_numpy(np.ascontiguousarray(inputs, np.float32)))
        except Exception as error:  # the user's code may raise any error
            what = f"{self._name}: cannot be called on inputs of shape {inputs.shape}"
            raise UserError(what, found=_line(f"{type(error).__name__}: {error}")) from error
        if not isinstance(found, torch.Tensor) or found.ndim != 2:
            shape = f"a tensor of shape {tuple(found.shape)}" if hasattr(found, "shape") else type(found).__name__
            remedy = "wrap the module in one that returns the logits alone"
            expected = "one tensor (examples, classes)"
            raise UserError(f"{self._name}: output", expected=expected, found=shape, remedy=remedy)
        return np.asarray(found.numpy())

    def write(self, file: Path, inputs: Array, state: Mapping[str, Any] | None = None) -> None:
        """Write the exported module to a `.pt2` file; raises `UserError` with PyTorch's reason if the export fails.

        `inputs` are examples (n, ...) in the form that the module takes. `state`, a `state_dict`, replaces the weights.
        """
        import torch

        module = self._module
        if state is not None:
            module = copy.deepcopy(module)
            try:
                module.load_state_dict(dict(state))
            except (RuntimeError, TypeError, ValueError) as error:
                what, expected = f"{self._name}: initial weights", "a state_dict of the module"
                reason = str(error).partition("state_dict for ")[2].partition("\n")[2] or str(error)
                raise UserError(what, expected=expected, found=_line(reason)) from error
        sample = torch.from_numpy(np.ascontiguousarray(inputs[:SAMPLE], np.float32))
        try:
            with _silence():
                program = torch.export.export(module, (sample,))
                with file.open("wb") as stream:  # given a path, PyTorch requires the suffix .pt2
                    torch.export.save(program, stream)
        except Exception as error:  # tracing the user's code may raise any error
            remedy = _BY_HAND if "data-dependent" in str(error) else None
            what, found = f"{self._name}: torch.export cannot export it", _line(str(error))
            raise UserError(what, found=found, remedy=remedy) from error


@contextmanager
def _silence() -> Iterator[None]:
    """Keep PyTorch from printing and logging within the context; PyTorch's log ignores redirected streams."""
    before = logging.root.manager.disable
    logging.disable()
    try:
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _line(text: str) -> str:
    """Return the first line of PyTorch's error message, and the line of the user's code that it names, if any."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    places = [line for line in lines if line.startswith("File ") and "/site-packages/torch/" not in line]
    return " ".join([*lines[:1], *places[-1:]])[:400]
