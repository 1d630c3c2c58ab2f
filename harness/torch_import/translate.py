"""Translates an exported network of PyTorch into a plain Keras model, operation by operation."""

import operator
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.errors import UserError
from harness.format.inbound import INPUT
from harness.text import printable
from harness.torch_import.constants import MAKING, ON_CONSTANTS, computed
from harness.torch_import.keras_config import KerasModel, keras_model
from harness.torch_import.network import TranslatedNetwork
from harness.torch_import.pt2 import TYPES, ArgumentReference, Graph, GraphOperation
from harness.torch_import.registry import BY_HAND, UntranslatableError, translations
from harness.torch_import.values import Value, ValueAxis, group_of

#: Operations whose result is their first argument.
_IDLE = {"_to_copy", "alias", "clone", "contiguous", "detach", "lift_fresh_copy", "requires_grad", "to", "type_as"}

#: Operations that only check sizes.
_CHECKS = {"_assert_tensor_metadata", "_assert_scalar", "_assert_async", "sym_constrain_range_for_size"}

#: Name of an operator of Python on sizes -> function.
_ON_SIZES: dict[str, Callable[..., Any]] = {
    name: getattr(operator, name)
    for name in ("add", "sub", "mul", "floordiv", "mod", "neg", "eq", "ne", "lt", "le", "gt", "ge", "truediv")
}

#: Operations with trained weights. Each becomes a layer, so two of them may not share a weight.
_WITH_WEIGHTS = {"conv1d", "conv2d", "conv3d", "linear", "batch_norm", "layer_norm", "group_norm", "prelu"}


@dataclass(frozen=True)
class Translation:
    """A translated network: the Keras model, and its relation to PyTorch's graph."""

    model: KerasModel
    values: Mapping[str, Value]  #: name of a result in the graph -> the layer that computes it, and its axes
    paths: Mapping[str, str]  #: name of a result in the graph -> its module and operation, for messages


def translate(graph: Graph) -> Translation:
    """Translate PyTorch's graph into Keras layers; raises `UserError` for unknown operations and shared weights."""
    _require_own_weights(graph)
    translator = _Translator(graph)
    for operation in graph.operations:
        translator.run(operation)
    output = translator.output()
    model = keras_model(translator.network.layers, output, graph.input_shape, graph.file)
    values = {name: value for name, value in translator.values.items() if isinstance(value, Value)}
    return Translation(model, values, translator.paths)


def is_translated(operation: GraphOperation) -> bool:
    """Whether `translate` knows an operation; it may refuse some arguments."""
    name = operation.name.removesuffix("_")
    if not operation.target.startswith("aten."):
        return operation.target.startswith("_operator.") and name in _ON_SIZES
    return name in {*translations(), *_IDLE, *_CHECKS, *ON_CONSTANTS, "sym_size"} or operation.name in _CHECKS


def _require_own_weights(graph: Graph) -> None:
    uses = Counter(
        argument.name
        for operation in graph.operations if operation.name in _WITH_WEIGHTS
        for argument in operation.arguments.values() if isinstance(argument, ArgumentReference)
    )  # fmt: skip
    shared = next((name for name, count in uses.items() if count > 1 and name in graph.parameters), None)
    if shared is not None:
        found, remedy = printable(graph.parameters[shared]), "copy.deepcopy the module for its second use"
        raise UserError("weights", file=graph.file, expected="each in one layer", found=f"{found} in several",
                        remedy=remedy)  # fmt: skip


@dataclass
class _Translator:
    graph: Graph
    network: TranslatedNetwork = field(default_factory=TranslatedNetwork)
    values: dict[str, Any] = field(default_factory=dict)  #: name of a result -> array, `Value` or size
    paths: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        batch, *shape = self.graph.input_shape
        groups = [group_of(size) for size in shape]
        stored = (*groups[1:], *groups[:1])  # tasks have the channels last
        view = ((ValueAxis(batch, is_batch=True),), *groups)
        self.values = {**self.graph.tensors, self.graph.input: Value(INPUT, stored, view)}

    def run(self, operation: GraphOperation) -> None:
        if operation.name in _CHECKS:
            return
        self.network.path = operation.path
        try:
            found = self._result(operation, operation.called_with(self.values))
            self._keep(operation, found)
        except UntranslatableError as error:
            raise self._refusal(operation, str(error), error.remedy) from error
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
            raise self._refusal(operation, f"has arguments that are not supported: {error}") from error

    def _result(self, operation: GraphOperation, arguments: Mapping[str, Any]) -> Any:
        name = operation.name.removesuffix("_")
        given = list(arguments.values())
        if not is_translated(operation):
            raise UntranslatableError("has no translation")
        if not operation.target.startswith("aten."):
            return _ON_SIZES[name](*given)
        if name == "sym_size":
            return given[0].shape[given[1]]
        if name in _IDLE:
            kind = (dtype := arguments.get("dtype")) and TYPES.get(dtype)
            if isinstance(given[0], np.ndarray | np.generic):
                return np.array(given[0], kind)
            if kind and "float" not in kind:
                raise UntranslatableError(f"converts a computed value to {kind}")
            return given[0]
        others = dict(list(arguments.items())[1:])
        operands = [one for argument in given for one in (argument if isinstance(argument, list) else [argument])]
        if name in MAKING or not any(isinstance(one, Value) for one in operands):
            return computed(name, given[0], others)
        if (function := translations().get(name)) is None:
            raise UntranslatableError("has a translation only for constants")
        return function(self.network, given[0], **others)

    def _keep(self, operation: GraphOperation, found: Any) -> None:
        """Store the results of an operation. An in-place operation also replaces its first argument."""
        for name, result in operation.named(found):
            self.values[name] = result
            self.paths[name] = _place(operation)
        if not operation.name.endswith("_"):
            return
        target = next(iter(operation.arguments.values()))
        before = self.values[target.name]
        if isinstance(before, np.ndarray) and isinstance(found, np.ndarray):
            before[...] = found  # in place: views of the array change, too
        else:
            self.values[target.name] = found

    def output(self) -> int:
        """Return the number of the output's layer; raises `UserError` unless the output is (batch, classes)."""
        value = self.values.get(self.graph.output)
        self.network.path = ""
        try:
            if isinstance(value, Value) and len(value.view) == 2 and value.view[0]:
                return self.network.source(self.network.stored_as(value, (value.view[1],)))
        except UntranslatableError:
            pass
        expected, found = "a number for each class, shape (examples, classes)", getattr(value, "shape", "a constant")
        raise UserError("output", file=self.graph.file, expected=expected, found=f"shape {found}")

    def _refusal(self, operation: GraphOperation, reason: str, remedy: str = BY_HAND) -> UserError:
        found = f"{_place(operation)}: {operation.target} {printable(reason)[:300]}"
        return UserError("operation", file=self.graph.file, expected="one that is translated", found=found,
                         remedy=remedy)  # fmt: skip


def _place(operation: GraphOperation) -> str:
    return f"{printable(operation.path) or 'the outermost forward'} ({operation.name})"
