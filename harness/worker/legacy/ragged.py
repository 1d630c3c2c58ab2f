"""Makes NumPy convert lists as in 2020: ragged lists become arrays of objects, and `copy=False` may copy."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np


def accept_ragged_lists() -> None:
    """Let functions such as `np.array` accept lists of arrays of unequal shapes, and copy in spite of `copy=False`."""
    np.array, np.asarray, np.asanyarray = (_accepting(one) for one in (np.array, np.asarray, np.asanyarray))


def _accepting(make: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(make)  # keeps NumPy's module, so that TensorFlow does not trace into it
    def accepting(*arguments: Any, **settings: Any) -> Any:
        if settings.get("copy") is False:
            settings["copy"] = None
        try:
            return make(*arguments, **settings)
        except ValueError as error:
            has_type = arguments[1:2] not in ((), (None,)) or settings.get("dtype") is not None
            if has_type or "inhomogeneous" not in str(error):
                raise
        return make(*arguments[:1], *arguments[2:], **settings | {"dtype": object})

    return accepting
