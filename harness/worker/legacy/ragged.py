"""Ragged lists as arrays of objects, as in NumPy before 1.24: `np.array(model.get_weights())`."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np


def accept_ragged_lists() -> None:
    """Make `np.array` and `np.asarray` return an array of objects for a list whose elements have several shapes."""
    np.array, np.asarray = _accepting(np.array), _accepting(np.asarray)


def _accepting(make: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(make)  # with NumPy's module, which TensorFlow's tracing leaves alone
    def accepting(*arguments: Any, **settings: Any) -> Any:
        try:
            return make(*arguments, **settings)
        except ValueError as error:
            has_type = len(arguments) > 1 or settings.get("dtype") is not None
            if has_type or "inhomogeneous" not in str(error):
                raise
        return make(*arguments, **settings | {"dtype": object})

    return accepting
