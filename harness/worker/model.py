"""A trained model in the form in which the competition's loader passes it to a measure."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from harness.worker.architecture import build_model


def load_model(directory: Path) -> Any:
    """Build the model of `architecture.json`, set its weights, and add the attributes that measures of 2020 use.

    These are `model.initial_weights` (list of arrays in the order of `get_weights()`, or None),
    `model(x, tape=tape)`, which makes the tape watch `x`, and `layer._last_seen_input`.
    """
    model = build_model(json.loads((directory / "architecture.json").read_text()))
    model.set_weights(_arrays(directory / "weights.npz"))
    initial = directory / "initial_weights.npz"
    model.initial_weights = _arrays(initial) if initial.exists() else None
    for layer in model.layers:
        _subclass_in_place(layer, _remember_input)
    _subclass_in_place(model, _watch_input)
    return model


def _arrays(path: Path) -> list[np.ndarray[Any, Any]]:
    with np.load(path) as archive:
        return [archive[f"w{i}"] for i in range(len(archive.files))]


def _subclass_in_place(instance: Any, make_call: Any) -> None:
    """Replace `__call__` of one object; its new class is a subclass of its old one, with the same name."""
    parent = type(instance)
    child = type(parent.__name__, (parent,), {"__call__": make_call(parent), "__module__": parent.__module__})
    object.__setattr__(instance, "__class__", child)


def _remember_input(parent: type) -> Any:
    def call(self: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        object.__setattr__(self, "_last_seen_input", inputs)  # bypasses Keras' attribute tracking
        return parent.__call__(self, inputs, *args, **kwargs)

    return call


def _watch_input(parent: type) -> Any:
    def call(self: Any, inputs: Any, *args: Any, tape: Any = None, **kwargs: Any) -> Any:
        if tape is not None:
            tape.watch(inputs)
        return parent.__call__(self, inputs, *args, **kwargs)

    return call
