"""Reads examples for models of Keras, and refuses models and examples that measures cannot use."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from baselines.core.requirements import require_labels
from baselines.core.sample import checked
from harness.errors import UserError
from harness.extras import extras_named
from harness.importer.data import classes_of
from harness.text import counted

#: Pattern of the message by which a measure refuses data or parameters. Any other `ValueError` is a bug.
REFUSAL = re.compile(r"\w+: .*\bexpected ")


@contextmanager
def refusals() -> Iterator[None]:
    """Return a context that turns a measure's refusal of data or parameters into a `UserError`."""
    try:
        yield
    except ValueError as error:
        if REFUSAL.match(str(error)):
            raise UserError(str(error)) from error
        raise


def dataset_of(model: Any, data: Any) -> Any:
    """Return the data as a `tf.data.Dataset` of single examples. Raise `UserError` for another kind of model or data.

    Arrays are checked here; examples of a dataset are checked when a measure reads them. TensorFlow is imported only
    for Keras models: importing torchvision after TensorFlow ends in a segmentation fault.
    """
    _require_model(model)
    with extras_named():
        import tensorflow as tf

    shape = tuple(model.input_shape[1:])
    if not (isinstance(data, tuple | list) and len(data) == 2):
        _require_pairs(data, shape)
        if int(data.cardinality()) == tf.data.INFINITE_CARDINALITY:
            raise UserError("data", expected="a dataset that ends", found="an infinite dataset")
        return _with_numbers(data)
    try:
        x, y = map(np.asarray, data)
        labels = classes_of(y, "data")
        if x.dtype.kind in "OSU":
            raise UserError("data", expected="inputs that are real numbers", found=x.dtype)
        dataset = tf.data.Dataset.from_tensor_slices((x, labels)) if x.shape[:1] == labels.shape else None
    except (TypeError, ValueError) as error:
        raise UserError("data", expected="arrays of numbers (x, y)", found=error) from error
    if dataset is None or not len(x):
        expected = "non-empty arrays (x, y) with a label for each example"
        raise UserError("data", expected=expected, found=f"shapes {x.shape} and {y.shape}")
    _require_pairs(dataset, shape)
    with refusals(), np.errstate(over="ignore"):  # numbers too large for float32 become infinite, and are refused
        checked(x, labels, 0)
        require_labels(labels, max(model.outputs[0].shape[-1], 2))  # a single output tells two classes apart
    return dataset


def _require_model(model: Any) -> None:
    found = type(model).__name__
    if not hasattr(model, "layers") or not hasattr(model, "get_weights"):
        raise UserError("model", expected="a Keras model or a torch.nn.Module", found=found)
    if not model.built:
        raise UserError("model: not built", found=found, remedy="begin it with keras.Input, or call it on an example")
    numbers = [len(getattr(model, name, None) or ()) for name in ("inputs", "outputs")]
    if numbers != [1, 1]:
        expected = "a sequential or functional model with one input and one output"
        found = f"{counted(numbers[0], 'input')} and {counted(numbers[1], 'output')}" if all(numbers) else found
        raise UserError("model", expected=expected, found=found)
    if len(shape := model.outputs[0].shape) != 2:
        raise UserError("model: output", expected="shape (None, classes)", found=tuple(shape))
    for layer in model.layers:
        if not all(np.isfinite(array).all() for array in layer.get_weights()):
            raise UserError("model", expected="finite weights", found=f"NaN or infinity in layer {layer.name}")
    _require_initial_weights(model)


def _require_initial_weights(model: Any) -> None:
    initial = getattr(model, "initial_weights", None)
    if initial is None:
        return
    try:
        shapes = [np.asarray(array, np.float32).shape for array in initial]
    except (TypeError, ValueError):
        shapes = []
    if shapes != [array.shape for array in model.get_weights()]:
        found = f"arrays of shapes {shapes}" if shapes else type(initial).__name__
        expected = "a list of arrays with the shapes of model.get_weights()"
        raise UserError("model.initial_weights", expected=expected, found=found)


def _require_pairs(data: Any, shape: tuple[int, ...]) -> None:
    spec = getattr(data, "element_spec", None)
    if not isinstance(spec, tuple) or len(spec) != 2:
        found = type(data).__name__ if spec is None else f"a dataset of {spec}"
        raise UserError("data", expected="arrays (x, y), or a tf.data.Dataset of pairs (input, label)", found=found)
    inputs = getattr(spec[0], "shape", None)
    if inputs is None or not inputs.is_compatible_with(shape):
        is_batched = inputs is not None and inputs[1:].is_compatible_with(shape)
        remedy = "data.unbatch() gives single examples" if is_batched else None
        expected = f"inputs of shape {shape}, as the model takes"
        raise UserError("data", expected=expected, found=inputs if inputs is not None else spec[0], remedy=remedy)
    for name, part in zip(("inputs", "labels"), spec, strict=True):
        kind = getattr(part, "dtype", None)
        if kind is None or not (kind.is_floating or kind.is_integer or kind.is_bool):
            raise UserError("data", expected=f"{name} that are real numbers", found=kind.name if kind else part)


def _with_numbers(dataset: Any) -> Any:
    """Return a dataset whose one-hot labels are turned into class indices. Raise `UserError` for other forms of labels.

    A row that is not one-hot becomes NaN. Measures refuse NaN when they read the example.
    """
    import tensorflow as tf

    shape = dataset.element_spec[1].shape
    if shape.rank in (None, 0) or tuple(shape) == (1,):
        return dataset
    if shape.rank > 1:
        raise UserError("data", expected="an integer or a one-hot row as each label", found=f"shape {shape}")

    def number(inputs: Any, row: Any) -> tuple[Any, Any]:
        row = tf.cast(row, tf.float64)
        is_one_hot = tf.reduce_all((row == 0) | (row == 1)) & (tf.reduce_sum(row) == 1)
        return inputs, tf.where(is_one_hot, tf.cast(tf.argmax(row), tf.float64), np.nan)

    return dataset.map(number)
