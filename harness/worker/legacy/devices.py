"""Lets measures of 2020 set threads and devices, although TensorFlow refuses that after its first operation."""

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any

#: Module -> functions that TensorFlow refuses once it has begun to compute.
_SETTINGS = {
    "tensorflow.config.threading": ("set_inter_op_parallelism_threads", "set_intra_op_parallelism_threads"),
    "tensorflow.config": ("set_logical_device_configuration", "set_visible_devices"),
    "tensorflow.config.experimental": ("set_memory_growth", "set_virtual_device_configuration", "set_visible_devices"),
}


def accept_settings() -> None:
    """Let the functions in `_SETTINGS` print a line, not raise an error, once TensorFlow has begun to compute."""
    for name, settings in _SETTINGS.items():
        module = importlib.import_module(name)
        for setting in settings:
            setattr(module, setting, _accepted(getattr(module, setting), f"{name}.{setting}"))


def _accepted(original: Callable[..., None], name: str) -> Callable[..., None]:
    @functools.wraps(original)
    def setting(*args: Any, **kwargs: Any) -> None:
        try:
            original(*args, **kwargs)
        except RuntimeError:
            print(f"{name} has no effect: pgdl sets threads and devices before it loads the model", file=sys.stderr)

    return setting
