"""The work of a measure: a text for users, from which the program computes numbers of passes.

F is a forward pass, B a forward and a backward pass. `25 x 3 B` are 75 passes over the `n_samples` examples of a
measure, `1 F of 50 x kappa examples` is one pass over that many examples. Factors are numbers, kappa (classes), d
(weight layers), m (training examples), and expressions such as `min(kappa, 10)` or `max(m / 10, 2048)`. All other words
are ignored. Terms behind a semicolon describe other settings; `passes_of` ignores them.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from baselines.core.needs import Cost

_FACTOR = r"(?:(?:min|max)\([^()]+\)|[\d.,]*\d|\b(?:kappa|d|m)\b)"
_TERM = re.compile(rf"({_FACTOR}(?: x {_FACTOR})*) ([FB])\b(?: of ({_FACTOR}(?: x {_FACTOR})*) (?:examples|mixtures))?")

#: The cost of a measure is `many` if it makes more passes F than this, or at least as many passes B. A factor kappa
#: counts as 1.
FEW = 3


class Passes(NamedTuple):
    """Work of a measure as numbers of examples, summed over passes."""

    forward: float  #: in passes F
    backward: float  #: in passes B


class Sizes(NamedTuple):
    """Sizes of a network and its training set, on which the passes of a measure depend."""

    kappa: int  #: classes
    d: int  #: weight layers
    m: int  #: training examples


def passes_of(work: str, n_samples: int | None, sizes: Sizes) -> Passes:
    """Return the numbers of examples in all passes of a measure with this work.

    A pass whose term names no number goes over `n_samples` examples; None means the whole training set.
    """
    symbols, found = sizes._asdict(), {"F": 0.0, "B": 0.0}
    for factor, letter, examples in _TERM.findall(work.partition(";")[0]):
        sample = sizes.m if n_samples is None else n_samples
        found[letter] += _product(factor, symbols) * (_product(examples, symbols) if examples else min(sample, sizes.m))
    return Passes(found["F"], found["B"])


def cost_of(work: str, *, takes_gradients: bool) -> Cost:
    """Return the cost of a work, for one class and 100 weight layers; terms behind a semicolon count, too."""
    symbols, times = Sizes(kappa=1, d=100, m=1)._asdict(), {"F": 0.0, "B": 0.0}
    for factor, letter, _ in _TERM.findall(work):
        times[letter] += _product(factor, symbols)
    if not any(times.values()):
        return Cost.WEIGHTS
    if times["F"] > FEW or times["B"] > FEW - 1:
        return Cost.MANY
    return Cost.GRADIENTS if takes_gradients else Cost.FORWARD


def _product(text: str, symbols: Mapping[str, int]) -> float:
    value = 1.0
    for factor in text.split(" x "):
        value *= _value(factor, symbols)
    return value


def _value(factor: str, symbols: Mapping[str, int]) -> float:
    if factor.startswith(("min(", "max(")):
        ends = [_value(part, symbols) for part in factor[4:-1].split(", ")]
        return min(ends) if factor.startswith("min") else max(ends)
    name, _, divisor = factor.partition(" / ")
    value = float(symbols[name]) if name in symbols else float(name.replace(",", ""))
    return value / float(divisor or 1)
