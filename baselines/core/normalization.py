"""Normalization of a bound by the size of the training set."""

import math

from baselines.core.subject import Subject


def normalized(value: float, subject: Subject, is_log: bool, *, normalization: str = "none") -> float:
    """Return `value` unchanged ("none") or normalized as by Dziugaite et al. 2020 ("dziugaite").

    With m training examples "dziugaite" returns sqrt(value / m), or (value - ln m) / 2 if `value` is a logarithm. The
    order of networks with equal m does not change. Other normalizations raise `ValueError`.
    """
    if normalization == "none":
        return value
    if normalization != "dziugaite":
        raise ValueError(f"normalization: expected none or dziugaite, found {normalization}")
    examples = len(subject.examples)
    return (value - math.log(examples)) / 2 if is_log else math.sqrt(value / examples)
