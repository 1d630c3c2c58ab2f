"""The description of a measure, and the decorator that registers a function as a measure.

The description is parsed from the function's docstring: the first line is the meaning, the next paragraph has the
fields (see `FIELDS`), and further text explains the measure. A module's fields hold for all measures in the module.
"""

import functools
import inspect
import math
import re
import string
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from baselines.core.families import family_of
from baselines.core.needs import Cost, Form, MeasureUnavailable, Need
from baselines.core.requirements import require
from baselines.core.subject import Subject, subject_of
from baselines.core.work import Passes, Sizes, cost_of, passes_of

#: Function `measure(model, dataset, **parameters)`: a finite float, larger for a larger predicted generalization gap.
Complexity = Callable[..., float]

#: Fields in the docstring of a measure. Only formula and source are required. CONTRIBUTING.md explains all fields.
PLAIN = ("Formula", "Range", "Source", "Draws", "Same order as", "Refused")
FIELDS = (*PLAIN, "Work", "Weights")

_FIELD = re.compile(rf"(?:^|\. )({'|'.join(FIELDS)}): ")

#: Is added to the argument of a logarithm to keep it positive.
TINY = 1e-30


@dataclass(frozen=True)
class Measure:
    """A measure of the library: deterministic for a given seed, in inference mode, without any change of the model."""

    name: str
    family: str
    meaning: str  #: what the measure is, in a line
    formula: str  #: in the symbols of docs/measures.md
    range: str  #: possible values; empty for all numbers
    source: str  #: paper or code with the definition
    cost: Cost
    work: str  #: passes over examples, in the notation of `baselines.core.work`
    weights: Form | None  #: weights as trained, or with normalization folded; None if the measure reads no weights
    draws: str  #: orders that change the random draws even if the sample is the training set; empty: none
    order: str  #: name of a measure that orders all networks in the same way; empty if no measure does
    refused: str  #: the cases in which the measure raises `MeasureUnavailable` although its needs are met
    needs: frozenset[Need]
    function: Complexity = field(repr=False, compare=False)  #: called with `(model, dataset, **parameters)`

    @property
    def is_cheap(self) -> bool:
        """Whether the measure only reads weights, or makes at most three forward passes."""
        return self.cost in (Cost.WEIGHTS, Cost.FORWARD)

    @property
    def parameters(self) -> dict[str, Any]:
        """Names of the parameters with their defaults."""
        found = inspect.signature(self.function).parameters.values()
        return {p.name: p.default for p in found if p.kind is p.KEYWORD_ONLY}

    def passes(self, sizes: Sizes) -> Passes:
        """Return the numbers of examples in all forward and in all backward passes, with default parameters."""
        return passes_of(self.work, self.parameters.get("n_samples"), sizes)


#: All measures by name, in the order of the catalogue.
MEASURES: dict[str, Measure] = {}


def measure(
    *needs: Need, name: str | None = None, log: bool = False, **words: object
) -> Callable[[Callable[..., float]], Complexity]:
    """Register a function of a `Subject` and keyword parameters as a measure in `MEASURES`.

    The registered measure takes `(model, dataset, **parameters)`. Its family is the package of the function's module.

    Args:
        needs: inputs in addition to the trained weights. All but `Need.INITIAL_WEIGHTS` imply `Need.DATA`.
        name: by default the name of the function.
        log: whether to register the logarithm of the measure, too, as `log_NAME`.
        words: replacements for each `$word` in the docstring.
    """
    looked_at = frozenset(needs) | ({Need.DATA} if {*needs} - {Need.INITIAL_WEIGHTS} else set())

    def register(compute: Callable[..., float]) -> Complexity:
        compute.__doc__ = string.Template(inspect.getdoc(compute) or "").safe_substitute(words)
        label = name or compute.__name__
        found = _add(label, compute, looked_at)
        if log:
            _add(f"log_{label}", _logarithm(label, compute), looked_at)
        return found

    return register


def _add(name: str, compute: Callable[..., float], needs: frozenset[Need]) -> Complexity:
    @functools.wraps(compute)
    def complexity(model: Any, dataset: Any, **parameters: Any) -> float:
        subject = subject_of(model, dataset)
        require(subject, needs)
        value = float(compute(subject, **parameters))
        if not math.isfinite(value):
            raise MeasureUnavailable(f"came out as {value}, which is no finite number")
        return value

    own = [p for p in inspect.signature(compute).parameters.values() if p.kind is p.KEYWORD_ONLY]
    positional = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY) for n in ("model", "dataset")]
    complexity.__signature__ = inspect.Signature([*positional, *own])  # type: ignore[attr-defined]
    if name in MEASURES:
        raise ValueError(f"two measures are named {name}")
    doc, shared = compute.__doc__ or "", getattr(inspect.unwrap(compute), "__globals__", {}).get("__doc__") or ""
    usual = "none" if Need.DATA not in needs else "1 backward pass" if Need.GRADIENTS in needs else "1 forward pass"
    texts = {"Work": usual} | fields_of(shared) | fields_of(doc)
    formula, values, source, draws, order, refused = (texts.get(field, "") for field in PLAIN)
    weights = Form(texts["Weights"]) if "Weights" in texts else None
    cost = cost_of(texts["Work"], takes_gradients=Need.GRADIENTS in needs)
    MEASURES[name] = Measure(
        name, family_of(compute.__module__), _line(doc.partition("\n\n")[0]), formula, values, source, cost,
        texts["Work"], weights, draws, order, refused, needs, complexity,
    )  # fmt: skip
    return complexity


def fields_of(doc: str) -> dict[str, str]:
    """Return field -> text. Of a docstring's paragraphs, the first that begins with one of `FIELDS` is parsed."""
    lines = map(_line, doc.split("\n\n"))
    paragraph = next((line for line in lines if _FIELD.match(line)), "")
    _, *parts = _FIELD.split(paragraph)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _line(text: str) -> str:
    return " ".join(text.split()).removesuffix(".")


def _logarithm(name: str, compute: Callable[..., float]) -> Callable[..., float]:
    @functools.wraps(compute)
    def logarithm(subject: Subject, **parameters: Any) -> float:
        return math.log(compute(subject, **parameters) + TINY)

    _, fields, *others = (compute.__doc__ or "").split("\n\n")
    texts = fields_of(fields)
    texts |= {"Formula": f"ln({name} + 1e-30)", "Range": "[ln 1e-30, inf)", "Same order as": name}
    paragraph = ". ".join(f"{field}: {text}" for field, text in texts.items())
    logarithm.__doc__ = "\n\n".join([f"Logarithm of {name}.", paragraph, *others])
    return logarithm


__all__ = ["MEASURES", "Complexity", "Cost", "Measure", "MeasureUnavailable", "Need", "Sizes", "Subject", "measure"]
