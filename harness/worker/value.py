"""Checks that the value of a measure is a single finite real number."""

import math
from typing import Any

import numpy as np


class BadValueError(Exception):
    """The value of a measure is not a single finite real number."""


def as_finite_float(value: Any) -> float:
    """Return the value of a measure as a float.

    Accepted are int and float (not bool), real NumPy scalars and 0-d arrays, and 0-d tensors of any framework. Raise
    `BadValueError` for other types, for NaN and infinities, and for integers beyond the range of a float.
    """
    if getattr(value, "shape", None) == () and not isinstance(value, np.generic | np.ndarray):
        # `item` of PyTorch and JAX also reads tensors on a GPU, and tensors that require gradients.
        value = value.item() if hasattr(value, "item") else value.numpy() if hasattr(value, "numpy") else value
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value[()]
    if isinstance(value, bool | np.bool_ | np.timedelta64) or not isinstance(
        value, int | float | np.integer | np.floating
    ):
        raise BadValueError(f"expected a real number, found {_described(value)}")
    try:
        number = float(value)
    except OverflowError as error:
        raise BadValueError("expected a number within the range of a float, found a larger integer") from error
    if not math.isfinite(number):
        raise BadValueError(f"expected a finite number, found {number}")
    return number


def _described(value: Any) -> str:
    """Return the type of a value that is no number, its shape if it is an array, and a remedy if one is known."""
    name = type(value).__name__
    if value is None:
        return f"{name}: is a `return` missing in complexity()?"
    if isinstance(value, dict | list | tuple):
        return f"{name}; return one of its numbers"
    try:
        shape = tuple(int(length) for length in value.shape)
    except (AttributeError, TypeError, ValueError):  # no shape, or sizes that are not numbers
        return name
    kind = "an array" if "array" in name.lower() else "a tensor"
    return f"{kind} ({name}) of shape {shape}{_remedy(shape)}" if shape else name


def _remedy(shape: tuple[int, ...]) -> str:
    if math.prod(shape) != 1:
        return ""
    return f"; if it is x, return float(x[{', '.join('0' for _ in shape)}])"
