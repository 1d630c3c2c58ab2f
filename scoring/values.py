"""Hyperparameter values in one form, so that 0, 0.0 and "0" are the same value wherever they were written."""

import math
import reprlib
import sys

import numpy as np

from scoring.errors import GridError

Value = str | int | float | None
"""A hyperparameter's value as JSON can hold it (booleans are ints)."""


def normalise(name: str, value: object) -> Value:
    """Bring a value of the hyperparameter `name` into the form in which it is compared.

    Numbers written as text become numbers, integral floats become ints, all other text stays as it is.
    `convwidth` is truncated to an int, as the competition's scoring program does.

    Raises:
        GridError: the value is neither text, a number that is finite as a float, nor None.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        value = _number_or_text(value)
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value.is_integer() or name == "convwidth" else value
    if value is None or isinstance(value, str) or (isinstance(value, int) and abs(value) <= sys.float_info.max):
        return value
    raise GridError(f"hyperparameter {name!r}: expected a finite number, text or null, found {reprlib.repr(value)}")


def _number_or_text(text: str) -> float | int | str:
    """The finite number that `text` spells, or `text` itself."""
    if "_" in text:  # a label, although Python reads "1_0" as 10
        return text
    try:
        if abs(whole := int(text)) <= sys.float_info.max:
            return whole
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text
