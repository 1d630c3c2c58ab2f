"""What is known about a measure without running it."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

#: `measure(model, dataset, **parameters)`: a finite float, larger for a larger predicted generalization gap.
Complexity = Callable[..., float]


class MeasureUnavailable(Exception):
    """The model or the data lack something that the measure needs, such as the initial weights."""


@dataclass(frozen=True)
class Measure:
    """One measure of the library.

    A measure leaves weights, activations and trainable flags as it found them, runs every layer in inference
    mode, and returns the same value for the same seeds.
    """

    name: str  #: the function's name in `module`
    meaning: str  #: one line for people
    family: str
    module: str
    source: str  #: paper, or the code that defines it
    cost: Literal["cheap", "slow"]  #: slow: many passes over data, seconds to minutes for each model
    needs_initial_weights: bool = False
    needs_labels: bool = False
    needs_gradients: bool = False

    def load(self) -> Complexity:
        """Import the module, and TensorFlow with it where it is needed, and return the function."""
        function: Complexity = getattr(importlib.import_module(self.module), self.name)
        return function
