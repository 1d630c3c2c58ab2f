"""The description of a measure, and the decorator that registers a function as one."""

import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from baselines.core.families import family_of
from baselines.core.forms import FORMS, Form
from baselines.core.needs import Need
from baselines.core.requirements import require
from baselines.core.subject import Subject, subject_of
from baselines.core.unavailable import MeasureUnavailable
from baselines.core.work import Passes, Sizes, passes_of

#: `measure(model, dataset, **parameters)`: a finite float, larger for a larger predicted generalization gap.
Complexity = Callable[..., float]


class Cost(StrEnum):
    """How much work a measure is, by its passes over the training examples that it looks at; the cheapest first."""

    WEIGHTS = "weights"  #: none: it reads the weights and the architecture
    FORWARD = "forward"  #: up to three forward passes
    GRADIENTS = "gradients"  #: up to one forward and backward pass for each class
    MANY = "many"  #: more than that: curves, searches, chains, second derivatives


@dataclass(frozen=True)
class Measure:
    """One measure of the library.

    A measure leaves the model as it found it, runs every layer in inference mode, and returns the same value
    for the same seeds.
    """

    name: str
    family: str
    meaning: str  #: one line for people
    formula: str  #: symbols are those of docs/measures.md
    source: str  #: paper, or the code that defines it
    cost: Cost
    work: str  #: its passes over examples, as `baselines.core.work` reads them
    needs: frozenset[Need]
    function: Complexity = field(repr=False, compare=False)  #: called with `(model, dataset, **parameters)`

    @property
    def is_cheap(self) -> bool:
        """Whether it reads weights only, or makes a few forward passes."""
        return self.cost in (Cost.WEIGHTS, Cost.FORWARD)

    @property
    def form(self) -> Form | None:
        """Whether it sees weights as trained, or with normalization folded; None if by the table it sees none."""
        return FORMS.get(self.name)

    @property
    def parameters(self) -> dict[str, Any]:
        """Names of the parameters with their defaults."""
        found = inspect.signature(self.function).parameters.values()
        return {p.name: p.default for p in found if p.kind is p.KEYWORD_ONLY}

    def passes(self, sizes: Sizes) -> Passes:
        """Examples of its passes with the default parameters: none for a measure that reads weights alone."""
        return passes_of(self.work, self.parameters.get("n_samples"), sizes)


#: All measures by name, in the order of the catalogue.
MEASURES: dict[str, Measure] = {}


def measure(
    *, meaning: str, formula: str, source: str, cost: Cost, work: str, needs: set[Need] | None = None,
    name: str | None = None,
) -> Callable[[Callable[..., float]], Complexity]:  # fmt: skip
    """Make a measure of a function of a `Subject` and keyword parameters, and put it into `MEASURES`.

    What is returned takes `(model, dataset, **parameters)`. The name is the function's unless it is given; the family
    is the package of the function's module.
    """

    def register(compute: Callable[..., float]) -> Complexity:
        label, looked_at = name or compute.__name__, frozenset(needs or ())

        @functools.wraps(compute)
        def complexity(model: Any, dataset: Any, **parameters: Any) -> float:
            subject = subject_of(model, dataset)
            require(subject, looked_at, runs=cost is not Cost.WEIGHTS)
            value = float(compute(subject, **parameters))
            if not math.isfinite(value):
                raise MeasureUnavailable(f"came out as {value}, which is no finite number")
            return value

        own = [p for p in inspect.signature(compute).parameters.values() if p.kind is p.KEYWORD_ONLY]
        positional = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY) for n in ("model", "dataset")]
        complexity.__signature__ = inspect.Signature([*positional, *own])  # type: ignore[attr-defined]
        if label in MEASURES:
            raise ValueError(f"two measures are named {label}")
        family = family_of(compute.__module__)
        MEASURES[label] = Measure(label, family, meaning, formula, source, cost, work, looked_at, complexity)
        return complexity

    return register


__all__ = ["MEASURES", "Complexity", "Measure", "MeasureUnavailable", "Need", "Sizes", "Subject", "measure"]
