"""Normalizes a bound by the size of the training set."""

import math

from baselines.core.subject import Subject


def normalized(value: float, subject: Subject, is_log: bool, *, normalization: str = "none") -> float:
    """Return `value` unchanged ("none"), or normalized like Dziugaite et al. 2020 do ("dziugaite").

    "dziugaite" means sqrt(value / m) with m training examples, or (value - ln m) / 2 if `value` is a logarithm.
    Networks with equal m keep their order. Any other `normalization` raises `ValueError`.
    """
    if normalization == "none":
        return value
    if normalization != "dziugaite":
        raise ValueError(f"normalization: expected none or dziugaite, found {normalization}")
    examples = len(subject.examples)
    return (value - math.log(examples)) / 2 if is_log else math.sqrt(value / examples)
