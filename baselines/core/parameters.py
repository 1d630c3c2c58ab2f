"""Parameters of measures: their syntax on the command line, and the meanings of parameters that many measures have.

If the docstring of a measure, or of its file, explains a parameter, that explanation replaces the following entry:

accuracy_drop: tolerated loss of training accuracy, in (0, 1] (0.1: from 0.95 to 0.85).
delta: probability with which the bound may fail, in (0, 1].
fft_size: "layer": feature maps have the layer's own size, and periodic borders if the stride divides this size.
    "dataset": feature maps have the size of the network's inputs, and the stride is ignored.
folded: fold normalization into the weights; parameters are then kernels and biases.
fraction: fraction of the ratios r to which the line through the origin is fitted; the largest are left out.
high: highest magnitude.
low: lowest magnitude: an angle in degrees, a fraction of width or height, or an amount of colour jitter.
margin_floor: lower bound of gamma; smaller and negative values are replaced by it.
method: "trapezoid": the trapezoidal rule; "exact": the exact integral of the piecewise linear curve.
min_eigenvalues: layers with fewer eigenvalues, zeros included, are left out.
n_alphas: number of equidistant magnitudes.
n_probes: number of random combinations of the classes; the result is exact if there are at most `n_probes` classes.
n_samples: number of training examples; a smaller training set is taken whole.
normalization: "dziugaite": sqrt(value / m) with m training examples; for logarithms (value - ln m) / 2.
parity_abs: take the absolute value of gamma first, as in the code of Dziugaite et al. 2020.
percentile_method: gamma is the floor(n / 10)-th smallest of n margins ("kth"), or interpolated ("linear").
seed: seed of the sample and of all other draws.
"""

import ast
import functools
import math
import re
from typing import Any

from baselines.core.measure import MEASURES, Complexity

#: Parameters that may be any finite number.
UNBOUNDED = frozenset({"seed", "layer", "low", "high"})

#: Lowest values of counts; all others are at least 1.
LEAST = {"image_side": 0, "min_eigenvalues": 0, "n_burn_in": 0, "n_components": 0, "n_classes": 2}

#: Parameters in (0, 1]; all other numbers with a point are 0 or more.
SHARES = frozenset({"accuracy_drop", "delta", "fraction", "share"})


def canonical(specification: str) -> str:
    """Return a specification in which the values true and false are written `True` and `False`."""
    return re.sub("=(true|false)(?=,|$)", lambda found: f"={found[1].capitalize()}", specification, flags=re.IGNORECASE)


def load(specification: str) -> Complexity:
    """Return the measure that a specification names, as a function of (model, dataset).

    A specification is `name` or `name:parameter=value,...`.

    Raises:
        KeyError: the measure is unknown.
        ValueError: a parameter is unknown, or a value is out of range or not of the default's type.
    """
    name, _, rest = canonical(specification).partition(":")
    found = MEASURES[name]
    given = dict(_parameter(part, found.parameters) for part in rest.split(",") if part)
    return functools.partial(found.function, **given)


def _parameter(part: str, known: dict[str, Any]) -> tuple[str, Any]:
    name, _, text = part.partition("=")
    if name not in known:
        raise ValueError(f"{name}: expected one of {', '.join(known) or 'no parameters'}")
    default = known[name]
    if isinstance(default, str):
        return name, text
    if isinstance(default, bool):
        if text not in ("True", "False"):
            raise ValueError(f"{name}: expected true or false, found {text!r}")
        return name, text == "True"
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError) as error:
        raise ValueError(f"{name}: expected a value such as {default!r}, found {text!r}") from error
    if isinstance(default, float) and type(value) is int:
        value = float(value)
    if default is not None and type(value) is not type(default):
        raise ValueError(f"{name}: expected {type(default).__name__}, found {text}")
    _require_in_range(name, value)
    return name, value


def _require_in_range(name: str, value: float) -> None:
    least = LEAST.get(name, 1) if isinstance(value, int) else 0
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name}: expected a finite number, found {value}")
    if name in SHARES and not 0 < value <= 1:
        raise ValueError(f"{name}: expected a number above 0 and up to 1, found {value}")
    if name == "margin_floor" and value <= 0:  # a divisor
        raise ValueError(f"{name}: expected a number above 0, found {value}")
    if name not in UNBOUNDED and value < least:
        raise ValueError(f"{name}: expected {least} or more, found {value}")
