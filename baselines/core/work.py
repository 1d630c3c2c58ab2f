"""The work of a measure: a text for users, from which the program computes numbers of passes.

A backward pass includes the forward pass before it. `25 x 3 backward passes` are 75 passes over the `n_samples`
examples of a measure, `1 forward pass over 50 x kappa examples` is a pass over that many examples. Factors are numbers,
kappa (classes), d (weight layers), m (training examples), and expressions such as `min(kappa, 10)` or `max(m / 10,
2048)`. All other words are ignored. Text after a semicolon is about less usual cases; `passes_of` ignores it.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from baselines.core.needs import Cost

_FACTOR = r"(?:(?:min|max)\([^()]+\)|[\d.,]*\d|\b(?:kappa|d|m)\b)"
_PRODUCT = rf"{_FACTOR}(?: x {_FACTOR})*"
_TERM = re.compile(rf"({_PRODUCT}) (forward|backward) pass(?:es)?(?: over ({_PRODUCT}) (?:examples|mixtures))?")

#: A measure with more forward passes than this, or with at least as many backward passes, has the cost `many`. A factor
#: kappa counts as 1.
FEW = 3


class Passes(NamedTuple):
    """Numbers of examples in a measure's forward passes and in its backward passes, each summed over passes."""

    forward: float  #: examples in forward passes
    backward: float  #: examples in backward passes


class Sizes(NamedTuple):
    """Sizes of a network and its training set, which determine the passes of a measure."""

    kappa: int  #: classes
    d: int  #: weight layers
    m: int  #: training examples


def passes_of(work: str, n_samples: int | None, sizes: Sizes) -> Passes:
    """Return the numbers of examples in a measure's forward and backward passes, from the text of its work.

    A pass without a number of examples is over `n_samples` examples; None means the whole training set.
    """
    symbols, found = sizes._asdict(), {"forward": 0.0, "backward": 0.0}
    for factor, direction, examples in _TERM.findall(work.partition(";")[0]):
        sample = sizes.m if n_samples is None else min(n_samples, sizes.m)
        found[direction] += _product(factor, symbols) * (_product(examples, symbols) if examples else sample)
    return Passes(**found)


def cost_of(work: str, *, takes_gradients: bool) -> Cost:
    """Return the cost of `work` for one class and 100 weight layers. Text after a semicolon counts, too."""
    symbols, times = Sizes(kappa=1, d=100, m=1)._asdict(), {"forward": 0.0, "backward": 0.0}
    for factor, direction, _ in _TERM.findall(work):
        times[direction] += _product(factor, symbols)
    if not any(times.values()):
        return Cost.WEIGHTS
    if times["forward"] > FEW or times["backward"] > FEW - 1:
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
